import type { OutboxDepth } from "./queue-depth.port.ts";
import { statement } from "./pool.postgres.ts";
import type { Sql } from "./pool.postgres.ts";

interface Row {
  readonly waiting: number;
  readonly oldest_ms: number | null;
}

// By the index outbox_unpublished, which holds only these rows.
const depth = statement(
  "outbox_depth",
  `select count(*) as waiting, min(created_at_ms) as oldest_ms
   from (select created_at_ms from outbox where published_at_ms is null order by id limit 10000) as oldest`,
);

/** Committed jobs that no relay has handed to a queue yet. */
export async function outboxDepth(sql: Sql): Promise<OutboxDepth> {
  const [row] = await sql.query<Row>(depth, []);
  return { waiting: row?.waiting ?? 0, oldestMs: row?.oldest_ms ?? undefined };
}
