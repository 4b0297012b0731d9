import { sql as text } from "drizzle-orm";
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
const add = defineQuery("price_exposure_add", (db, p: Params<Trade>) => {
  const { priceId, minute, usd } = priceExposure;
  const isCurrent = text`${minute} between ${p.minute}::bigint and ${p.minute}::bigint + 2`;
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

/**
 * One row per asset, so that the table does not grow; the row lock serializes fills of one asset. If the
 * stored minute is up to two minutes ahead, the sum continues: workers with different clocks must not reset
 * each other's sum. A minute further ahead is replaced: a clock that was set back must not stop fills.
 */
export function priceExposureWrites(sql: Sql): PriceExposureWrites {
  return {
    add: async (priceId, usd, maxUsd, nowMs) => {
      const minute = Math.floor(nowMs / 60_000);
      const added = await add(sql, { priceId, minute, usd, maxUsd });
      return added.length === 1;
    },
  };
}
