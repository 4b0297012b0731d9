import type { Address, Hex, RequestId, TxHash } from "@causeway/domain";
import type {
  HistoryAttempt,
  HistoryDeposit,
  HistoryEvent,
  HistorySettlement,
  HistorySlot,
  RequestStory,
} from "./request-history.port.ts";
import type { RequestRecord } from "../../db/records.port.ts";
import { statement } from "../../db/pool.postgres.ts";
import type { Sql } from "../../db/pool.postgres.ts";
import { REQUEST_COLUMNS, requestOf, statusOf } from "../rows.postgres.ts";
import type { RequestRow } from "../rows.postgres.ts";

const TOO_SMALL = "AMOUNT_TOO_LOW_TO_REFUND";
const MAX_TOO_SMALL = 20;

/** Every table that knows of a request, asked once for all requests of a page. */
const requests = statement(
  "story_requests",
  `select ${REQUEST_COLUMNS} from requests where request_id = any($1::text[])`,
);
const deposits = statement(
  "story_deposits",
  // A stranger can name a request in thousands of deposits that are too small to be refunded: only the first
  // ones are shown.
  `select id, request_id, chain_id, tx_hash, block_number, canonical, confirm_at_block, depositor, sender, currency, amount, disposition,
     reason, refund_state, refund_fail_reason, seen_at_ms
   from (
     select d.*, r.deposit_id as own_id, d.refund_fail_reason = '${TOO_SMALL}' as is_too_small,
       count(*) filter (where d.refund_fail_reason = '${TOO_SMALL}') over (partition by d.request_id order by d.id) as too_small
     from deposits d join requests r on r.request_id = d.request_id where d.request_id = any($1::text[])
   ) d
   where is_too_small is not true or too_small <= ${MAX_TOO_SMALL} or id = own_id order by id`,
);
const slots = statement(
  "story_slots",
  `select id, request_id, chain_id, sender, nonce, leg_kind, leg_id, call_to, call_data, call_value, gas_limit, outflow_currency,
     outflow_amount, state, cancel_reason, dead_reason, mined_attempt, mined_block_number, mined_status, gas_used, effective_gas_price,
     created_at_ms
   from slots where request_id = any($1::text[]) order by id`,
);
const attempts = statement(
  "story_attempts",
  `select slot_id, n, kind, tx_hash, max_fee_per_gas, max_priority_fee_per_gas, created_at_ms, broadcast_at_ms, first_broadcast_at_ms
   from attempts where slot_id = any($1::bigint[]) order by slot_id, n`,
);
const events = statement(
  "story_events",
  "select request_id, at_ms, event, detail from request_events where request_id = any($1::text[]) order by request_id, id",
);
const settlements = statement(
  "story_settlements",
  `select s.slot_id, s.request_id, s.state, s.reason, s.tries, s.deposit_key, s.payment_key, s.created_at_ms, s.updated_at_ms
   from settlements s where s.request_id = any($1::text[]) order by s.slot_id`,
);
const executionsOnHub = statement(
  "story_hub_executions",
  `select e.idempotency_key, e.kind, e.state, e.created_at_ms, e.settled_at_ms,
     (select a.tx_hash from hub_attempts a where a.transaction_id = e.transaction_id order by a.n desc limit 1) as tx_hash
   from hub_executions e where e.idempotency_key = any($1::text[])`,
);
const sends = statement(
  "story_sends",
  `select request_id, tx_hash, block_number, created_at_ms from sends where request_id = any($1::text[])
   union all select request_id, tx_hash, null, created_at_ms from send_reports where request_id = any($1::text[])
   -- The payment itself, or what was reported last.
   order by block_number nulls last, created_at_ms desc`,
);
const executions = statement(
  "story_executions",
  `select request_id, key_id, wallet, cost_usd, origin_usd, destination_usd, created_at_ms from executions
   where request_id = any($1::text[])`,
);
const holds = statement(
  "story_holds",
  "select request_id, state, usd, placed_at_ms, resolved_at_ms from holds where request_id = any($1::text[])",
);
const fastFills = statement(
  "story_fast_fills",
  "select request_id, amount, input_amount, accepted_at_ms from fast_fills where request_id = any($1::text[])",
);
/**
 * What a final fill was paid with; gas of reverted fills, which closes a reservation too, is no part of it.
 * Of nothing there are no parts.
 */
const paidFees = statement(
  "story_paid_fees",
  `select f.request_id, f.usd, p.chain_id, p.currency, p.amount
   from fee_reservations f left join fee_reservation_parts p on p.reservation_id = f.id
   where f.request_id = any($1::text[]) and f.purpose = 'fees' and f.state = 'paid'
     and not exists (select from ledger_movements m where m.movement_key = concat('fees:', f.request_id, ':burnt:', f.round)) order by f.id, p.n`,
);
/** What the balances gave is the other side of it. */
const appFees = statement(
  "story_app_fees",
  `select m.request_id, m.wallet, sum(e.amount) as amount
   from ledger_movements m join ledger_entries e on e.movement_id = m.id
   where m.request_id = any($1::text[]) and m.context = 'app-fee' and e.account in ('balance', 'owed')
   group by m.request_id, m.wallet`,
);
const movements = statement(
  "story_movements",
  `select m.request_id, m.id, m.context, m.reason, m.wallet, m.created_at_ms, e.account, e.chain_id, e.currency, e.amount
   from ledger_movements m join ledger_entries e on e.movement_id = m.id
   where m.request_id = any($1::text[]) order by m.id, e.id`,
);

interface OfRequest {
  request_id: string;
}
interface DepositRow extends OfRequest {
  id: number;
  chain_id: number;
  tx_hash: string;
  block_number: number;
  canonical: boolean;
  confirm_at_block: number;
  depositor: string;
  sender: string;
  currency: string;
  amount: bigint;
  disposition: string;
  reason: string | null;
  refund_state: string;
  refund_fail_reason: string | null;
  seen_at_ms: number;
}
interface SlotRow extends OfRequest {
  id: number;
  chain_id: number;
  sender: string;
  nonce: number;
  leg_kind: string;
  leg_id: string;
  call_to: string;
  call_data: string;
  call_value: bigint;
  gas_limit: number;
  outflow_currency: string;
  outflow_amount: bigint;
  state: string;
  cancel_reason: string | null;
  dead_reason: string | null;
  mined_attempt: number | null;
  mined_block_number: number | null;
  mined_status: string | null;
  gas_used: bigint | null;
  effective_gas_price: bigint | null;
  created_at_ms: number;
}
interface AttemptRow {
  slot_id: number;
  n: number;
  kind: string;
  tx_hash: string;
  max_fee_per_gas: bigint;
  max_priority_fee_per_gas: bigint;
  created_at_ms: number;
  broadcast_at_ms: number | null;
  first_broadcast_at_ms: number | null;
}
interface EventRow extends OfRequest {
  at_ms: number;
  event: string;
  detail: string;
}
interface SettlementRow extends OfRequest {
  slot_id: number;
  state: string;
  reason: string | null;
  tries: number;
  deposit_key: string | null;
  payment_key: string | null;
  created_at_ms: number;
  updated_at_ms: number;
}
interface HubRow {
  idempotency_key: string;
  kind: string;
  state: string;
  tx_hash: string | null;
  created_at_ms: number;
  settled_at_ms: number | null;
}
interface SendRow extends OfRequest {
  tx_hash: string;
  block_number: number | null;
  created_at_ms: number;
}
interface ExecutionRow extends OfRequest {
  key_id: string;
  wallet: string | null;
  cost_usd: bigint;
  origin_usd: bigint | null;
  destination_usd: bigint | null;
  created_at_ms: number;
}
interface HoldRow extends OfRequest {
  state: string;
  usd: bigint;
  placed_at_ms: number;
  resolved_at_ms: number | null;
}
interface FastFillRow extends OfRequest {
  amount: bigint;
  input_amount: bigint;
  accepted_at_ms: number;
}
interface PaidFeesRow extends OfRequest {
  usd: bigint;
  chain_id: number | null;
  currency: string | null;
  amount: bigint | null;
}
interface AppFeeRow extends OfRequest {
  wallet: string;
  amount: bigint;
}
interface MovementRow extends OfRequest {
  id: number;
  context: string;
  reason: string;
  wallet: string;
  created_at_ms: number;
  account: string;
  chain_id: number;
  currency: string;
  amount: bigint;
}

/**
 * What is stored of these requests. One read for each table, whatever their number; `isWhole`: also what apps
 * did for them and what the hub was asked, which traces tell and lists do not.
 */
export async function requestStories(
  sql: Sql,
  requestIds: readonly RequestId[],
  isWhole: boolean,
): Promise<ReadonlyMap<RequestId, RequestStory>> {
  if (requestIds.length === 0) return new Map();
  const ofThese = async <Row extends OfRequest>(
    what: typeof requests,
    ids: readonly RequestId[],
  ): Promise<Map<string, Row[]>> =>
    ids.length === 0
      ? new Map<string, Row[]>()
      : Map.groupBy(await sql.query<Row>(what, [ids]), (row) => row.request_id);
  const of = async <Row extends OfRequest>(what: typeof requests): Promise<Map<string, Row[]>> =>
    await ofThese<Row>(what, requestIds);
  const ofWhole = async <Row extends OfRequest>(what: typeof requests): Promise<Map<string, Row[]>> =>
    isWhole ? await of<Row>(what) : new Map<string, Row[]>();
  const [
    rows,
    ofDeposits,
    ofSlots,
    ofEvents,
    ofSettlements,
    ofSends,
    ofExecutions,
    ofHolds,
    ofFastFills,
    ofMovements,
  ] = await Promise.all([
    sql.query<RequestRow>(requests, [requestIds]),
    of<DepositRow>(deposits),
    of<SlotRow>(slots),
    of<EventRow>(events),
    of<SettlementRow>(settlements),
    of<SendRow>(sends),
    of<ExecutionRow>(executions),
    ofWhole<HoldRow>(holds),
    ofWhole<FastFillRow>(fastFills),
    ofWhole<MovementRow>(movements),
  ]);
  const recorded = rows.map((row) => [row, requestOf(row)] as const);
  // Few agree on either.
  const idsOf = (what: "sponsorship" | "appFees"): readonly RequestId[] =>
    recorded.flatMap(([, { terms }]) => (terms[what] === undefined ? [] : terms.requestId));
  const slotIds = [...ofSlots.values()].flat().map((slot) => slot.id);
  const keys = [...ofSettlements.values()].flat().flatMap((one) => [one.deposit_key, one.payment_key]);
  const [attemptRows, hubRows, ofPaidFees, ofAppFees] = await Promise.all([
    slotIds.length === 0 ? [] : sql.query<AttemptRow>(attempts, [slotIds]),
    keys.length === 0 || !isWhole
      ? []
      : sql.query<HubRow>(executionsOnHub, [keys.filter((key) => key !== null)]),
    ofThese<PaidFeesRow>(paidFees, idsOf("sponsorship")),
    ofThese<AppFeeRow>(appFees, idsOf("appFees")),
  ]);
  const ofSlot = Map.groupBy(attemptRows, (attempt) => attempt.slot_id);
  const onHub = new Map(hubRows.map((row) => [row.idempotency_key, row]));

  const storyOf = (row: RequestRow, record: RequestRecord): RequestStory => {
    const { terms, state, updatedAtMs, inTxHashes, txHashes, refundTxHashes } = record;
    const { addressFunds } = statusOf(row);
    const id = row.request_id;
    const [send] = ofSends.get(id) ?? [];
    return {
      terms,
      ...(row.superseded_by != null && { supersededBy: row.superseded_by as RequestId }),
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
      deposits: (ofDeposits.get(id) ?? []).map(depositOf),
      slots: (ofSlots.get(id) ?? []).map((slot) => slotOf(slot, ofSlot.get(slot.id) ?? [])),
      events: (ofEvents.get(id) ?? []).map(eventOf),
      settlements: (ofSettlements.get(id) ?? []).map((one) => settlementOf(one, onHub)),
      send: send && {
        txHash: send.tx_hash as TxHash,
        blockNumber: send.block_number === null ? undefined : BigInt(send.block_number),
        reportedAtMs: send.created_at_ms,
      },
      sponsorship: {
        execution: executionOf(ofExecutions.get(id)?.[0]),
        hold: holdOf(ofHolds.get(id)?.[0]),
        fees: paidFeesOf(ofPaidFees.get(id) ?? []),
        appFees: (ofAppFees.get(id) ?? []).map(({ wallet, amount }) => ({ wallet, amount })),
        fastFill: fastFillOf(ofFastFills.get(id)?.[0]),
        movements: movementsOf(ofMovements.get(id) ?? []),
      },
    };
  };
  return new Map(recorded.map(([row, record]) => [record.terms.requestId, storyOf(row, record)]));
}

function depositOf(row: DepositRow): HistoryDeposit {
  return {
    id: String(row.id),
    chainId: row.chain_id,
    txHash: row.tx_hash as TxHash,
    blockNumber: BigInt(row.block_number),
    canonical: row.canonical,
    confirmAtBlock: BigInt(row.confirm_at_block),
    depositor: row.depositor as Address,
    sender: row.sender as Address,
    currency: row.currency as Address,
    amount: row.amount,
    disposition: row.disposition,
    reason: row.reason ?? undefined,
    refundState: row.refund_state,
    refundFailReason: row.refund_fail_reason ?? undefined,
    seenAtMs: row.seen_at_ms,
  };
}

function slotOf(row: SlotRow, tried: readonly AttemptRow[]): HistorySlot {
  return {
    id: String(row.id),
    chainId: row.chain_id,
    sender: row.sender as Address,
    nonce: row.nonce,
    legKind: row.leg_kind,
    legId: row.leg_id,
    call: { to: row.call_to as Address, data: row.call_data as Hex, value: row.call_value },
    gasLimit: BigInt(row.gas_limit),
    outflow: { currency: row.outflow_currency as Address, amount: row.outflow_amount },
    state: row.state,
    cancelReason: row.cancel_reason ?? undefined,
    deadReason: row.dead_reason ?? undefined,
    minedAttempt: row.mined_attempt ?? undefined,
    minedBlockNumber: row.mined_block_number === null ? undefined : BigInt(row.mined_block_number),
    minedStatus: row.mined_status ?? undefined,
    gasUsed: row.gas_used ?? undefined,
    effectiveGasPrice: row.effective_gas_price ?? undefined,
    createdAtMs: row.created_at_ms,
    attempts: tried.map(attemptOf),
  };
}

function attemptOf(row: AttemptRow): HistoryAttempt {
  return {
    n: row.n,
    kind: row.kind,
    txHash: row.tx_hash as TxHash,
    maxFeePerGas: row.max_fee_per_gas,
    maxPriorityFeePerGas: row.max_priority_fee_per_gas,
    createdAtMs: row.created_at_ms,
    firstBroadcastAtMs: row.first_broadcast_at_ms ?? undefined,
    broadcastAtMs: row.broadcast_at_ms ?? undefined,
  };
}

function eventOf(row: EventRow): HistoryEvent {
  return {
    atMs: row.at_ms,
    event: row.event,
    detail: JSON.parse(row.detail) as Readonly<Record<string, unknown>>,
  };
}

function settlementOf(row: SettlementRow, onHub: ReadonlyMap<string, HubRow>): HistorySettlement {
  return {
    slotId: String(row.slot_id),
    state: row.state,
    reason: row.reason ?? undefined,
    tries: row.tries,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
    executions: [row.deposit_key, row.payment_key].flatMap((key) => {
      const found = key === null ? undefined : onHub.get(key);
      if (found === undefined) return [];
      return {
        kind: found.kind,
        state: found.state,
        idempotencyKey: found.idempotency_key,
        txHash: found.tx_hash ?? undefined,
        createdAtMs: found.created_at_ms,
        settledAtMs: found.settled_at_ms ?? undefined,
      };
    }),
  };
}

function executionOf(row: ExecutionRow | undefined): RequestStory["sponsorship"]["execution"] {
  return (
    row && {
      keyId: row.key_id,
      wallet: row.wallet ?? undefined,
      costUsd: row.cost_usd,
      originUsd: row.origin_usd ?? undefined,
      destinationUsd: row.destination_usd ?? undefined,
      createdAtMs: row.created_at_ms,
    }
  );
}

function holdOf(row: HoldRow | undefined): RequestStory["sponsorship"]["hold"] {
  return (
    row && {
      state: row.state,
      usd: row.usd,
      placedAtMs: row.placed_at_ms,
      resolvedAtMs: row.resolved_at_ms ?? undefined,
    }
  );
}

function fastFillOf(row: FastFillRow | undefined): RequestStory["sponsorship"]["fastFill"] {
  return row && { amount: row.amount, inputAmount: row.input_amount, acceptedAtMs: row.accepted_at_ms };
}

function paidFeesOf(rows: readonly PaidFeesRow[]): RequestStory["sponsorship"]["fees"] {
  const [first] = rows;
  return (
    first && {
      usd: first.usd,
      parts: rows.flatMap(({ chain_id: chainId, currency, amount }) =>
        chainId === null || amount === null ? [] : { chainId, currency: currency as Address, amount },
      ),
    }
  );
}

function movementsOf(rows: readonly MovementRow[]): RequestStory["sponsorship"]["movements"] {
  return [...Map.groupBy(rows, (row) => row.id).values()].flatMap((entries) => {
    const [first] = entries;
    return first === undefined
      ? []
      : {
          context: first.context,
          reason: first.reason,
          wallet: first.wallet,
          atMs: first.created_at_ms,
          entries: entries.map((entry) => ({
            account: entry.account,
            chainId: entry.chain_id,
            currency: entry.currency as Address,
            amount: entry.amount,
          })),
        };
  });
}
