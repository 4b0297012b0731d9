import { sql as text } from "drizzle-orm";
import { outbox } from "./db.tables.ts";
import { columnsOf, defineSql, nameOf, type Params } from "./define-query.postgres.ts";
import type { JobName } from "./job-name.port.ts";
import type { StoredJob } from "./new-jobs.ts";
import type { Sql } from "./pool.postgres.ts";

const STORED = { id: outbox.id, jobName: outbox.jobName, jobId: outbox.jobId, payload: outbox.payload };
const isUnpublished = text`${outbox.publishedAtMs} is null`;

interface Taken extends Record<string, unknown> {
  /** Rows that are being published already. */
  readonly except: readonly number[];
  readonly limit: number;
}
const take = defineSql(
  "relay_take",
  STORED,
  (p: Params<Taken>) => text`select ${columnsOf(STORED)} from ${outbox}
    where ${isUnpublished} and ${outbox.id} <> all(${p.except}::bigint[])
    order by ${outbox.id} limit ${p.limit} for update skip locked`,
);
const mark = defineSql(
  "relay_mark",
  {},
  (p: Params<Published>) =>
    text`update ${outbox} set ${nameOf(outbox.publishedAtMs)} = ${p.atMs} where ${outbox.id} = any(${p.ids}::bigint[])`,
);
const unpublished = defineSql(
  "relay_unpublished",
  { jobId: outbox.jobId },
  (p: Params<Unpublished>) => text`select ${outbox.jobId} from ${outbox}
    where ${isUnpublished} and ${outbox.jobName} = ${p.job} order by ${outbox.id} limit ${p.limit}`,
);

/** Locks the oldest jobs that no relay has in hand until the transaction ends. */
export async function takeUnpublished(sql: Sql, of: Taken): Promise<readonly StoredJob[]> {
  return (await take(sql, of)).map(({ jobName: job, ...rest }) => ({ job, ...rest }));
}

interface Published extends Record<string, unknown> {
  readonly ids: readonly number[];
  readonly atMs: number;
}
export async function markPublished(sql: Sql, of: Published): Promise<void> {
  await mark(sql, of);
}

interface Unpublished extends Record<string, unknown> {
  readonly job: JobName;
  readonly limit: number;
}
/** Ids of the jobs of one queue that are not published, oldest first. */
export async function unpublishedIds(sql: Sql, of: Unpublished): Promise<readonly string[]> {
  return (await unpublished(sql, of)).map(({ jobId }) => jobId);
}
