import { sql as text, type SQL } from "drizzle-orm";
import { appFeesDue, feeReservations, holds } from "../../balances/reservations.tables.ts";
import type { Month } from "../../db/month.port.ts";
import { endOfMonth, startOfMonth } from "../../db/month.ts";
import { depositSweeps } from "../../deposits/addresses/deposit-addresses.tables.ts";
import { deposits } from "../../deposits/deposits.tables.ts";
import { fastFills } from "../../executions/fast-fills.tables.ts";
import { executions } from "../../payments/executions.tables.ts";
import { fillBurns, slots } from "../../payments/payments.tables.ts";
import { sends } from "../../payments/sends.tables.ts";
import { webhookDeliveries } from "../../push/webhooks.tables.ts";
import { requestHistory } from "../../requests/history/history.tables.ts";
import { requestEvents, requests } from "../../requests/requests.tables.ts";
import { nonceMappings } from "../../settlement/nonce-mappings/nonce-mappings.tables.ts";
import { settlements } from "../../settlement/settlement.tables.ts";

const openOf = (column: SQL.Aliased | SQL, from: SQL): SQL =>
  text`select ${column} as request_id from ${from}`;

/**
 * Requests with anything unfinished, whatever their state. Each part reads a partial index of open rows,
 * which is small however large the table is. Without settlements, this instance settles nothing.
 */
const OPEN = text.join(
  [
    openOf(text`${slots.requestId}`, text`${slots} where ${slots.state} in ('open', 'mined')`),
    openOf(
      text`${slots.requestId}`,
      text`${slots} where ${slots.state} = 'final' and not ${slots.settlementNoted} and exists (select from ${settlements})`,
    ),
    openOf(text`${settlements.requestId}`, text`${settlements} where ${settlements.state} = 'due'`),
    openOf(text`${settlements.requestId}`, text`${settlements} where ${settlements.state} = 'attested'`),
    openOf(
      text`${deposits.requestId}`,
      text`${deposits} where ${deposits.disposition} = 'refund' and ${deposits.refundState} = 'none'`,
    ),
    openOf(text`${deposits.requestId}`, text`${deposits} where ${deposits.refundWaits} is not null`),
    openOf(
      text`${deposits.requestId}`,
      text`${deposits} where ${deposits.disposition} = 'unattributed' and ${deposits.requestId} is not null
        and ${deposits.canonical} and ${deposits.refundState} = 'none'`,
    ),
    openOf(text`${deposits.requestId}`, text`${deposits} where ${deposits.mappingUntilMs} is not null`),
    openOf(text`${deposits.requestId}`, text`${deposits} where ${deposits.unrepaidAtMs} is not null`),
    openOf(
      text`${depositSweeps.requestId}`,
      text`${depositSweeps} where ${depositSweeps.state} in ('planned', 'sent', 'mined')`,
    ),
    openOf(text`${sends.requestId}`, text`${sends} where not ${sends.settled}`),
    openOf(text`${executions.requestId}`, text`${executions} where not ${executions.settled}`),
    openOf(
      text`${fastFills.requestId}`,
      text`${fastFills} where (${fastFills.coverState} = 'due') or ((${fastFills.revertedGasUsd} > 0) and (not ${fastFills.revertedGasCharged}))`,
    ),
    openOf(text`${fillBurns.requestId}`, text`${fillBurns} where ${fillBurns.unpaidWei} > 0`),
    openOf(text`${holds.requestId}`, text`${holds} where ${holds.state} = 'active'`),
    openOf(
      text`${feeReservations.requestId}`,
      text`${feeReservations} where ${feeReservations.state} = 'open'`,
    ),
    openOf(text`${appFeesDue.requestId}`, text`${appFeesDue}`),
    openOf(
      text`${nonceMappings.requestId}`,
      text`${nonceMappings} where ${nonceMappings.state} in ('stored', 'signed')`,
    ),
    openOf(
      text`${webhookDeliveries.requestId}`,
      text`${webhookDeliveries} where ${webhookDeliveries.state} = 'waiting'`,
    ),
  ],
  text` union `,
);

/** A refund that needs the operator, or one in progress. Dust that is never refunded does not count. */
const isRefundOpen = text`exists (select from ${deposits} where ${deposits.requestId} = candidate.request_id
  and (${deposits.refundState} = 'sent' or (${deposits.refundState} = 'impossible'
    and ${deposits.refundFailReason} is distinct from 'AMOUNT_TOO_LOW_TO_REFUND')))`;

/** Whether the request itself ended long enough ago. */
const isOver = (month: Month, untouchedSinceMs: number): SQL => text`(${requests.requestId} is null
  or ((${requests.final} or ${requests.state} = 'expired')
    and ${requests.createdAtMs} < ${endOfMonth(month)} and ${requests.updatedAtMs} < ${untouchedSinceMs}
    and not ${requests.fundsSeen} and not ${requests.fundsHeld} and ${requests.front} <> 'held'
    and not (${requests.front} = 'debited' and ${requests.depositId} is null)))`;

export const isOfMonth = (column: SQL, month: Month): SQL =>
  text`${column} >= ${startOfMonth(month)} and ${column} < ${endOfMonth(month)}`;

/**
 * Parts of a `with`: `judged` has every request with a row in this month, whether its story is over,
 * whether it has events in this month, and when it was created.
 */
export const judgedParts = (month: Month, untouchedSinceMs: number): SQL => text`
  open as materialized (${OPEN}),
  candidate as (
    select request_id, bool_or(has_events) as has_events from (
      select ${requestHistory.requestId}, false as has_events from ${requestHistory}
      where ${isOfMonth(text`${requestHistory.createdAtMs}`, month)}
      union all select ${requestEvents.requestId}, true from ${requestEvents}
      where ${isOfMonth(text`${requestEvents.atMs}`, month)}) as mentioned group by request_id),
  judged as (
    select candidate.request_id, candidate.has_events, ${requests.createdAtMs} as created_at_ms, ${isOver(month, untouchedSinceMs)} and open.request_id is null and not ${isRefundOpen} as is_over
    from candidate left join ${requests} on ${requests.requestId} = candidate.request_id
      left join open on open.request_id = candidate.request_id)`;
