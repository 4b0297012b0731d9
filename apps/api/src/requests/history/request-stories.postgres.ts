import type { RequestId, TxHash } from "@causeway/domain";
import { asc, eq, sql as text, type SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import type {
  HistoryAttempt,
  HistoryDeposit,
  HistoryEvent,
  HistorySettlement,
  HistorySlot,
  RequestStory,
} from "./request-history.port.ts";
import { ledgerEntries, ledgerMovements } from "../../balances/ledger.tables.ts";
import { feeReservationParts, feeReservations, holds } from "../../balances/reservations.tables.ts";
import { columnsOf, defineQuery, defineSql, nullable, type Params } from "../../db/define-query.postgres.ts";
import type { Month } from "../../db/month.port.ts";
import { monthOf } from "../../db/month.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import { deposits } from "../../deposits/deposits.tables.ts";
import { fastFills } from "../../executions/fast-fills.tables.ts";
import { executions } from "../../payments/executions.tables.ts";
import { attempts, NO_CALL_DATA, slots } from "../../payments/payments.tables.ts";
import { sendReports, sends } from "../../payments/sends.tables.ts";
import { archiveRequests, archives } from "../../reconcile/archive/archive.tables.ts";
import { hubExecutions, settlements } from "../../settlement/settlement.tables.ts";
import { REQUEST, requestOf, statusOf } from "../request-rows.postgres.ts";
import { requestEvents, requests } from "../requests.tables.ts";

const MAX_TOO_SMALL = 20;

interface StoryParams extends Record<string, unknown> {
  readonly requestIds: readonly RequestId[];
}
type ReadRows<Row> = (sql: Sql, params: StoryParams) => Promise<readonly Row[]>;
type RowOf<Read extends (...args: never[]) => Promise<readonly unknown[]>> = Awaited<
  ReturnType<Read>
>[number];

/** Every table is read once for all requests of a page. */
const isRequested = (column: PgColumn, { requestIds }: Params<StoryParams>): SQL =>
  text`${column} = any(${requestIds}::text[])`;

const readRequests = defineQuery("story_requests", (db, params: Params<StoryParams>) =>
  db
    .select({ ...REQUEST, archivedMonths: requests.archivedMonths })
    .from(requests)
    .where(isRequested(requests.requestId, params)),
);

const DEPOSIT = {
  id: deposits.id,
  requestId: deposits.requestId,
  chainId: deposits.chainId,
  txHash: deposits.txHash,
  blockNumber: deposits.blockNumber,
  canonical: deposits.canonical,
  confirmAtBlock: deposits.confirmAtBlock,
  depositor: deposits.depositor,
  sender: deposits.sender,
  currency: deposits.currency,
  amount: deposits.amount,
  disposition: deposits.disposition,
  reason: deposits.reason,
  refundState: deposits.refundState,
  refundFailReason: deposits.refundFailReason,
  seenAtMs: deposits.seenAtMs,
};
// Anyone can name a request in thousands of deposits that are too small to refund: only the first are shown.
const isTooSmall = text`${deposits.refundFailReason} = 'AMOUNT_TOO_LOW_TO_REFUND'`;
const readDeposits = defineSql(
  "story_deposits",
  DEPOSIT,
  (params: Params<StoryParams>) => text`select ${columnsOf(DEPOSIT)} from (
      select ${deposits}.*, ${requests.depositId} as own_id, ${isTooSmall} as is_too_small,
        count(*) filter (where ${isTooSmall}) over (partition by ${deposits.requestId} order by ${deposits.id}) as too_small
      from ${deposits} join ${requests} on ${requests.requestId} = ${deposits.requestId}
      where ${isRequested(deposits.requestId, params)}
    ) as ${deposits}
    where is_too_small is not true or too_small <= ${text.raw(String(MAX_TOO_SMALL))} or ${deposits.id} = own_id
    order by ${deposits.id}`,
);
const readSlots = defineQuery("story_slots", (db, params: Params<StoryParams>) =>
  db
    .select({
      id: slots.id,
      requestId: slots.requestId,
      chainId: slots.chainId,
      sender: slots.sender,
      nonce: slots.nonce,
      legKind: slots.legKind,
      legId: slots.legId,
      callTo: slots.callTo,
      callData: slots.callData,
      callValue: slots.callValue,
      gasLimit: slots.gasLimit,
      outflowCurrency: slots.outflowCurrency,
      outflowAmount: slots.outflowAmount,
      deliveredAmount: slots.deliveredAmount,
      state: slots.state,
      cancelReason: slots.cancelReason,
      deadReason: slots.deadReason,
      minedAttempt: slots.minedAttempt,
      minedBlockNumber: slots.minedBlockNumber,
      minedStatus: slots.minedStatus,
      minedAtMs: slots.minedAtMs,
      gasUsed: slots.gasUsed,
      effectiveGasPrice: slots.effectiveGasPrice,
      createdAtMs: slots.createdAtMs,
    })
    .from(slots)
    .where(isRequested(slots.requestId, params))
    .orderBy(asc(slots.id)),
);
const readAttempts = defineQuery("story_attempts", (db, p: Params<{ slotIds: readonly number[] }>) =>
  db
    .select({
      slotId: attempts.slotId,
      n: attempts.n,
      kind: attempts.kind,
      txHash: attempts.txHash,
      maxFeePerGas: attempts.maxFeePerGas,
      maxPriorityFeePerGas: attempts.maxPriorityFeePerGas,
      createdAtMs: attempts.createdAtMs,
      broadcastAtMs: attempts.broadcastAtMs,
      firstBroadcastAtMs: attempts.firstBroadcastAtMs,
    })
    .from(attempts)
    .where(text`${attempts.slotId} = any(${p.slotIds}::bigint[])`)
    .orderBy(asc(attempts.slotId), asc(attempts.n)),
);
// One statement, so one snapshot: the archive removes the events of a month at once, and marks its requests
// afterwards. In two statements, a request could have neither its events nor the mark.
const readEvents = defineSql(
  "story_events",
  {
    requestId: requests.requestId,
    archivedMonths: requests.archivedMonths,
    monthInRemoval: nullable((month: Month) => month),
    atMs: nullable(Number),
    event: nullable((event: (typeof requestEvents.$inferSelect)["event"]) => event),
    detail: nullable((detail: string) => JSON.parse(detail) as HistoryEvent["detail"]),
  },
  (params: Params<StoryParams>) => text`
    select ${requests.requestId}, ${requests.archivedMonths}, ${archives.month} as month_in_removal,
      ${requestEvents.atMs}, ${requestEvents.event}, ${requestEvents.detail}
    from ${requests}
      left join ${archiveRequests} on ${archiveRequests.requestId} = ${requests.requestId} and ${archiveRequests.hasEvents}
      left join ${archives} on ${archiveRequests.requestId} is not null and ${archives.state} = 'exported'
      left join ${requestEvents} on ${requestEvents.requestId} = ${requests.requestId}
    where ${isRequested(requests.requestId, params)}
    order by ${requests.requestId}, ${requestEvents.id}`,
);
const readSettlements = defineQuery("story_settlements", (db, params: Params<StoryParams>) =>
  db
    .select({
      slotId: settlements.slotId,
      requestId: settlements.requestId,
      state: settlements.state,
      reason: settlements.reason,
      tries: settlements.tries,
      depositKey: settlements.depositKey,
      paymentKey: settlements.paymentKey,
      createdAtMs: settlements.createdAtMs,
      updatedAtMs: settlements.updatedAtMs,
    })
    .from(settlements)
    .where(isRequested(settlements.requestId, params))
    .orderBy(asc(settlements.slotId)),
);
const HUB_EXECUTION = {
  idempotencyKey: hubExecutions.idempotencyKey,
  kind: hubExecutions.kind,
  state: hubExecutions.state,
  createdAtMs: hubExecutions.createdAtMs,
  settledAtMs: hubExecutions.settledAtMs,
};
const readHubExecutions = defineSql(
  "story_hub_executions",
  { ...HUB_EXECUTION, txHash: nullable((hash: TxHash) => hash) },
  ({ keys }: Params<{ keys: readonly string[] }>) => text`select ${columnsOf(HUB_EXECUTION)},
      (select ${attempts.txHash} from ${attempts} where ${attempts.slotId} = ${hubExecutions.slotId}
       order by ${attempts.n} desc limit 1) as tx_hash
    from ${hubExecutions} where ${hubExecutions.idempotencyKey} = any(${keys}::text[])`,
);
const readSends = defineSql(
  "story_sends",
  {
    requestId: sends.requestId,
    txHash: sends.txHash,
    blockNumber: sends.blockNumber,
    createdAtMs: sends.createdAtMs,
  },
  (params: Params<StoryParams>) => text`
    select ${sends.requestId}, ${sends.txHash}, ${sends.blockNumber}, ${sends.createdAtMs}
    from ${sends} where ${isRequested(sends.requestId, params)}
    union all select ${sendReports.requestId}, ${sendReports.txHash}, null, ${sendReports.createdAtMs}
    from ${sendReports} where ${isRequested(sendReports.requestId, params)}
    -- The payment itself, or the last report.
    order by block_number nulls last, created_at_ms desc`,
);
const readExecutions = defineQuery("story_executions", (db, params: Params<StoryParams>) =>
  db
    .select({
      requestId: executions.requestId,
      keyId: executions.keyId,
      wallet: executions.wallet,
      costUsd: executions.costUsd,
      originUsd: executions.originUsd,
      destinationUsd: executions.destinationUsd,
      createdAtMs: executions.createdAtMs,
    })
    .from(executions)
    .where(isRequested(executions.requestId, params)),
);
const readHolds = defineQuery("story_holds", (db, params: Params<StoryParams>) =>
  db
    .select({
      requestId: holds.requestId,
      state: holds.state,
      usd: holds.usd,
      placedAtMs: holds.placedAtMs,
      resolvedAtMs: holds.resolvedAtMs,
    })
    .from(holds)
    .where(isRequested(holds.requestId, params)),
);
const readFastFills = defineQuery("story_fast_fills", (db, params: Params<StoryParams>) =>
  db
    .select({
      requestId: fastFills.requestId,
      amount: fastFills.amount,
      inputAmount: fastFills.inputAmount,
      acceptedAtMs: fastFills.acceptedAtMs,
    })
    .from(fastFills)
    .where(isRequested(fastFills.requestId, params)),
);
// The fees of a final fill. Gas of reverted fills also closes a reservation but is not one of these fees. A
// reservation of zero has no parts.
const readPaidFees = defineSql(
  "story_paid_fees",
  {
    requestId: feeReservations.requestId,
    usd: feeReservations.usd,
    chainId: nullable(Number),
    currency: nullable((currency: (typeof feeReservationParts.$inferSelect)["currency"]) => currency),
    amount: nullable(BigInt),
  },
  (params: Params<StoryParams>) => text`
    select ${feeReservations.requestId}, ${feeReservations.usd}, ${feeReservationParts.chainId},
      ${feeReservationParts.currency}, ${feeReservationParts.amount}
    from ${feeReservations} left join ${feeReservationParts} on ${feeReservationParts.reservationId} = ${feeReservations.id}
    where ${isRequested(feeReservations.requestId, params)} and ${feeReservations.purpose} = 'fees' and ${feeReservations.state} = 'paid'
      and not exists (select from ${ledgerMovements} where ${ledgerMovements.movementKey}
        = concat('fees:', ${feeReservations.requestId}, ':burnt:', ${feeReservations.round}))
    order by ${feeReservations.id}, ${feeReservationParts.n}`,
);
const readAppFees = defineSql(
  "story_app_fees",
  { requestId: ledgerMovements.requestId, wallet: ledgerMovements.wallet, amount: BigInt },
  (params: Params<StoryParams>) => text`
    select ${ledgerMovements.requestId}, ${ledgerMovements.wallet}, sum(${ledgerEntries.amount}) as amount
    from ${ledgerMovements} join ${ledgerEntries} on ${ledgerEntries.movementId} = ${ledgerMovements.id}
    where ${isRequested(ledgerMovements.requestId, params)} and ${ledgerMovements.context} = 'app-fee'
      and ${ledgerEntries.account} in ('balance', 'owed')
    group by ${ledgerMovements.requestId}, ${ledgerMovements.wallet}`,
);
const readMovements = defineQuery("story_movements", (db, params: Params<StoryParams>) =>
  db
    .select({
      requestId: ledgerMovements.requestId,
      id: ledgerMovements.id,
      context: ledgerMovements.context,
      reason: ledgerMovements.reason,
      wallet: ledgerMovements.wallet,
      createdAtMs: ledgerMovements.createdAtMs,
      account: ledgerEntries.account,
      chainId: ledgerEntries.chainId,
      currency: ledgerEntries.currency,
      amount: ledgerEntries.amount,
    })
    .from(ledgerMovements)
    .innerJoin(ledgerEntries, eq(ledgerEntries.movementId, ledgerMovements.id))
    .where(isRequested(ledgerMovements.requestId, params))
    .orderBy(asc(ledgerMovements.id), asc(ledgerEntries.id)),
);

/**
 * The stored facts of these requests. Each table is read once, whatever their number.
 * @param isWhole also reads events, holds, fast fills, movements and executions on the hub, which only the
 * view of a single request shows
 */
export async function requestStories(
  sql: Sql,
  requestIds: readonly RequestId[],
  isWhole: boolean,
): Promise<ReadonlyMap<RequestId, RequestStory>> {
  if (requestIds.length === 0) return new Map();
  const readByRequest = async <Row extends { readonly requestId: RequestId | null }>(
    read: ReadRows<Row>,
    ids = requestIds,
  ): Promise<Map<RequestId | null, Row[]>> =>
    ids.length === 0 ? new Map() : Map.groupBy(await read(sql, { requestIds: ids }), (row) => row.requestId);
  const onlyIfWhole = isWhole ? requestIds : [];
  const [
    rows,
    depositsByRequest,
    slotsByRequest,
    eventsByRequest,
    settlementsByRequest,
    sendsByRequest,
    executionsByRequest,
    holdsByRequest,
    fastFillsByRequest,
    movementsByRequest,
  ] = await Promise.all([
    readRequests(sql, { requestIds }),
    readByRequest(readDeposits),
    readByRequest(readSlots),
    readByRequest(readEvents, onlyIfWhole),
    readByRequest(readSettlements),
    readByRequest(readSends),
    readByRequest(readExecutions),
    readByRequest(readHolds, onlyIfWhole),
    readByRequest(readFastFills, onlyIfWhole),
    readByRequest(readMovements, onlyIfWhole),
  ]);
  const recorded = rows.map((row) => [row, requestOf(row)] as const);
  // Few requests have a sponsorship or app fees.
  const idsWith = (field: "sponsorship" | "appFees"): readonly RequestId[] =>
    recorded.flatMap(([, { terms }]) => (terms[field] === undefined ? [] : terms.requestId));
  const slotIds = [...slotsByRequest.values()].flat().map((slot) => slot.id);
  const keys = [...settlementsByRequest.values()]
    .flat()
    .flatMap((settlement) => [settlement.depositKey, settlement.paymentKey])
    .filter((key) => key !== null);
  const [attemptRows, hubRows, paidFeesByRequest, appFeesByRequest] = await Promise.all([
    slotIds.length === 0 ? [] : readAttempts(sql, { slotIds }),
    keys.length === 0 || !isWhole ? [] : readHubExecutions(sql, { keys }),
    readByRequest(readPaidFees, idsWith("sponsorship")),
    readByRequest(readAppFees, idsWith("appFees")),
  ]);
  const attemptsBySlot = Map.groupBy(attemptRows, (attempt) => attempt.slotId);
  const executionsByKey = new Map(hubRows.map((row) => [row.idempotencyKey, row]));

  const storyOf = (row: RowOf<typeof readRequests>, record: ReturnType<typeof requestOf>): RequestStory => {
    const { terms, state, updatedAtMs, inTxHashes, txHashes, refundTxHashes, supersededBy } = record;
    const { addressFunds } = statusOf(row);
    const id = row.requestId;
    const [send] = sendsByRequest.get(id) ?? [];
    const { events, archivedMonths } = eventsOf(eventsByRequest.get(id), row.archivedMonths);
    return {
      terms,
      ...(supersededBy !== undefined && { supersededBy }),
      ...(addressFunds !== undefined && { addressFunds }),
      state: {
        name: state.name,
        front: state.front,
        depositId: state.depositId,
        failReason: state.failReason,
        refundFailReason: state.refundFailReason,
        final: state.final,
      },
      updatedAtMs,
      inTxHashes,
      txHashes,
      refundTxHashes,
      deposits: (depositsByRequest.get(id) ?? []).map(depositOf),
      slots: (slotsByRequest.get(id) ?? []).map((slot) => slotOf(slot, attemptsBySlot.get(slot.id) ?? [])),
      events,
      archivedMonths,
      settlements: (settlementsByRequest.get(id) ?? []).map((settlement) =>
        settlementOf(settlement, executionsByKey),
      ),
      send: send && {
        txHash: send.txHash,
        blockNumber: send.blockNumber === null ? undefined : BigInt(send.blockNumber),
        reportedAtMs: send.createdAtMs,
      },
      sponsorship: {
        execution: executionOf(executionsByRequest.get(id)?.[0]),
        hold: holdOf(holdsByRequest.get(id)?.[0]),
        fees: paidFeesOf(paidFeesByRequest.get(id) ?? []),
        appFees: (appFeesByRequest.get(id) ?? []).map(({ wallet, amount }) => ({ wallet, amount })),
        fastFill: fastFillOf(fastFillsByRequest.get(id)?.[0]),
        movements: movementsOf(movementsByRequest.get(id) ?? []),
      },
    };
  };
  return new Map(recorded.map(([row, record]) => [row.requestId, storyOf(row, record)]));
}

/** @param rows undefined when only the marks of the request were read */
function eventsOf(
  rows: readonly RowOf<typeof readEvents>[] | undefined,
  markedMonths: readonly Month[] | null,
): Pick<RequestStory, "events" | "archivedMonths"> {
  const [first] = rows ?? [];
  const events = (rows ?? []).flatMap(({ atMs, event, detail }) =>
    atMs === null || event === null || detail === null ? [] : { atMs, event, detail },
  );
  const months = (first === undefined ? markedMonths : first.archivedMonths) ?? undefined;
  const removed = first?.monthInRemoval ?? undefined;
  // An archive that is about to remove the events has not removed any of them.
  if (removed === undefined || events.some(({ atMs }) => monthOf(atMs) === removed))
    return { events, archivedMonths: months };
  return { events, archivedMonths: [...new Set([...(months ?? []), removed])].toSorted() };
}

function depositOf({ requestId: _, ...row }: RowOf<typeof readDeposits>): HistoryDeposit {
  return {
    ...row,
    id: String(row.id),
    blockNumber: BigInt(row.blockNumber),
    confirmAtBlock: BigInt(row.confirmAtBlock),
    reason: row.reason ?? undefined,
    refundFailReason: row.refundFailReason ?? undefined,
  };
}

function slotOf(
  row: RowOf<typeof readSlots>,
  attemptRows: readonly RowOf<typeof readAttempts>[],
): HistorySlot {
  return {
    id: String(row.id),
    chainId: row.chainId,
    sender: row.sender,
    nonce: row.nonce,
    legKind: row.legKind,
    legId: row.legId,
    call: {
      to: row.callTo,
      data: row.callData === NO_CALL_DATA ? undefined : row.callData,
      value: row.callValue,
    },
    gasLimit: BigInt(row.gasLimit),
    outflow: { currency: row.outflowCurrency, amount: row.outflowAmount },
    deliveredAmount: row.deliveredAmount ?? undefined,
    state: row.state,
    cancelReason: row.cancelReason ?? undefined,
    deadReason: row.deadReason ?? undefined,
    minedAttempt: row.minedAttempt ?? undefined,
    minedBlockNumber: row.minedBlockNumber === null ? undefined : BigInt(row.minedBlockNumber),
    minedStatus: row.minedStatus ?? undefined,
    minedAtMs: row.minedAtMs ?? undefined,
    gasUsed: row.gasUsed ?? undefined,
    effectiveGasPrice: row.effectiveGasPrice ?? undefined,
    createdAtMs: row.createdAtMs,
    attempts: attemptRows.map(attemptOf),
  };
}

function attemptOf({ slotId: _, ...row }: RowOf<typeof readAttempts>): HistoryAttempt {
  return {
    ...row,
    firstBroadcastAtMs: row.firstBroadcastAtMs ?? undefined,
    broadcastAtMs: row.broadcastAtMs ?? undefined,
  };
}

function settlementOf(
  row: RowOf<typeof readSettlements>,
  executionsByKey: ReadonlyMap<string, RowOf<typeof readHubExecutions>>,
): HistorySettlement {
  return {
    slotId: String(row.slotId),
    state: row.state,
    reason: row.reason ?? undefined,
    tries: row.tries,
    createdAtMs: row.createdAtMs,
    updatedAtMs: row.updatedAtMs,
    executions: [row.depositKey, row.paymentKey].flatMap((key) => {
      const execution = key === null ? undefined : executionsByKey.get(key);
      return execution === undefined
        ? []
        : {
            ...execution,
            txHash: execution.txHash ?? undefined,
            settledAtMs: execution.settledAtMs ?? undefined,
          };
    }),
  };
}

function executionOf(
  row: RowOf<typeof readExecutions> | undefined,
): RequestStory["sponsorship"]["execution"] {
  return (
    row && {
      keyId: row.keyId,
      wallet: row.wallet ?? undefined,
      costUsd: row.costUsd,
      originUsd: row.originUsd ?? undefined,
      destinationUsd: row.destinationUsd ?? undefined,
      createdAtMs: row.createdAtMs,
    }
  );
}

function holdOf(row: RowOf<typeof readHolds> | undefined): RequestStory["sponsorship"]["hold"] {
  return (
    row && {
      state: row.state,
      usd: row.usd,
      placedAtMs: row.placedAtMs,
      resolvedAtMs: row.resolvedAtMs ?? undefined,
    }
  );
}

function fastFillOf(row: RowOf<typeof readFastFills> | undefined): RequestStory["sponsorship"]["fastFill"] {
  return row && { amount: row.amount, inputAmount: row.inputAmount, acceptedAtMs: row.acceptedAtMs };
}

function paidFeesOf(rows: readonly RowOf<typeof readPaidFees>[]): RequestStory["sponsorship"]["fees"] {
  const [first] = rows;
  return (
    first && {
      usd: first.usd,
      parts: rows.flatMap(({ chainId, currency, amount }) =>
        chainId === null || currency === null || amount === null ? [] : { chainId, currency, amount },
      ),
    }
  );
}

function movementsOf(rows: readonly RowOf<typeof readMovements>[]): RequestStory["sponsorship"]["movements"] {
  return [...Map.groupBy(rows, (row) => row.id).values()].flatMap((entries) => {
    const [first] = entries;
    return first === undefined
      ? []
      : {
          context: first.context,
          reason: first.reason,
          wallet: first.wallet,
          atMs: first.createdAtMs,
          entries: entries.map(({ account, chainId, currency, amount }) => ({
            account,
            chainId,
            currency,
            amount,
          })),
        };
  });
}
