import { and, eq, isNull } from "drizzle-orm";
import type { SponsorKeys, SponsorReads } from "../balances/sponsors.port.ts";
import { IDENTITY, identityOf } from "../callers/api-key-rows.postgres.ts";
import { apiKeys } from "../callers/callers.tables.ts";
import { balanceReads } from "../balances/balance-reads.postgres.ts";
import { readSpending } from "./execution-writes.postgres.ts";
import { defineQuery, type Params } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

const keyById = defineQuery("sponsor_key_read", (db, { id }: Params<{ id: string }>) =>
  db
    .select(IDENTITY)
    .from(apiKeys)
    .where(and(eq(apiKeys.id, id), isNull(apiKeys.revokedAtMs))),
);

/** Reads keys inside one transaction. */
export function sponsorKeys(sql: Sql): SponsorKeys {
  return {
    async key(keyId) {
      const [row] = await keyById(sql, { id: keyId });
      return row && identityOf(row);
    },
  };
}

/** Reads what sponsors can currently pay. */
export function sponsorReads(sql: Sql): SponsorReads {
  const { book } = balanceReads(sql);
  return { book, spending: async (budget) => await readSpending(sql, budget, undefined) };
}
