import { sql } from "drizzle-orm";
import { check, pgTable, text } from "drizzle-orm/pg-core";
import { int8, uint } from "../../db/columns.tables.ts";

/**
 * USD value of started fills between different assets, per minute and volatile asset. Limits the damage of a
 * wrong price.
 */
export const priceExposure = pgTable(
  "price_exposure",
  {
    priceId: text("price_id").primaryKey(),
    /** Minutes since the epoch. */
    minute: int8("minute").notNull(),
    /** USD with 18 decimals. */
    usd: uint("usd").notNull(),
  },
  (t) => [check("price_exposure_usd_check", sql`${t.usd} >= 0`)],
);
