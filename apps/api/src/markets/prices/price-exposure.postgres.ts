import { and, type SQL, sql as text } from "drizzle-orm";
import type { PriceExposureWrites } from "../../db/unit-of-work.port.ts";
import { defineQuery, type Params } from "../../db/define-query.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import { priceExposure } from "./price-exposure.tables.ts";

interface Trade extends Record<string, unknown> {
  readonly priceId: string;
  readonly minute: number;
  readonly usd: bigint;
  readonly maxUsd: bigint;
}
const isCurrentIn = (minute: SQL<number>) =>
  text`${priceExposure.minute} between ${minute}::bigint and ${minute}::bigint + 2`;
const add = defineQuery("price_exposure_add", (db, p: Params<Trade>) => {
  const { priceId, minute, usd } = priceExposure;
  const isCurrent = isCurrentIn(p.minute);
  return db
    .insert(priceExposure)
    .values({ priceId: p.priceId, minute: p.minute, usd: p.usd })
    .onConflictDoUpdate({
      target: priceId,
      set: {
        minute: text`case when ${isCurrent} then ${minute} else ${p.minute}::bigint end`,
        usd: text`case when ${isCurrent} then ${usd} + ${p.usd}::numeric else ${p.usd}::numeric end`,
      },
      setWhere: text`not (${isCurrent}) or ${usd} + ${p.usd}::numeric <= ${p.maxUsd}::numeric`,
    })
    .returning({ priceId });
});

const totals = defineQuery(
  "price_exposure_totals",
  (db, p: Params<{ priceIds: readonly string[]; minute: number }>) =>
    db
      .select({ priceId: priceExposure.priceId, usd: priceExposure.usd })
      .from(priceExposure)
      .where(and(text`${priceExposure.priceId} = any(${p.priceIds}::text[])`, isCurrentIn(p.minute))),
);

const minuteOf = (atMs: number): number => Math.floor(atMs / 60_000);

/**
 * One row per asset, so that the table does not grow; the row lock serializes fills of one asset. If the
 * stored minute is up to two minutes ahead, the sum continues: workers with different clocks must not reset
 * each other's sum. A minute further ahead is replaced: a clock that was set back must not stop fills.
 */
export function priceExposureWrites(sql: Sql): PriceExposureWrites {
  return {
    add: async (priceId, usd, maxUsd, nowMs) => {
      const added = await add(sql, { priceId, minute: minuteOf(nowMs), usd, maxUsd });
      return added.length === 1;
    },
    totals: async (priceIds, nowMs) => {
      const rows = await totals(sql, { priceIds, minute: minuteOf(nowMs) });
      return new Map(rows.map(({ priceId, usd }) => [priceId, usd]));
    },
  };
}
