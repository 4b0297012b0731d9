import { randomBytes } from "node:crypto";
import { sql as text, type SQL } from "drizzle-orm";
import type {
  Idempotency,
  IdempotencyBegin,
  IdempotencyLease,
  IdempotencyWrites,
  IdempotentCall,
  StoredAnswer,
} from "./idempotency.port.ts";
import { IDEMPOTENCY_KEPT_MS, LeaseLost } from "./idempotency.port.ts";
import {
  defineQuery,
  defineSql,
  nameOf,
  namesOf,
  nullable,
  type Params,
  defineWrite,
} from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { idempotencyKeys as keys } from "./idempotency.tables.ts";

/** A run counts as dead after this time, which is longer than any route may take to respond. */
const LEASE_MS = text.raw("60000");
const KEPT_MS = text.raw(String(IDEMPOTENCY_KEPT_MS));

interface Call extends Record<string, unknown> {
  readonly scope: string;
  readonly endpoint: string;
  readonly key: string;
  readonly bodyHash: string;
  readonly token: string;
  readonly nowMs: number;
}
const string = (value: string): string => value;
// Reads the stored call and, if the key is free, claims the row; only one of many callers succeeds. A caller
// that finds a run in progress does not wait for a lock that a commit holds. The earlier clock counts, that
// of the database or of the process, because a clock that is ahead would free keys too early.
const begin = defineSql(
  "idempotency_begin",
  {
    leaseToken: nullable(string),
    holds: nullable(Boolean),
    bodyHash: nullable(string),
    status: nullable(Number),
    body: nullable(string),
  },
  (p: Params<Call>) => {
    const { scope, endpoint, key, bodyHash, leaseToken, leaseUntilMs, createdAtMs, status, body } = keys;
    return text`
      with clock as materialized (
        select least(${p.nowMs}::bigint, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) as now_ms),
      known as (
        select ${bodyHash}, ${status}, ${body}, ${createdAtMs} > now_ms - ${KEPT_MS}
          and (${status} is not null or ${leaseUntilMs} > now_ms or ${bodyHash} <> ${p.bodyHash}) as holds
        from ${keys}, clock where ${scope} = ${p.scope} and ${endpoint} = ${p.endpoint} and ${key} = ${p.key}),
      taken as (
        insert into ${keys} (${namesOf(scope, endpoint, key, bodyHash, leaseToken, leaseUntilMs, createdAtMs)})
        select ${p.scope}, ${p.endpoint}, ${p.key}, ${p.bodyHash}, ${p.token}, now_ms + ${LEASE_MS}, now_ms from clock
        where not exists (select from known where holds)
        on conflict (${namesOf(scope, endpoint, key)}) do update set ${nameOf(bodyHash)} = excluded.${nameOf(bodyHash)},
          ${nameOf(leaseToken)} = excluded.${nameOf(leaseToken)}, ${nameOf(leaseUntilMs)} = excluded.${nameOf(leaseUntilMs)},
          ${nameOf(createdAtMs)} = excluded.${nameOf(createdAtMs)}, ${nameOf(status)} = null, ${nameOf(body)} = null
        where ${createdAtMs} <= excluded.${nameOf(createdAtMs)} - ${KEPT_MS}
          or (${status} is null and ${leaseUntilMs} <= excluded.${nameOf(createdAtMs)} and ${bodyHash} = excluded.${nameOf(bodyHash)})
        returning ${leaseToken})
      select lease_token, holds, body_hash, status, body
      from (values (1)) as one (row) left join taken on true left join known on true`;
  },
);

type Lease = Record<keyof IdempotencyLease, string>;
const isOfLease = (
  p: Params<Lease>,
): SQL => text`${keys.scope} = ${p.scope} and ${keys.endpoint} = ${p.endpoint}
  and ${keys.key} = ${p.key} and ${keys.leaseToken} = ${p.token} and ${keys.status} is null`;
const store = defineQuery(
  "idempotency_finish",
  (db, p: Params<Lease & { readonly status: number; readonly body: string }>) =>
    db.update(keys).set({ status: p.status, body: p.body }).where(isOfLease(p)).returning({ key: keys.key }),
);
const release = defineWrite("idempotency_abandon", (db, p: Params<Lease>) =>
  db.delete(keys).where(isOfLease(p)),
);
const prune = defineSql(
  "idempotency_prune",
  { key: keys.key },
  (p: Params<{ beforeMs: number; limit: number }>) => text`
    delete from ${keys} where ctid = any(array(
      select ctid from ${keys} where ${keys.createdAtMs} < ${p.beforeMs}
      order by ${keys.createdAtMs} limit ${p.limit} for update skip locked))
    returning ${keys.key}`,
);

/** First responses to calls, on Postgres. */
export function idempotencyStore(sql: Sql): Idempotency {
  return {
    async begin({ scope, endpoint, key, bodyHash }: IdempotentCall, nowMs): Promise<IdempotencyBegin> {
      const token = randomBytes(16).toString("hex");
      for (;;) {
        const [row] = await begin(sql, { scope, endpoint, key, bodyHash, token, nowMs });
        if (row?.leaseToken === token) return { kind: "started", lease: { scope, endpoint, key, token } };
        // Another caller claimed the key after this read; the next round reads what that caller stored.
        if (row?.holds !== true) continue;
        if (row.bodyHash !== bodyHash) return { kind: "bodyMismatch" };
        if (row.status === null || row.body === null) return { kind: "inProgress" };
        return { kind: "answered", answer: { status: row.status, body: row.body } };
      }
    },
    finish: async (lease, answer) => await finish(sql, lease, answer),
    async abandon({ scope, endpoint, key, token }) {
      await release(sql, { scope, endpoint, key, token });
    },
  };
}

/** Stores the response of a call together with the call's commit. */
export function idempotencyWrites(sql: Sql): IdempotencyWrites {
  return {
    finish: async (lease, answer) => await finish(sql, lease, answer),
    prune: async (beforeMs, limit) => (await prune(sql, { beforeMs, limit })).length,
  };
}

async function finish(sql: Sql, lease: IdempotencyLease, { status, body }: StoredAnswer): Promise<void> {
  const { scope, endpoint, key, token } = lease;
  const finished = await store(sql, { scope, endpoint, key, token, status, body });
  if (finished.length === 0) throw new LeaseLost(lease);
}
