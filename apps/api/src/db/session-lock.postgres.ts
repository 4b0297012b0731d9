import { sql as text } from "drizzle-orm";
import type pg from "pg";
import { runSql } from "./define-query.postgres.ts";
import { sqlOn } from "./pool.postgres.ts";

/**
 * Takes a lock that the session of `client` keeps until it ends. Does not wait: a statement that waits keeps
 * a snapshot.
 * @returns false if another session has it
 */
export async function tryLock(client: pg.Client | pg.PoolClient, name: string): Promise<boolean> {
  const [row] = await runSql(
    sqlOn(client),
    { isAcquired: Boolean },
    text`select pg_try_advisory_lock(hashtextextended(${name}, 0)) as is_acquired`,
  );
  return row?.isAcquired === true;
}

/** Takes a lock that any number of sessions share; the session of `client` keeps it until it ends. */
export async function lockShared(client: pg.Client | pg.PoolClient, name: string): Promise<void> {
  await runSql(sqlOn(client), {}, text`select pg_advisory_lock_shared(hashtextextended(${name}, 0))`);
}

/** Whether no other session has a lock, shared or not. */
export async function isUnlocked(client: pg.Client | pg.PoolClient, name: string): Promise<boolean> {
  if (!(await tryLock(client, name))) return false;
  await runSql(sqlOn(client), {}, text`select pg_advisory_unlock(hashtextextended(${name}, 0))`);
  return true;
}
