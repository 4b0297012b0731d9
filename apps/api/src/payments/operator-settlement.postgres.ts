import { sql as text, type SQL } from "drizzle-orm";
import { defineReport, outputsOf, type Params } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import {
  hubExecutions,
  hubWithdrawals as withdrawals,
  settlements,
} from "../settlement/settlement.tables.ts";
import { isKnownRequest } from "./operator-trace.postgres.ts";
import { slots } from "./payments.tables.ts";

const timeOf = (ms: unknown): SQL => text`to_timestamp(${ms} / 1000)`;

const unsettled = defineReport(
  "operator_settlement",
  () => text`select ${outputsOf({
    settlement: settlements.state,
    rejected: settlements.rejected,
    reason: settlements.reason,
    payments: text`count(*)`,
    oldest: timeOf(text`min(${settlements.createdAtMs})`),
    example: text`min(${settlements.requestId})`,
  })}
    from ${settlements} where ${settlements.state} <> 'settled' group by 1, 2, 3
    union all
    select 'due', false, 'not processed yet', count(*), ${timeOf(text`min(${slots.createdAtMs})`)}, min(${slots.requestId})
    from ${slots} where ${slots.state} = 'final' and not ${slots.settlementNoted} having count(*) > 0
    order by 5`,
);
const ofRequest = defineReport(
  "operator_settlement_of",
  (p: Params<{ requestId: string }>) => text`select ${outputsOf({
    payment: slots.id,
    leg: slots.legKind,
    settlement: text`coalesce(${settlements.state}, 'due')`,
    reason: text`coalesce(${settlements.reason}, ${hubExecutions.reason})`,
    rejected: text`coalesce(${settlements.rejected}, false)`,
    tries: settlements.tries,
    next_try_ms: settlements.nextTryMs,
    deposit_key: settlements.depositKey,
    payment_key: settlements.paymentKey,
    execution: hubExecutions.state,
  })}
    from ${slots} left join ${settlements} on ${settlements.slotId} = ${slots.id}
      left join ${hubExecutions} on ${hubExecutions.idempotencyKey} = ${settlements.paymentKey}
    where ${slots.requestId} = ${p.requestId} and ${slots.state} = 'final' order by ${slots.id}`,
);
const newest = defineReport(
  "operator_withdrawals",
  () => text`select ${outputsOf({
    withdrawal_address: withdrawals.withdrawalAddress,
    chain_name: withdrawals.chainName,
    currency: withdrawals.currency,
    amount: withdrawals.amount,
    recipient: withdrawals.recipient,
    nonce: withdrawals.nonce,
    state: text`coalesce(${withdrawals.outcome}, 'under way')`,
    since: timeOf(withdrawals.createdAtMs),
  })}
    from ${withdrawals} order by ${withdrawals.createdAtMs} desc limit 100`,
);

/** Pending settlements by state and reason, longest waiting first. */
export function settlementReport(sql: Sql): Promise<object[]> {
  return unsettled(sql, {});
}

/** Settlement of each final payment of one request; undefined if there is no such request. */
export async function settlementOf(sql: Sql, requestId: string): Promise<object[] | undefined> {
  const rows = await ofRequest(sql, { requestId });
  return rows.length > 0 || (await isKnownRequest(sql, requestId)) ? rows : undefined;
}

/** Withdrawals from the hub, newest first. */
export function withdrawalReport(sql: Sql): Promise<object[]> {
  return newest(sql, {});
}
