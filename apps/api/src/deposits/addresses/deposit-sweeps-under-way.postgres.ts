import type { Address } from "@causeway/domain";
import { sql as text } from "drizzle-orm";
import { placeKey } from "./deposit-addresses.port.ts";
import { defineSql, type Params } from "../../db/define-query.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import { depositSweeps as sweeps } from "./deposit-addresses.tables.ts";

const underWay = defineSql(
  "deposit_sweeps_under_way",
  { address: sweeps.address, currency: sweeps.currency, amount: BigInt },
  (p: Params<{ chainId: number; addresses: readonly Address[]; balanceBlock: bigint }>) => text`
    select ${sweeps.address}, ${sweeps.currency}, sum(${sweeps.amount} + ${sweeps.excess}) as amount from ${sweeps}
    where ${sweeps.chainId} = ${p.chainId} and ${sweeps.address} = any(${p.addresses}::text[])
      and (${sweeps.state} in ('planned', 'sent') or (${sweeps.state} in ('mined', 'final') and ${sweeps.blockNumber} > ${p.balanceBlock}))
    group by ${sweeps.address}, ${sweeps.currency}`,
);

/**
 * Sums, by address and currency, the sweep amounts that a balance read at `balanceBlock` may still include:
 * those of sweeps that are not mined yet, or were mined after that block.
 */
export async function sumUnderWay(
  sql: Sql,
  chainId: number,
  addresses: readonly Address[],
  balanceBlock: bigint,
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await underWay(sql, { chainId, addresses, balanceBlock });
  return new Map(rows.map(({ address, currency, amount }) => [placeKey(address, currency), amount]));
}
