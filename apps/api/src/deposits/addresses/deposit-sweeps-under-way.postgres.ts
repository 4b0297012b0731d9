import type { Address } from "@causeway/domain";
import { placeKey } from "./deposit-addresses.port.ts";
import { statement } from "../../db/pool.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";

const underWay = statement(
  "deposit_sweeps_under_way",
  `select address, currency, sum(amount + excess) as amount from deposit_sweeps
   where chain_id = $1 and address = any($2::text[])
     and (state in ('planned', 'sent') or (state in ('mined', 'final') and block_number > $3))
   group by address, currency`,
);

/**
 * What balances read at a block still show, or may show, of money that is on its way, by address and
 * currency.
 */
export async function sumUnderWay(
  sql: Sql,
  chainId: number,
  addresses: readonly Address[],
  balanceBlock: bigint,
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await sql.query<{ address: string; currency: string; amount: bigint }>(underWay, [
    chainId,
    addresses,
    balanceBlock,
  ]);
  return new Map(
    rows.map(({ address, currency, amount }) => [placeKey(address as Address, currency as Address), amount]),
  );
}
