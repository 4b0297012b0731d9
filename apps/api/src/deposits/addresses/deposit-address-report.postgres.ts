import { sql as text, type Column, type SQL } from "drizzle-orm";
import { defineReport, outputsOf } from "../../db/define-query.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import {
  depositAddresses as addresses,
  depositAddressFunds as funds,
  depositSweeps as sweeps,
} from "./deposit-addresses.tables.ts";

const timeOf = (ms: Column): SQL =>
  text`to_char(to_timestamp(${ms} / 1000.0) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

const unswept = defineReport(
  "operator_addresses_unswept",
  () => text`select ${outputsOf({
    state: text`case when ${funds.heldReason} is null then 'deciding' else 'held' end`,
    reason: funds.heldReason,
    address: funds.address,
    chainId: funds.chainId,
    currency: funds.currency,
    amount: text`${funds.amount}::text`,
    since: timeOf(funds.seenAtMs),
    requestId: addresses.requestId,
    recovery: addresses.recovery,
    refundTo: addresses.refundTo,
  })}
    from ${funds} join ${addresses} on ${addresses.address} = ${funds.address}
    order by ${funds.heldReason} is null, ${funds.seenAtMs} limit 1000`,
);
const sweeping = defineReport(
  "operator_addresses_sweeping",
  () => text`select ${outputsOf({
    state: sweeps.state,
    address: sweeps.address,
    chainId: sweeps.chainId,
    currency: sweeps.currency,
    amount: text`(${sweeps.amount} + ${sweeps.excess})::text`,
    since: timeOf(sweeps.createdAtMs),
    requestId: sweeps.requestId,
  })}
    from ${sweeps} where ${sweeps.state} in ('planned', 'sent', 'mined') order by ${sweeps.id} limit 1000`,
);

/** Reports funds at deposit addresses and why they are there, then the sweeps in progress. */
export async function addressReport(sql: Sql): Promise<object[]> {
  return [...(await unswept(sql, {})), ...(await sweeping(sql, {}))];
}
