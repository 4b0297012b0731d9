import type { Outbox, OutboxEntry } from "../../ports/unit-of-work.ts";
import { announcing } from "./announcements.ts";
import { statement } from "./pool.ts";
import type { Sql } from "./pool.ts";

/** Channel on which a commit with new jobs is announced. */
export const OUTBOX_CHANNEL = "causeway_outbox";

const add = statement(
  "outbox_add",
  `insert into outbox (job_name, job_id, payload, created_at_ms)
   select *, $4::bigint from unnest($1::text[], $2::text[], $3::text[])`,
);
const announce = announcing("outbox_announce", "", `values ('${OUTBOX_CHANNEL}', '')`);

const prune = statement(
  "outbox_prune",
  `delete from outbox where id in (select id from outbox where published_at_ms < $1 order by published_at_ms limit $2)
   returning id`,
);

/** Jobs written together with the state that asks for them. */
export function outbox(sql: Sql): Outbox {
  return {
    async add(entries: readonly OutboxEntry[], atMs: number): Promise<void> {
      if (entries.length === 0) return;
      await sql.query(add, [
        entries.map((entry) => entry.job),
        entries.map((entry) => entry.jobId),
        entries.map((entry) => JSON.stringify(entry.payload)),
        atMs,
      ]);
      await sql.query(announce, []);
    },
    async prune(beforeMs, limit): Promise<number> {
      return (await sql.query(prune, [beforeMs, limit])).length;
    },
  };
}
