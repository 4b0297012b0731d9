import type { DepositId, Hex } from "@causeway/domain";
import { sql as text, type SQL } from "drizzle-orm";
import { unattributedTopUps } from "../balances/operator-balance-reads.postgres.ts";
import { columnsOf, defineReport, defineSql, outputsOf, type Params } from "../db/define-query.postgres.ts";
import type { Sql } from "../db/pool.postgres.ts";
import { deposits } from "../deposits/deposits.tables.ts";
import { hubExecutions } from "../settlement/settlement.tables.ts";
import { lanes, slots } from "./payments.tables.ts";
import { heldPayments } from "./policy/policy.tables.ts";
import { SERVER_IDENTITY } from "./slot-rows.postgres.ts";

// Groups deposits of one depositor and transaction that have no request or are too small to refund: anyone
// can make hundreds of them for one unit each.
const stranded = defineReport(
  "operator_stranded",
  () => text`select ${outputsOf({
    id: text`min(${deposits.id})`,
    chain_id: deposits.chainId,
    tx_hash: deposits.txHash,
    currency: deposits.currency,
    amount: text`sum(${deposits.amount})`,
    depositor: deposits.depositor,
    sender: deposits.sender,
    order_id: text`case when count(*) = 1 or ${deposits.requestId} is not null then min(${deposits.orderId}) end`,
    request_id: deposits.requestId,
    disposition: deposits.disposition,
    reason: deposits.reason,
    refund_state: deposits.refundState,
    refund_fail_reason: deposits.refundFailReason,
    refund_waits: deposits.refundWaits,
    canonical: deposits.canonical,
    seen_at_ms: text`min(${deposits.seenAtMs})`,
    wallet_nonce: deposits.walletNonce,
    mapping_until_ms: deposits.mappingUntilMs,
    deposits: text`count(*)`,
  })}
    from ${deposits} where ${deposits.disposition} = 'unattributed' or ${deposits.refundState} = 'impossible'
      or ${deposits.refundWaits} is not null
    group by ${columnsOf([
      deposits.chainId,
      deposits.txHash,
      deposits.currency,
      deposits.depositor,
      deposits.sender,
      deposits.requestId,
      deposits.disposition,
      deposits.reason,
      deposits.refundState,
      deposits.refundFailReason,
      deposits.refundWaits,
      deposits.canonical,
      deposits.walletNonce,
      deposits.mappingUntilMs,
    ])},
      case when (${deposits.requestId} is not null or ${deposits.disposition} <> 'unattributed')
        and ${deposits.refundFailReason} is distinct from 'AMOUNT_TOO_LOW_TO_REFUND' then ${deposits.id} end
    order by 1`,
);

const named = defineSql(
  "operator_deposits_named",
  { id: deposits.id },
  (p: Params<{ id: DepositId | null; hash: Hex | null }>) => text`select ${deposits.id} from ${deposits}
    where ${deposits.id} = ${p.id} or ${deposits.txHash} = ${p.hash} or ${deposits.requestId} = ${p.hash}
    order by ${deposits.id} limit 100`,
);

const isOpen = text`${slots.state} = 'open'`;
const laneStates = defineReport(
  "operator_lanes",
  () => text`select ${outputsOf({
    chain_id: lanes.chainId,
    sender: lanes.sender,
    next_nonce: lanes.nextNonce,
    open: text`count(${slots.id}) filter (where ${isOpen})`,
    first_open_nonce: text`min(${slots.nonce}) filter (where ${isOpen})`,
    oldest_open_ms: text`min(${slots.createdAtMs}) filter (where ${isOpen})`,
    mined_not_final: text`count(${slots.id}) filter (where ${slots.state} = 'mined')`,
    unexplained: text`count(${slots.id}) filter (where ${slots.unexplainedSince} is not null)`,
    held: text`case when ${lanes.server} <> (${SERVER_IDENTITY}) then 'the database may have lost payments: see the alarm lane_held' end`,
  })}
    from ${lanes} left join ${slots} on ${slots.chainId} = ${lanes.chainId} and ${slots.sender} = ${lanes.sender}
      and ${slots.state} in ('open', 'mined')
    group by 1, 2, 3, ${lanes.server} order by 1`,
);

const isWaiting = text`${hubExecutions.slotId} is null and ${hubExecutions.setAsideSinceMs} is null`;
const isPostponed = text`${hubExecutions.setAsideSinceMs} is not null`;
/** Executions that are not on the hub yet. */
const WAITING = {
  waiting: text`count(*) filter (where ${isWaiting})`,
  oldest_waiting_ms: text`min(${hubExecutions.createdAtMs}) filter (where ${isWaiting})`,
  postponed: text`count(*) filter (where ${isPostponed})`,
  postponed_since_ms: text`min(${hubExecutions.setAsideSinceMs})`,
  postponed_reason: text`max(${hubExecutions.reason}) filter (where ${isPostponed})`,
};
/** Transactions of settlement that are not final, by chain and sender. */
const TRANSACTIONS = {
  chain_id: slots.chainId,
  sender: slots.sender,
  next_nonce: text`(select ${lanes.nextNonce} from ${lanes}
    where ${lanes.chainId} = ${slots.chainId} and ${lanes.sender} = ${slots.sender})`,
  open: text`count(*) filter (where ${isOpen})`,
  first_open_nonce: text`min(${slots.nonce}) filter (where ${isOpen})`,
  oldest_open_ms: text`min(${slots.createdAtMs}) filter (where ${isOpen})`,
  cancel_transactions: text`count(*) filter (where ${isOpen} and ${slots.cancelReason} is not null)`,
};
/** Outputs of a subquery, under the same names. */
const outputsFrom = (alias: SQL, outputs: Readonly<Record<string, unknown>>): Record<string, SQL> =>
  Object.fromEntries(Object.keys(outputs).map((name) => [name, text`${alias}.${text.identifier(name)}`]));
const hubLane = defineReport(
  "operator_hub_lane",
  () => text`select ${outputsOf({
    ...outputsFrom(text`t`, TRANSACTIONS),
    chain_id: text`'hub'`,
    ...outputsFrom(text`e`, WAITING),
  })}
    from (select ${outputsOf(WAITING)} from ${hubExecutions} where ${hubExecutions.state} = 'attested') e
    left join (select ${outputsOf(TRANSACTIONS)} from ${slots}
      where ${slots.legKind} = 'hub' and ${slots.state} <> 'dead' group by ${slots.chainId}, ${slots.sender}) t on true
    where t.sender is not null or e.waiting > 0 or e.postponed > 0 order by t.chain_id, t.sender`,
);

/**
 * Funds in depositories that are unattributed, cannot be refunded automatically or wait for the daily limit,
 * and top-ups that credit no wallet.
 */
export async function strandedFunds(sql: Sql): Promise<object[]> {
  return [...(await stranded(sql, {})), ...(await unattributedTopUps(sql))];
}

/** Finds deposits by row id, transaction hash or request id (32 or 64 bytes of lower-case hex). */
export async function depositsNamed(
  sql: Sql,
  reference: { readonly id: DepositId } | { readonly hash: Hex },
): Promise<readonly DepositId[]> {
  const rows = await named(sql, { id: null, hash: null, ...reference });
  return rows.map(({ id }) => String(id));
}

const held = defineReport(
  "operator_held",
  () => text`select ${outputsOf({
    held_payment: heldPayments.legKind,
    leg_id: heldPayments.legId,
    request_id: heldPayments.requestId,
    chain_id: heldPayments.chainId,
    sender: heldPayments.sender,
    rule: heldPayments.rule,
    why: heldPayments.why,
    since_ms: heldPayments.sinceMs,
    last_refused_ms: heldPayments.seenAtMs,
  })}
    from ${heldPayments} order by ${heldPayments.sinceMs} limit 1000`,
);

/** The state of the lanes: those of payments by chain, then that of the hub, then payments that are held. */
export async function laneReport(sql: Sql): Promise<object[]> {
  return [...(await laneStates(sql, {})), ...(await hubLane(sql, {})), ...(await held(sql, {}))];
}
