import type { SponsorKeys, SponsorReads } from "../balances/sponsors.port.ts";
import { IDENTITY_COLUMNS, identityOf } from "../callers/api-key-rows.postgres.ts";
import type { ApiKeyRow } from "../callers/api-key-rows.postgres.ts";
import { balanceReads } from "../balances/balance-reads.postgres.ts";
import { readSpending } from "./execution-writes.postgres.ts";
import { statement } from "../db/pool.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";

const key = statement(
  "sponsor_key_read",
  `select ${IDENTITY_COLUMNS} from api_keys where id = $1 and revoked_at_ms is null`,
);

/** Keys inside one transaction. */
export function sponsorKeys(sql: Sql): SponsorKeys {
  return {
    async key(keyId) {
      const [row] = await sql.query<ApiKeyRow>(key, [keyId]);
      return row && identityOf(row);
    },
  };
}

/** What sponsors could pay now. */
export function sponsorReads(sql: Sql): SponsorReads {
  const { book } = balanceReads(sql);
  return { book, spending: async (budget) => await readSpending(sql, budget, undefined) };
}
