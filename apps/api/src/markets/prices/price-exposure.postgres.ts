import type { PriceExposureWrites } from "../../db/unit-of-work.port.ts";
import { statement } from "../../db/pool.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";

const add = statement(
  "price_exposure_add",
  `insert into price_exposure as e (price_id, minute, usd) values ($1, $2, $3)
   on conflict (price_id) do update set
     minute = case when e.minute between $2 and $2 + 2 then e.minute else $2 end,
     usd = case when e.minute between $2 and $2 + 2 then e.usd + excluded.usd else excluded.usd end
   where e.minute not between $2 and $2 + 2 or e.usd + excluded.usd <= $4
   returning 1`,
);

/**
 * One row per asset, so that nothing grows; its lock puts fills of one asset in line. The newest minute of
 * any worker counts, up to two minutes ahead: workers whose clocks differ must not reset each other's sum,
 * and a clock that was put back must not stop fills.
 */
export function priceExposureWrites(sql: Sql): PriceExposureWrites {
  return {
    add: async (priceId, usd, maxUsd, nowMs) => {
      const minute = Math.floor(nowMs / 60_000);
      const added = await sql.query(add, [priceId, minute, usd, maxUsd]);
      return added.length === 1;
    },
  };
}
