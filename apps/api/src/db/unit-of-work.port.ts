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
import type { NonceMappingWrites } from "../chains/nonce-mappings.port.ts";
import type { RailWrites } from "../chains/rails.port.ts";
import type { DueOnChain } from "../deposits/due-on-chain.port.ts";
import type { JobName } from "./job-name.port.ts";
import type { SponsorKeys } from "../balances/sponsors.port.ts";
import type { TopUpWrites } from "../balances/top-ups.port.ts";
import type { SettlementWrites } from "../settlement/settlement.port.ts";
import type { TraceDetails, TraceEvent } from "../requests/trace.port.ts";

/**
 * Opens the only transactions there are. No network inside `work`: what must be sent is written down and sent
 * afterwards.
 */
export interface UnitOfWork {
  /** @throws LockTimeout with `lockTimeoutMs`: a row stayed locked by others for longer */
  run<T>(work: (tx: Tx) => Promise<T>, options?: { readonly lockTimeoutMs?: number }): Promise<T>;
}

/** The stores of one transaction. */
export interface Tx {
  /** What happens by this transaction: logged and counted after its commit, and not at all without one. */
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
  readonly rails: RailWrites;
  readonly nonceMappings: NonceMappingWrites;
  readonly outbox: Outbox;
  readonly settlement: SettlementWrites;
  readonly idempotency: IdempotencyWrites;
  readonly priceExposure: PriceExposureWrites;
}

/** What changes with a transition besides the state. */
export interface RequestChange {
  readonly state: RequestState;
  readonly inTxHashes?: readonly TxHash[];
  readonly txHashes?: readonly TxHash[];
  readonly refundTxHashes?: readonly TxHash[];
}

export interface RequestWrites {
  /** A request that no quote stored: its first state is the one given. */
  insert(terms: RequestTerms, state: RequestState): Promise<void>;
  /** Locks the row; undefined when there is none. */
  lock(requestId: RequestId): Promise<RequestRecord | undefined>;
  /** Locks those of these requests that there are, in a fixed order. */
  lockAll(requestIds: readonly RequestId[]): Promise<Map<RequestId, RequestRecord>>;
  /** Locks all requests with these orders, in a fixed order (no deadlocks). */
  lockByOrders(orderIds: readonly OrderId[]): Promise<Map<OrderId, RequestRecord>>;
  save(requestId: RequestId, change: RequestChange, atMs: number): Promise<void>;
  /** Saves the same change to many requests that are locked. */
  saveAll(requestIds: readonly RequestId[], change: RequestChange, atMs: number): Promise<void>;
  /** Appends to the trace. */
  note<E extends TraceEvent>(
    requestId: RequestId,
    atMs: number,
    event: E,
    detail: TraceDetails[E],
  ): Promise<void>;
  /** Appends an event to the traces of several requests. */
  noteAll<E extends TraceEvent>(
    atMs: number,
    event: E,
    details: ReadonlyMap<RequestId, TraceDetails[E]>,
  ): Promise<void>;
  /** Folds one measured run (deposit seen → fill mined) into the route's average. */
  measured(originChainId: number, destinationChainId: number, tookMs: number): Promise<void>;
  /**
   * Deletes quotes that ended before that time and that nothing was ever paid for. Those of `seen` that stay
   * are never looked at again.
   */
  prune(
    quotes: PrunableQuotes,
    beforeMs: number,
    limit: number,
  ): Promise<{ readonly deleted: number; readonly seen: number }>;
  /**
   * Locks requests that wait for a deposit past their deadline; of those with reported origin transactions
   * only the ones in `looked`.
   */
  lockOverdue(due: DueOnChain, limit: number, looked: readonly RequestId[]): Promise<OverdueRequest[]>;
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

/** A deposit as it was read from a canonical block: what names it for good, and where it is now. */
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
  /** With `isUnattestable`: the node was too slow to tell; what is stored of the same block stands. */
  readonly isAttestabilityUnknown?: true;
}

/** A deposit to write down. What becomes of it is decided afterwards, in the same transaction. */
export interface NewDeposit
  extends
    DepositSighting,
    Pick<DepositRecord, "blockNumber" | "confirmAtBlock" | "depository" | "requestId" | "seenAtMs"> {
  /** USD with 18 decimals when it was agreed, else 0. */
  readonly valueUsd: bigint;
}

export interface DepositWrites {
  /** Those that are not stored, or not as canonical in this block, in the order given. */
  unrecorded<Sighting extends DepositSighting>(
    chainId: number,
    sightings: readonly Sighting[],
  ): Promise<Sighting[]>;
  /**
   * Inserts deposits, and moves known ones to the block they are in now. No two may be the same deposit.
   * Returns those that changed, in any order.
   */
  record(chainId: number, deposits: readonly NewDeposit[]): Promise<DepositRecord[]>;
  /**
   * Keeps deposits that cannot pay for their own refund, for these reasons. One whose refund was begun or
   * released stays as it is.
   * @param onlyUnattributed so does one that has been placed with a request
   */
  keepTooSmall(
    deposits: readonly { readonly id: DepositId; readonly reason: FailReason }[],
    onlyUnattributed?: boolean,
  ): Promise<void>;
  /** USD (18 decimals) of accepted canonical deposits in blocks above this one. */
  valueAbove(chainId: number, blockNumber: bigint): Promise<bigint>;
  lock(id: DepositId): Promise<DepositRecord | undefined>;
  setDisposition(
    id: DepositId,
    disposition: DepositDisposition,
    reason: FailReason | undefined,
    requestId: RequestId | undefined,
  ): Promise<void>;
  /**
   * The deposit belongs to this request. Its confirmations stay those of a deposit of unknown worth, the most
   * there are.
   */
  place(id: DepositId, requestId: RequestId, valueUsd: bigint): Promise<void>;
  /** A refund that is not under way any more takes nothing out of the limit of unrepaid refunds. */
  setRefund(id: DepositId, state: RefundState, failReason: RefundFailReason | undefined): Promise<void>;
  /** USD (18 decimals) of unrepaid refunds since then. Locks the limit until the end of the transaction. */
  lockUnrepaid(sinceMs: number): Promise<{
    readonly usd: bigint;
    /** The part that went to deposits of no request. */
    readonly unattributedUsd: bigint;
  }>;
  /** The refund under way is never repaid by settlement. */
  setUnrepaid(
    id: DepositId,
    unrepaid: { readonly usd: bigint; readonly reason: string },
    atMs: number,
  ): Promise<void>;
  /**
   * A deposit of the same request (without one: of the same order id), depositor and currency that no
   * canonical block holds any more, and whose refund was sent: this one may be the same money under another
   * hash. Call with the request locked, if there is one.
   */
  refundedAndOrphaned(deposit: DepositRecord): Promise<DepositId | undefined>;
  /** The refund goes on, exempt from the daily limit. */
  releaseRefund(id: DepositId, atMs: number): Promise<void>;
  /** The refund waits: for room in the limit, or for the operator. False when it did so already. */
  noteRefundWaits(id: DepositId, reason: string): Promise<boolean>;
  /**
   * Deposits of requests that {@link removeOrphaned} would mark as gone, without those whose refund was given
   * up.
   */
  orphaned(
    chainId: number,
    aboveBlock: bigint,
    upToBlock: bigint,
    canonicalHashes: readonly Hex[],
  ): Promise<DepositRecord[]>;
  /**
   * Marks deposits of the chain above `aboveBlock` whose block is not among `canonicalHashes` as gone, and
   * takes back that a refund was given up; returns them.
   */
  removeOrphaned(
    chainId: number,
    aboveBlock: bigint,
    upToBlock: bigint,
    canonicalHashes: readonly Hex[],
  ): Promise<DepositRecord[]>;
  /** Locks canonical deposits of a request on one chain that are to be refunded and are not yet. */
  refundsDue(requestId: RequestId, chainId: number): Promise<DepositRecord[]>;
  /**
   * Locks deposits of a request that are as agreed, but that oracles cannot attest, and that were set aside
   * because an app had the request filled.
   */
  unattestableOf(requestId: RequestId, chainId: number): Promise<DepositRecord[]>;
  /**
   * Canonical accepted deposits that have reached their confirmations and whose request still waits for that.
   */
  dueConfirmed(chainId: number, headNumber: bigint): Promise<DepositRecord[]>;
}

export interface SendWrites {
  /**
   * Whether the transaction counts for a request already, or the request has its payment: `same` when it is
   * this very pair.
   */
  taken(send: Pick<SendRecord, "chainId" | "txHash" | "requestId">): Promise<"free" | "same" | "taken">;
  /** How many other unmined transactions of this sender are followed on the chain. */
  followedOf(send: Pick<SendRecord, "chainId" | "sender" | "txHash">): Promise<number>;
  /** Follows a reported transaction; again changes nothing. */
  report(send: SendRecord): Promise<void>;
  forget(send: SendRecord): Promise<void>;
  /**
   * Takes a report for the payment of its request; false when the transaction or the request has been taken
   * meanwhile.
   */
  mine(send: SendRecord, block: { number: bigint; hash: Hex }): Promise<boolean>;
  /** Its block has vanished: it is a report again. False when it was not mined, or is settled. */
  unmine(send: SendRecord, atMs: number): Promise<boolean>;
  settle(send: SendRecord): Promise<void>;
}

export interface LaneWrites {
  /** Creates the lane at `chainNonce`, or moves its next nonce up to it: the key was used elsewhere. */
  open(chainId: number, sender: Address, chainNonce: number): Promise<void>;
  /**
   * Notes from which block on the lane's unknown nonces are searched; the first note stays until the lane is
   * opened again.
   */
  noteSearchFrom(chainId: number, sender: Address, block: bigint): Promise<void>;
  /**
   * Notes what used a nonce that was given to no payment; a second finding replaces the first: the first
   * one's block may have vanished.
   */
  noteNonceUser(chainId: number, sender: Address, nonce: number, user: NonceUser): Promise<void>;
  /**
   * Locks the lane and gives its next nonce to the plan.
   *
   * @throws LegTaken when a nonce not known to be dead pays this leg already.
   */
  reserve(plan: SlotPlan, atMs: number): Promise<Slot>;
  /**
   * The same for several plans of one locked lane and one kind of leg, in their order; those whose leg is
   * paid for already get none.
   */
  reserveTogether(plans: readonly SlotPlan[], atMs: number): Promise<readonly Slot[]>;
  /**
   * Outflows in `currency`, and the most that gas may cost, of all that balances read at `balanceBlock` do
   * not show yet. Holds only while the lane is locked by `lockLane`.
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
  /** Whether a transaction is one of those that were signed for this leg, by whatever nonce. */
  isAttemptOf(leg: Leg, txHash: TxHash): Promise<boolean>;
  lockSlot(slotId: string): Promise<Slot | undefined>;
  /** False when attempt `n` exists already: somebody else signed first. */
  addAttempt(slotId: string, attempt: Attempt): Promise<boolean>;
  /** Slots whose attempt was stored by this. */
  addAttempts(
    attempts: ReadonlyArray<{ readonly slotId: string; readonly attempt: Attempt }>,
  ): Promise<ReadonlySet<string>>;
  setBroadcast(slotId: string, n: number, atMs: number): Promise<void>;
  setBroadcasts(
    sent: ReadonlyArray<{ readonly slotId: string; readonly n: number }>,
    atMs: number,
  ): Promise<void>;
  /** Forgets that the slot's attempts were broadcast: they are sent again. */
  forgetBroadcast(slotId: string): Promise<void>;
  setMined(
    slotId: string,
    mined: {
      attempt: number;
      blockNumber: bigint;
      blockHash: Hex;
      status: "success" | "reverted";
      gasUsed: bigint;
      effectiveGasPrice: bigint;
      atMs: number;
    },
  ): Promise<void>;
  setOpen(slotId: string): Promise<void>;
  setFinal(slotId: string): Promise<void>;
  setDead(slotId: string, reason: string): Promise<void>;
  /**
   * The chain has used the open nonce and shows no receipt of ours at this head. A second head without one
   * confirms it.
   */
  noteUnexplained(slotId: string, headNumber: bigint): Promise<void>;
  clearUnexplained(slotId: string): Promise<void>;
  cancel(slotId: string, reason: FailReason): Promise<void>;
}

/** The newest block whose deposits are all recorded. */
export interface LockedCursor {
  readonly number: bigint;
  readonly hash: Hex;
  /** Hash of the block that a begun advance ends with. */
  readonly advancesTo: Hex | undefined;
}

export interface TrailWrites {
  /** Locks the chain's cursor. */
  lockCursor(chainId: number): Promise<LockedCursor | undefined>;
  /** Also ends the advance that was begun. */
  setCursor(chainId: number, block: BlockRef): Promise<void>;
  /**
   * Notes that an advance is committed in parts: the trail ends with `ancestor` until its last part.
   * @param to hash of the block that the advance ends with
   */
  beginAdvance(chainId: number, ancestor: Pick<BlockRef, "number" | "hash">, to: Hex): Promise<void>;
  /** Notes that the logs up to this block were read a second time. */
  setRechecked(chainId: number, blockNumber: bigint): Promise<void>;
  /** Hash that the watcher read at a height; undefined when it has not come there or has forgotten it. */
  hashAt(chainId: number, number: bigint): Promise<Hex | undefined>;
  /** Replaces everything above `ancestor` by `blocks`, keeping the newest `keep`. */
  replace(chainId: number, ancestor: bigint, blocks: readonly BlockRef[], keep: number): Promise<void>;
}

export interface OutboxEntry {
  readonly job: JobName;
  /** Unique per intended run: the queue drops a second one with the same id. */
  readonly jobId: string;
  readonly payload: Readonly<Record<string, string | number>>;
}

/** A leg that stands without a job. */
export interface LostJob {
  readonly job: JobName;
  readonly legId: string;
  readonly payload: OutboxEntry["payload"];
}

export interface Outbox {
  /** An entry whose id is there and not on the queue yet changes nothing. */
  add(entries: readonly OutboxEntry[], atMs: number): Promise<void>;
  /**
   * Queues jobs again, one per leg. A leg that does not move is queued again after `pauseMs`, then after
   * pauses that grow.
   * @returns how many were queued by this call
   */
  rescue(lost: readonly LostJob[], atMs: number, pauseMs: number): Promise<number>;
  /** Forgets jobs that were queued before `beforeMs`, and what was noted of their runs; returns how many. */
  prune(beforeMs: number, limit: number): Promise<number>;
}

export interface PriceExposureWrites {
  /**
   * Adds a fill to what was begun for an asset in this minute; false: it would exceed the bound, and nothing
   * was added. The first fill of a minute is always added, or a fill above the bound would wait forever.
   * @param usd 18 decimals
   * @param maxUsd 18 decimals
   */
  add(priceId: string, usd: bigint, maxUsd: bigint, nowMs: number): Promise<boolean>;
}
