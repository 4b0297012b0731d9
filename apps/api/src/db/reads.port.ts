import type { NonceUser } from "../payments/nonce-user.port.ts";
import type { BlockRef } from "@causeway/chains";
import type { Address, DepositId, Hex, OrderId, RequestId, TxHash } from "@causeway/domain";
import type { DueOnChain } from "../deposits/due-on-chain.port.ts";
import type { FillBurnReads } from "../payments/fill-burns.port.ts";
import type { FastFillRecord } from "../balances/fast-fill.port.ts";
import type { ExecutionRecord } from "../payments/executions.port.ts";
import type { Pause } from "../payments/policy/policy.port.ts";
import type { NonEvmReads } from "../chains/non-evm-rows.port.ts";
import type { DepositRecord, RequestRecord, SendRecord, Slot, StatusRecord } from "./records.port.ts";
import type { DepositSighting } from "./unit-of-work.port.ts";
import type { Overdue } from "./job-runs.port.ts";
import type { PrunableTable } from "./prunable.port.ts";

export interface ScannedBlock {
  readonly number: bigint;
  /** Unix seconds. */
  readonly timestamp: bigint;
}

export interface LaneState {
  readonly nextNonce: number;
  readonly hasUnexplained: boolean;
  /** First block of the search for unknown nonces. Undefined: none was noticed. */
  readonly searchFrom: bigint | undefined;
  /**
   * Another database server has answered for less than a minute, and may lack the last commits of the former
   * one.
   */
  readonly isServerNew: boolean;
  /**
   * Whether the lane was compared with its chain on the database server that answers. If not, a failover or a
   * restored backup may have lost its last payments, and it pays nothing.
   */
  readonly isReconciled: boolean;
  /** The lane is reconciled and stored as such: opening it again changes at most its next nonce. */
  readonly isOpen: boolean;
  /**
   * Block since which the chain shows no unknown transaction of a lane that is not reconciled. Undefined: it
   * shows one, or no block was checked.
   */
  readonly quietSince: bigint | undefined;
  /** Since when a lane that is not reconciled waits for its lost payments. Undefined: it does not wait. */
  readonly heldSinceMs: number | undefined;
}

/**
 * Reads outside any transaction. Results may be outdated when used: decisions are made again under a lock.
 */
export interface Reads extends NonEvmReads, SendReads, FillBurnReads, WaitingReads {
  /** For each table, since when its oldest prunable row is due; undefined: it has no prunable row. */
  oldestPrunable(): Promise<Array<{ readonly table: PrunableTable; readonly sinceMs: number | undefined }>>;
  /** Resolves when the database answers. */
  ping(): Promise<void>;
  /** All reads of one tick share a query. */
  status(requestId: RequestId): Promise<StatusRecord | undefined>;
  /**
   * The request for which a transaction deposited; undefined if there is none, or more than one. All reads of
   * one tick share a query.
   */
  requestOfDeposit(txHash: TxHash): Promise<RequestId | undefined>;
  /** The operator's pauses. */
  pauses(): Promise<readonly Pause[]>;
  request(requestId: RequestId): Promise<RequestRecord | undefined>;
  requestsByOrders(orderIds: readonly OrderId[]): Promise<Map<OrderId, RequestRecord>>;
  deposit(id: DepositId): Promise<DepositRecord | undefined>;
  slotOfLeg(kind: string, legId: string): Promise<Slot | undefined>;
  /** The leg's failed slots that reverted on chain. */
  revertedSlotsOfLeg(kind: string, legId: string): Promise<readonly Slot[]>;
  slot(slotId: string): Promise<Slot | undefined>;
  /**
   * The next nonce of a lane, and whether two heads in a row have shown one of its open nonces used by an
   * unknown transaction. Undefined if the lane was never opened.
   */
  lane(chainId: number, sender: Address): Promise<LaneState | undefined>;
  /** Whether a lane ever held anything but hub batches and payouts, which their contracts run once. */
  hasPayments(chainId: number, sender: Address): Promise<boolean>;
  /** Whether any key ever had a lane on this chain. */
  hasLane(chainId: number): Promise<boolean>;
  /**
   * The number above the highest nonce of a lane that was ever broadcast, or used by a payment whose rows
   * were lost; 0 if there is none.
   */
  broadcastBelow(chainId: number, sender: Address): Promise<number>;
  /** Nonces from `from` to below `to` that were allocated to payments of a lane, whatever their outcome. */
  allocatedNonces(chainId: number, sender: Address, from: number, to: number): Promise<ReadonlySet<number>>;
  /** What used these nonces (`from` to below `to`) of a lane without being allocated to them, where known. */
  nonceUsers(
    chainId: number,
    sender: Address,
    from: number,
    to: number,
  ): Promise<ReadonlyMap<number, NonceUser>>;
  /**
   * A transaction by these keys whose rows are lost, and that pays the request or claim `id` or refunds the
   * deposits of transaction `id` on this chain. With `orderId`, also one that names this order on any EVM
   * chain: it was found while the request was lost, too.
   */
  lostPayment(
    chainId: number,
    id: string,
    senders: readonly Address[],
    orderId?: OrderId,
  ): Promise<TxHash | undefined>;
  /**
   * A transaction by these keys on any EVM chain that names this order and whose rows are lost, even if the
   * order was lost with them.
   */
  lostPaymentOfOrder(
    orderId: OrderId,
    senders: readonly Address[],
  ): Promise<{ readonly chainId: number; readonly txHash: TxHash } | undefined>;
  /** The id of an offered or unpaid claim for exactly this payout. */
  unpaidClaimOf(
    chainId: number,
    payout: { readonly currency: Address; readonly recipient: Address; readonly amount: bigint },
  ): Promise<string | undefined>;
  /** All slots of a lane with this nonce or a higher one, in nonce order. */
  slotsFrom(chainId: number, sender: Address, nonce: number): Promise<readonly Slot[]>;
  /** Open and mined slots of these lanes in nonce order. */
  unsettledSlots(chainId: number, ...senders: readonly Address[]): Promise<Slot[]>;
  /**
   * Slots of all lanes of a chain, former keys included, to compare with the chain, by sender and in nonce
   * order: open ones, and mined ones that may be final or orphaned.
   * @param trail.hashes of the canonical blocks, by number
   */
  slotsToTrack(
    chainId: number,
    trail: { readonly finalBlock: bigint; readonly hashes: ReadonlyMap<bigint, string> },
  ): Promise<Slot[]>;
  /** Open slots of these lanes in nonce order. */
  openSlots(chainId: number, ...senders: readonly Address[]): Promise<Slot[]>;
  /** Open and mined slots of hub batches and payouts on a chain, of every sender. */
  unsettledCalls(chainId: number): Promise<Slot[]>;
  /** Whether all these deposits are stored as canonical in their blocks. */
  areRecorded(chainId: number, sightings: readonly DepositSighting[]): Promise<boolean>;
  /** The block up to which logs of final blocks were read a second time. Undefined before the first time. */
  recheckedBlock(chainId: number): Promise<bigint | undefined>;
  /** The newest block whose deposits are all stored. Undefined if the chain was never scanned. */
  cursor(chainId: number): Promise<{ number: bigint; hash: Hex } | undefined>;
  /** The newest block scanned for deposits, by chain id. Chains that were never scanned are missing. */
  scannedBlocks(): Promise<ReadonlyMap<number, ScannedBlock>>;
  /** The stored tail of the chain, oldest first. */
  trail(chainId: number): Promise<BlockRef[]>;
  /**
   * Outflows of the solver's open payments, by chain id and currency. Excludes executions, which spend other
   * funds.
   */
  reserved(): Promise<ReadonlyMap<number, ReadonlyMap<Address, bigint>>>;
  /**
   * Fills without a waiting job, including final ones that have not credited their apps. Those queued again
   * longest ago come first, here as below.
   */
  overdueFills(overdue: Overdue, limit: number): Promise<RequestId[]>;
  /**
   * When the request entered its current state, ms since epoch. Unlike `updatedAtMs`, further deposits do not
   * change it.
   */
  stateSinceMs(requestId: RequestId): Promise<number | undefined>;
  /** Undecided canonical deposits whose order is now known, by ascending id, beyond the deposit `after`. */
  attributableDeposits(
    chainId: number,
    after: DepositId | undefined,
    limit: number,
  ): Promise<DepositRecord[]>;
  /**
   * Undecided canonical deposits without a known order, seen up to a time and in blocks up to a height,
   * oldest first.
   */
  unattributedDeposits(
    chainId: number,
    due: { readonly seenUpToMs: number; readonly upToBlock: bigint; readonly limit: number },
  ): Promise<DepositRecord[]>;
  /**
   * Deposits of these transactions that belong to no request, are in a canonical block, and whose sender can
   * no longer name their order. The first 20.
   */
  depositsWithoutRequest(
    chainIds: readonly number[],
    txHashes: readonly TxHash[],
  ): Promise<readonly DepositRecord[]>;
  /** Whether a transaction made deposits that belong to no request. */
  hasDepositsWithoutRequest(chainId: number, txHash: TxHash): Promise<boolean>;
  overdueRefunds(overdue: Overdue, limit: number): Promise<DepositId[]>;
  /** The terms under which an app guaranteed the request's deposit. */
  fastFill(requestId: RequestId): Promise<FastFillRecord | undefined>;
  /** Fast fills whose deposit waits for a price to be booked, or whose wasted gas is not charged yet. */
  fastFillsDue(limit: number): Promise<RequestId[]>;
  /** Transactions reported for a request before they were mined, oldest first. */
  originTransactions(requestId: RequestId): Promise<TxHash[]>;
  /**
   * Final fast fills without a deposit, with a deadline before `deadlineBeforeMs`, whose origin chain was
   * read to more than `readBeyondMs` after the deadline.
   */
  overdueFastFills(deadlineBeforeMs: number, readBeyondMs: number, limit: number): Promise<RequestId[]>;
  execution(requestId: RequestId): Promise<ExecutionRecord | undefined>;
  /** An unsettled execution of exactly this call. */
  unsettledExecutionOf(
    chainId: number,
    call: { readonly to: Address; readonly data: Hex; readonly value: bigint },
  ): Promise<RequestId | undefined>;
  /** Accepted calls without a nonce and without a waiting job. */
  overdueExecutions(overdue: Overdue, limit: number): Promise<RequestId[]>;
  /** Executions of known cost whose request has ended while their reservation is open. */
  endedExecutions(limit: number): Promise<RequestId[]>;
  routeTimings(): Promise<
    Array<{ originChainId: number; destinationChainId: number; averageMs: number; samples: number }>
  >;
}

/** Same-chain payments that are tracked; oldest first, up to `limit` at once. */
export interface SendReads {
  /** Reported but not mined, after the last one of the previous page. */
  sendReports(chainId: number, after: SendRecord | undefined, limit: number): Promise<SendRecord[]>;
  /**
   * Reported since `sinceMs`, within both limits: the newest of each sender first, so that no sender
   * displaces another.
   */
  freshSendReports(
    chainId: number,
    sinceMs: number,
    limits: { readonly ofRequest: number; readonly ofChain: number },
  ): Promise<SendRecord[]>;
  /**
   * Mined but not settled: in blocks that are no longer canonical by the stored trail, or up to a final
   * block.
   */
  dueSends(
    chainId: number,
    blocks: { readonly head: bigint; readonly final: bigint },
    limit: number,
  ): Promise<Array<{ readonly send: SendRecord; readonly isOrphaned: boolean }>>;
}

/** Requests that wait for a deposit and end when their deadline passes. */
export interface WaitingReads {
  /** Chains that such requests wait on, each with the time of the newest block read, if any. */
  waitingOrigins(): Promise<Array<{ readonly chainId: number; readonly newestBlockMs: number | undefined }>>;
  /** Times of the newest blocks read, one per chain. */
  newestBlocksMs(): Promise<number[]>;
  /**
   * The overdue requests with reported transactions, out of those with the oldest deadlines; if more than
   * `limit`, a random choice.
   */
  overdueReported(
    due: DueOnChain,
    limit: number,
  ): Promise<Array<{ readonly requestId: RequestId; readonly txHashes: readonly TxHash[] }>>;
}
