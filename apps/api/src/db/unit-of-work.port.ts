import type { JournalEntry } from "../payments/payment-journal.port.ts";
import type { NonceUser } from "../payments/nonce-user.port.ts";
import type { BlockRef } from "@causeway/chains";
import type {
  Address,
  DepositId,
  FailReason,
  Hex,
  OrderId,
  RefundFailReason,
  RequestId,
  RequestState,
  RequestTerms,
  TxHash,
} from "@causeway/domain";
import type { FillBurnWrites } from "../payments/fill-burns.port.ts";
import type { FastFillWrites } from "../balances/fast-fill.port.ts";
import type { ExecutionWrites } from "../payments/executions.port.ts";
import type { CommittedEvents } from "./events.port.ts";
import type { PrunableQuotes } from "./prunable.port.ts";
import type { IdempotencyWrites } from "../http/idempotency.port.ts";
import type { DepositAddressWrites } from "../deposits/addresses/deposit-addresses.port.ts";
import type { ClaimWrites } from "../balances/claims.port.ts";
import type { LedgerWrites } from "../balances/ledger.port.ts";
import type { Leg } from "./leg.port.ts";
import type {
  Attempt,
  DepositDisposition,
  DepositRecord,
  RefundState,
  RequestRecord,
  SendRecord,
  Slot,
  SlotPlan,
} from "./records.port.ts";
import type { PolicyWrites } from "../payments/policy/policy.port.ts";
import type { NonceMappingWrites } from "../chains/nonce-mappings.port.ts";
import type { NonEvmWrites } from "../chains/non-evm-rows.port.ts";
import type { DueOnChain } from "../deposits/due-on-chain.port.ts";
import type { JobName } from "./job-name.port.ts";
import type { SponsorKeys } from "../balances/sponsors.port.ts";
import type { TopUpWrites } from "../balances/top-ups.port.ts";
import type { SettlementWrites } from "../settlement/settlement.port.ts";
import type { TraceDetails, TraceEvent } from "../requests/trace.port.ts";

/**
 * Opens all transactions. No network inside `work`: what must be sent is stored, and sent after the commit.
 */
export interface UnitOfWork {
  /** @throws LockTimeout with `lockTimeoutMs`: a row stayed locked by others for longer */
  run<T>(work: (tx: Tx) => Promise<T>, options?: { readonly lockTimeoutMs?: number }): Promise<T>;
}

/** The stores of one transaction. */
export interface Tx {
  /** Events of this transaction: logged and counted after its commit, and dropped without one. */
  readonly events: CommittedEvents;
  readonly requests: RequestWrites;
  readonly deposits: DepositWrites;
  readonly depositAddresses: DepositAddressWrites;
  readonly sends: SendWrites;
  readonly fillBurns: FillBurnWrites;
  readonly lanes: LaneWrites;
  readonly ledger: LedgerWrites;
  readonly executions: ExecutionWrites;
  readonly sponsors: SponsorKeys;
  readonly topUps: TopUpWrites;
  readonly claims: ClaimWrites;
  readonly fastFills: FastFillWrites;
  readonly trail: TrailWrites;
  readonly nonEvm: NonEvmWrites;
  readonly nonceMappings: NonceMappingWrites;
  readonly outbox: Outbox;
  readonly settlement: SettlementWrites;
  readonly idempotency: IdempotencyWrites;
  readonly priceExposure: PriceExposureWrites;
  readonly policy: PolicyWrites;
}

/** Changes that accompany a transition, besides the state. */
export interface RequestChange {
  readonly state: RequestState;
  readonly inTxHashes?: readonly TxHash[];
  readonly txHashes?: readonly TxHash[];
  readonly refundTxHashes?: readonly TxHash[];
}

/** The change of one request among several. */
export interface RequestSave extends RequestChange {
  readonly requestId: RequestId;
  /** Its terms, if this change certainly lists it in history unless it is listed already. */
  readonly enters?: RequestTerms;
  /** Only the name of the state changes, and neither its public status nor its entry in history. */
  readonly isInternal?: true;
}

/** An event for the trace of a request. */
export interface TraceNote<E extends TraceEvent> {
  readonly requestId: RequestId;
  readonly event: E;
  readonly detail: TraceDetails[E];
}

/** The outcome of a deposit. */
export interface DepositOutcome {
  readonly id: DepositId;
  readonly disposition: DepositDisposition;
  readonly reason?: FailReason;
  /** Absent: the deposit keeps its request. */
  readonly requestId?: RequestId | undefined;
}

export interface RequestWrites {
  /** Inserts a request that no quote stored, in the given state. */
  insert(terms: RequestTerms, state: RequestState): Promise<void>;
  /** Locks the row, if there is one. */
  lock(requestId: RequestId): Promise<RequestRecord | undefined>;
  /** Locks those requests that exist, in a fixed order. */
  lockAll(requestIds: readonly RequestId[]): Promise<Map<RequestId, RequestRecord>>;
  /** Locks all requests with these orders, in a fixed order (no deadlocks). */
  lockByOrders(orderIds: readonly OrderId[]): Promise<Map<OrderId, RequestRecord>>;
  save(requestId: RequestId, change: RequestChange, atMs: number): Promise<void>;
  /** {@link save} for many locked requests, each at most once. */
  saveAll(saves: readonly RequestSave[], atMs: number): Promise<void>;
  /** Appends to the trace. */
  note<E extends TraceEvent>(
    requestId: RequestId,
    atMs: number,
    event: E,
    detail: TraceDetails[E],
  ): Promise<void>;
  /** {@link note} for many events, in order. */
  noteAll<E extends TraceEvent>(notes: readonly TraceNote<E>[], atMs: number): Promise<void>;
  /** Adds measured durations (deposit seen → fill mined) to the route's average. */
  recordDurations(
    originChainId: number,
    destinationChainId: number,
    tookMs: readonly number[],
  ): Promise<void>;
  /**
   * Deletes quotes that ended before `beforeMs` and were never paid. Rows that were `seen` but not deleted
   * are not checked again.
   */
  prune(
    quotes: PrunableQuotes,
    beforeMs: number,
    limit: number,
  ): Promise<{ readonly deleted: number; readonly seen: number }>;
  /**
   * Locks requests that wait for a deposit past their deadline; of those with reported origin transactions,
   * only the ones in `checked`.
   */
  lockOverdue(due: DueOnChain, limit: number, checked: readonly RequestId[]): Promise<OverdueRequest[]>;
  /** Locks a request if it still waits for a deposit. */
  lockWaiting(requestId: RequestId): Promise<RequestRecord | undefined>;
}

/** A request past its deadline, without its terms. */
export interface OverdueRequest {
  readonly requestId: RequestId;
  readonly state: RequestState;
  /** A sponsor's balance is reserved for its fees. */
  readonly hasReservedFees: boolean;
}

/** A deposit as read from a canonical block: its permanent id and its current block. */
export interface DepositSighting extends Pick<
  DepositRecord,
  | "txHash"
  | "ordinal"
  | "currency"
  | "amount"
  | "depositor"
  | "sender"
  | "orderId"
  | "blockHash"
  | "isUnattestable"
> {
  /** With `isUnattestable`: the node did not answer in time; the value stored for the same block stays. */
  readonly isAttestabilityUnknown?: true;
}

/** A deposit to store. Its outcome is decided later in the same transaction. */
export interface NewDeposit
  extends
    DepositSighting,
    Pick<DepositRecord, "blockNumber" | "confirmAtBlock" | "depository" | "requestId" | "seenAtMs"> {
  /** USD with 18 decimals if it was agreed, else 0. */
  readonly valueUsd: bigint;
}

/** A transaction that names a request. */
export interface RequestTransaction {
  readonly requestId: RequestId;
  readonly txHash: TxHash;
}

/** A transaction that the service sent for a request: its execution, or a sweep of its deposit address. */
export interface ServiceTransaction extends RequestTransaction {
  /** For a sweep: when its funds arrived, in ms since the epoch. */
  readonly sweptSinceMs: number | undefined;
}

export interface DepositWrites {
  /** The sightings that are not stored, or not as canonical in their block, in their order. */
  unrecorded<Sighting extends DepositSighting>(
    chainId: number,
    sightings: readonly Sighting[],
  ): Promise<Sighting[]>;
  /**
   * Inserts deposits, and moves known ones to their current block. Must not contain a deposit twice. Returns
   * those that changed, in any order.
   */
  record(chainId: number, deposits: readonly NewDeposit[]): Promise<DepositRecord[]>;
  /**
   * Keeps deposits that cannot pay for their own refund, for these reasons. Skips deposits whose refund was
   * started or released.
   * @param onlyUnattributed skips deposits that belong to a request, too
   */
  keepTooSmall(
    deposits: readonly { readonly id: DepositId; readonly reason: FailReason }[],
    onlyUnattributed?: boolean,
  ): Promise<void>;
  /** USD (18 decimals) of accepted canonical deposits in blocks above this one. */
  valueAbove(chainId: number, blockNumber: bigint): Promise<bigint>;
  lock(id: DepositId): Promise<DepositRecord | undefined>;
  /** Locks those deposits that exist, in a fixed order. */
  lockAll(ids: readonly DepositId[]): Promise<Map<DepositId, DepositRecord>>;
  /** Those of the transactions that the service sent for the request that they name, with any nonce. */
  sentByService(transactions: readonly RequestTransaction[]): Promise<ServiceTransaction[]>;
  /** Must not contain a deposit twice. */
  setDispositions(disposed: readonly DepositOutcome[]): Promise<void>;
  /**
   * Assigns the deposit to this request. Its confirmations stay those of a deposit of unknown value, which
   * needs the most.
   */
  assignRequest(id: DepositId, requestId: RequestId, valueUsd: bigint): Promise<void>;
  /** A refund that is no longer in progress does not count toward the limit of unrepaid refunds. */
  setRefund(id: DepositId, state: RefundState, failReason: RefundFailReason | undefined): Promise<void>;
  /** USD (18 decimals) of unrepaid refunds since then. Locks the limit until the end of the transaction. */
  lockUnrepaid(sinceMs: number): Promise<{
    readonly usd: bigint;
    /** The part for deposits without a request. */
    readonly unattributedUsd: bigint;
  }>;
  /** Settlement will never repay the refund in progress. */
  setUnrepaid(
    id: DepositId,
    unrepaid: { readonly usd: bigint; readonly reason: string },
    atMs: number,
  ): Promise<void>;
  /**
   * A deposit of the same request (or, without one, order id), depositor and currency that was reorged out
   * and whose refund was broadcast: this deposit may be the same money under another hash. Call with the
   * request locked, if there is one.
   */
  refundedAndOrphaned(deposit: DepositRecord): Promise<DepositId | undefined>;
  /** Continues the refund, exempt from the daily limit. */
  releaseRefund(id: DepositId, atMs: number): Promise<void>;
  /** Records that the refund waits for room in the limit, or for the operator. False if it already did. */
  recordRefundWait(id: DepositId, reason: string): Promise<boolean>;
  /**
   * Deposits of requests that {@link removeOrphaned} would mark as orphaned, except those whose refund was
   * given up.
   */
  findOrphaned(
    chainId: number,
    aboveBlock: bigint,
    upToBlock: bigint,
    canonicalHashes: readonly Hex[],
  ): Promise<DepositRecord[]>;
  /**
   * Marks deposits of the chain above `aboveBlock` whose block is not in `canonicalHashes` as orphaned, and
   * resets refunds that were given up; returns them.
   */
  removeOrphaned(
    chainId: number,
    aboveBlock: bigint,
    upToBlock: bigint,
    canonicalHashes: readonly Hex[],
  ): Promise<DepositRecord[]>;
  /** Locks canonical deposits of a request on one chain whose refund is due. */
  refundsDue(requestId: RequestId, chainId: number): Promise<DepositRecord[]>;
  /**
   * Locks deposits of a request that match its terms but cannot be attested, and that were kept because an
   * app had the request filled.
   */
  unattestableOf(requestId: RequestId, chainId: number): Promise<DepositRecord[]>;
  /**
   * Canonical accepted deposits that have reached their confirmations while their request still waits for
   * that.
   */
  dueConfirmed(chainId: number, headNumber: bigint): Promise<DepositRecord[]>;
}

export interface SendWrites {
  /**
   * Whether the transaction already counts for a request, or the request has its payment: `same` for this
   * very pair.
   */
  assignmentOf(
    send: Pick<SendRecord, "chainId" | "txHash" | "requestId">,
  ): Promise<"free" | "same" | "assigned">;
  /** How many other pending transactions of this sender are tracked on the chain. */
  countTracked(send: Pick<SendRecord, "chainId" | "sender" | "txHash">): Promise<number>;
  /** Tracks a reported transaction. Repeating it has no effect. */
  report(send: SendRecord): Promise<void>;
  forget(send: SendRecord): Promise<void>;
  /** Makes a report the payment of its request; false if the transaction or the request is already taken. */
  mine(send: SendRecord, block: { number: bigint; hash: Hex }): Promise<boolean>;
  /** Its block was reorged out: it is a report again. False if it was not mined, or is settled. */
  unmine(send: SendRecord, atMs: number): Promise<boolean>;
  settle(send: SendRecord): Promise<void>;
}

/** The outcome of a slot in a canonical block. */
export interface MinedSlot {
  readonly slotId: string;
  readonly attempt: number;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly status: "success" | "reverted";
  readonly gasUsed: bigint;
  readonly effectiveGasPrice: bigint;
}

export interface LaneWrites {
  /**
   * Creates the lane at `chainNonce`, or moves its next nonce up to it if the key was used elsewhere. The
   * lane counts as compared with its chain on this database server.
   */
  open(chainId: number, sender: Address, chainNonce: number): Promise<void>;
  /** Stops the lane's payments until it is opened again. */
  hold(chainId: number, sender: Address): Promise<void>;
  /** Stores since when a lane waits for its lost payments; the first value stays until the lane is opened. */
  noteHeld(chainId: number, sender: Address, atMs: number): Promise<void>;
  /** Stores since which block a held lane shows no unknown transaction. Undefined: it shows one. */
  noteQuiet(chainId: number, sender: Address, block: bigint | undefined): Promise<void>;
  /**
   * Stores the slot and the attempts of a payment that the database has lost, also in a held lane.
   * @returns undefined if another slot has its nonce
   */
  restore(lost: JournalEntry, atMs: number): Promise<Slot | undefined>;
  /** Gives up a nonce to a lost payment whose leg cannot take it back, and stores what used it. */
  skip(chainId: number, sender: Address, nonce: number, user: NonceUser): Promise<void>;
  /**
   * Stores the block from which the lane's unknown nonces are searched; the first value stays until the lane
   * is opened again.
   */
  noteSearchFrom(chainId: number, sender: Address, block: bigint): Promise<void>;
  /**
   * Stores what used a nonce that was allocated to no payment. A later finding replaces an earlier one, whose
   * block may be orphaned.
   */
  noteNonceUser(chainId: number, sender: Address, nonce: number, user: NonceUser): Promise<void>;
  /**
   * Locks the lane of these plans, which are for one kind of leg, and allocates its next nonces to them in
   * order. A leg that is already paid by a nonce not known to be dead gets none: it could be paid twice.
   */
  reserve(plans: readonly SlotPlan[], atMs: number): Promise<readonly Slot[]>;
  /**
   * Outflows in `currency`, and the maximum gas cost, that balances read at `balanceBlock` do not include
   * yet. Valid only while `lockLane` holds the lane.
   */
  reserved(
    chainId: number,
    sender: Address,
    currency: Address,
    balanceBlock: bigint,
  ): Promise<{ amount: bigint; gasWei: bigint }>;
  lockLane(chainId: number, sender: Address): Promise<void>;
  /** Whether a nonce not known to be dead pays this leg. */
  hasLiveSlot(leg: Leg): Promise<boolean>;
  /** Locks slots in a fixed order; by id. */
  lockSlots(slotIds: readonly string[]): Promise<ReadonlyMap<string, Slot>>;
  /** Slots whose attempt this call stored. For the others, another process stored that number first. */
  addAttempts(
    attempts: ReadonlyArray<{ readonly slotId: string; readonly attempt: Attempt }>,
  ): Promise<ReadonlySet<string>>;
  /** Stores attempts that the database has lost, also of canceled slots. @returns see `addAttempts` */
  restoreAttempts(
    lost: ReadonlyArray<{ readonly slotId: string; readonly attempt: Attempt }>,
  ): Promise<ReadonlySet<string>>;
  setBroadcasts(
    sent: ReadonlyArray<{ readonly slotId: string; readonly n: number }>,
    atMs: number,
  ): Promise<void>;
  /** The chain knows an attempt by a different id than was computed when it was made. */
  renameAttempt(slotId: string, n: number, txHash: TxHash): Promise<void>;
  /** A node refused it for now: it is broadcast again after the usual interval, but no node has it. */
  noteRefused(slotId: string, n: number, atMs: number): Promise<void>;
  /** Clears the broadcast times of the slots' attempts, so that they are broadcast again. */
  forgetBroadcasts(slotIds: readonly string[]): Promise<void>;
  setMined(mined: readonly MinedSlot[], atMs: number): Promise<void>;
  setOpen(slotId: string): Promise<void>;
  setFinal(slotIds: readonly string[], atMs: number): Promise<void>;
  /** Drops the signed bytes of up to `limit` attempts whose payment ended before `beforeMs`. */
  dropBytes(beforeMs: number, limit: number): Promise<number>;
  setDead(slotId: string, reason: string): Promise<void>;
  /**
   * The chain has used the open nonce but shows no receipt of ours at this head. A second such head confirms
   * it.
   */
  noteUnexplained(slotId: string, headNumber: bigint): Promise<void>;
  clearUnexplained(slotId: string): Promise<void>;
  cancel(slotId: string, reason: FailReason): Promise<void>;
}

/** The newest block whose deposits are all stored. */
export interface LockedCursor {
  readonly number: bigint;
  readonly hash: Hex;
  /** Hash of the last block of an advance in progress. Undefined: there is none. */
  readonly advancesTo: Hex | undefined;
}

export interface TrailWrites {
  /** Locks the chain's cursor. */
  lockCursor(chainId: number): Promise<LockedCursor | undefined>;
  /** Also ends the advance in progress. */
  setCursor(chainId: number, block: BlockRef): Promise<void>;
  /**
   * Notes that an advance is committed in parts: the trail ends with `ancestor` until its last part.
   * @param to hash of the last block of the advance
   */
  beginAdvance(chainId: number, ancestor: Pick<BlockRef, "number" | "hash">, to: Hex): Promise<void>;
  /** Notes that the logs up to this block were read a second time. */
  setRechecked(chainId: number, blockNumber: bigint): Promise<void>;
  /** The hash that the watcher read at a height; undefined if it is not there yet or was pruned. */
  hashAt(chainId: number, number: bigint): Promise<Hex | undefined>;
  /** Replaces everything above `ancestor` by `blocks`, keeping the newest `keep`. */
  replace(chainId: number, ancestor: bigint, blocks: readonly BlockRef[], keep: number): Promise<void>;
}

export interface OutboxEntry {
  readonly job: JobName;
  /** Unique per intended run: the queue drops duplicates. */
  readonly jobId: string;
  readonly payload: Readonly<Record<string, string | number>>;
}

/** A leg without a waiting job. */
export interface LostJob {
  readonly job: JobName;
  readonly legId: string;
  readonly payload: OutboxEntry["payload"];
}

export interface Outbox {
  /**
   * Adds jobs; all of a transaction are written together at its end. An entry whose id is stored and not yet
   * in the queue has no effect.
   */
  add(entries: readonly OutboxEntry[], atMs: number): Promise<void>;
  /**
   * Queues jobs again, one per leg; after `pauseMs`, then after growing pauses while the leg does not move.
   * @returns how many this call queued
   */
  rescue(lost: readonly LostJob[], atMs: number, pauseMs: number): Promise<number>;
  /** Deletes jobs queued before `beforeMs`, and their recorded runs; returns how many. */
  prune(beforeMs: number, limit: number): Promise<number>;
}

export interface PriceExposureWrites {
  /**
   * Adds a fill to the total started for an asset in this minute; false if it would exceed the limit. The
   * first fill of a minute is always added, because a fill above the limit would otherwise wait forever.
   * @param usd 18 decimals
   * @param maxUsd 18 decimals
   */
  add(priceId: string, usd: bigint, maxUsd: bigint, nowMs: number): Promise<boolean>;
  /** Reads this minute's totals without locking them; USD with 18 decimals. Absent: no fill was added. */
  totals(priceIds: readonly string[], nowMs: number): Promise<ReadonlyMap<string, bigint>>;
}
