import { sql as text } from "drizzle-orm";
import { outbox } from "./db.tables.ts";
import { columnsOf, defineSql, defineSqlWrite, nameOf, type Params } from "./define-query.postgres.ts";
import type { JobName } from "./job-name.port.ts";
import type { StoredJob } from "./new-jobs.ts";
import { LEASE_END } from "./outbox.postgres.ts";
import type { Sql } from "./pool.postgres.ts";

/** Maximum number of rows of one {@link lockUnpublished}. */
export const PUBLISH_BATCH = 100;

const STORED = { id: outbox.id, jobName: outbox.jobName, jobId: outbox.jobId, payload: outbox.payload };
const isUnpublished = text`${outbox.publishedAtMs} is null`;
interface Except extends Record<string, unknown> {
  readonly except: readonly number[];
}
const isPublishable = (
  p: Params<Except>,
) => text`${isUnpublished} and ${outbox.id} <> all(${p.except}::bigint[])
      and (${outbox.leasedUntil} is null or ${outbox.leasedUntil} <= clock_timestamp())`;
const find = defineSql(
  "relay_find",
  { id: outbox.id },
  (p: Params<Except>) => text`select ${outbox.id} from ${outbox} where ${isPublishable(p)} limit 1`,
);
const take = defineSql(
  "relay_take",
  STORED,
  (p: Params<Except>) => text`select ${columnsOf(STORED)} from ${outbox}
    where ${isPublishable(p)}
    order by ${outbox.id} limit ${text.raw(String(PUBLISH_BATCH))} for update skip locked`,
);
const mark = defineSql(
  "relay_mark",
  {},
  (p: Params<{ ids: readonly number[]; atMs: number }>) =>
    text`update ${outbox} set ${nameOf(outbox.publishedAtMs)} = ${p.atMs} where ${outbox.id} = any(${p.ids}::bigint[])`,
);
const renew = defineSqlWrite(
  "relay_renew_leases",
  (p: Params<{ ids: readonly number[] }>) =>
    text`update ${outbox} set ${nameOf(outbox.leasedUntil)} = ${LEASE_END} where ${outbox.id} = any(${p.ids}::bigint[]) and ${isUnpublished}`,
);
const unpublished = defineSql(
  "relay_unpublished",
  { jobId: outbox.jobId },
  (p: Params<{ job: JobName; limit: number }>) => text`select ${outbox.jobId} from ${outbox}
    where ${isUnpublished} and ${outbox.jobName} = ${p.job} order by ${outbox.id} limit ${p.limit}`,
);

/** Whether {@link lockUnpublished} may find jobs. Needs no transaction. */
export async function hasUnpublished(sql: Sql, except: readonly number[]): Promise<boolean> {
  return (await find(sql, { except })).length > 0;
}

/**
 * Locks the oldest unpublished jobs until the transaction ends, except those that others have locked or
 * leased.
 * @param except ids of jobs that are being published already
 */
export async function lockUnpublished(sql: Sql, except: readonly number[]): Promise<readonly StoredJob[]> {
  return (await take(sql, { except })).map(({ jobName: job, ...rest }) => ({ job, ...rest }));
}

/** Marks jobs as published. */
export async function markPublished(sql: Sql, ids: readonly number[], atMs: number): Promise<void> {
  await mark(sql, { ids, atMs });
}

/** Renews the leases of these jobs, except of those that another relay has published. */
export async function renewLeases(sql: Sql, ids: readonly number[]): Promise<void> {
  await renew(sql, { ids });
}

/** Ids of the unpublished jobs of one queue, oldest first. */
export async function unpublishedIds(sql: Sql, job: JobName, limit: number): Promise<readonly string[]> {
  return (await unpublished(sql, { job, limit })).map(({ jobId }) => jobId);
}
