import type { Address } from "@causeway/domain";
import { sql as text } from "drizzle-orm";
import type { Reads } from "../db/reads.port.ts";
import { defineSql, type Params } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { claims } from "./claims.tables.ts";

interface Payment extends Record<string, unknown> {
  readonly chainId: number;
  readonly currency: Address;
  readonly recipient: Address;
  readonly amount: bigint;
}
const unpaid = defineSql(
  "read_unpaid_claim_of",
  { claimId: claims.claimId },
  (p: Params<Payment>) => text`
    select ${claims.claimId} from ${claims}
    -- Each state has its own index.
    where (${claims.state} = 'offered' or ${claims.state} = 'paying') and ${claims.chainId} = ${p.chainId} and ${claims.currency} = ${p.currency}
      and ${claims.recipient} = ${p.recipient} and ${claims.amount} = ${p.amount}
    order by ${claims.state} desc limit 1`,
);

export function claimReads(sql: Sql): Pick<Reads, "unpaidClaimOf"> {
  return {
    unpaidClaimOf: async (chainId, { currency, recipient, amount }) =>
      (await unpaid(sql, { chainId, currency, recipient, amount }))[0]?.claimId,
  };
}
