import { sql as text } from "drizzle-orm";
import type { OpenPayments } from "./open-payments.port.ts";
import { defineSql } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { slots } from "./payments.tables.ts";

const open = defineSql(
  "open_payments",
  { chainId: slots.chainId, count: Number, oldestMs: Number },
  () => text`select ${slots.chainId}, count(*) as count, min(${slots.createdAtMs}) as oldest_ms from ${slots}
    where ${slots.state} = 'open' group by ${slots.chainId}, ${slots.sender}`,
);

/** Lanes with payments that are in no block, by chain and sender. */
export async function openPayments(sql: Sql): Promise<readonly OpenPayments[]> {
  return await open(sql, {});
}
