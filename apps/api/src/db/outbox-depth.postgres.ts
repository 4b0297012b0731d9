import { sql as text } from "drizzle-orm";
import { outbox } from "./db.tables.ts";
import { defineSql, nameOf, nullable } from "./define-query.postgres.ts";
import type { Sql } from "./pool.postgres.ts";
import type { OutboxDepth } from "./queue-depth.port.ts";

// Read by the index outbox_unpublished, which holds only these rows.
const depth = defineSql(
  "outbox_depth",
  { waiting: Number, oldestMs: nullable(Number) },
  () => text`select count(*) as waiting, min(${nameOf(outbox.createdAtMs)}) as oldest_ms from (
    select ${outbox.createdAtMs} from ${outbox} where ${outbox.publishedAtMs} is null order by ${outbox.id} limit 10000) as oldest`,
);

/** Committed jobs that no relay has put into a queue yet. */
export async function outboxDepth(sql: Sql): Promise<OutboxDepth> {
  const [row] = await depth(sql, {});
  return { waiting: row?.waiting ?? 0, oldestMs: row?.oldestMs ?? undefined };
}
