import type { NonceUser } from "../payments/nonce-user.port.ts";
import type { BlockRef } from "@causeway/chains";
import type { Address, DepositId, Hex, OrderId, RequestId, TxHash } from "@causeway/domain";
import type { DueOnChain } from "../deposits/due-on-chain.port.ts";
import type { FillBurnReads } from "../payments/fill-burns.port.ts";
import type { FastFillRecord } from "../balances/fast-fill.port.ts";
import type { ExecutionRecord } from "../payments/executions.port.ts";
import type { LegKind } from "./leg.port.ts";
import type { RailReads } from "../chains/rails.port.ts";
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
  /** First block to search for unknown nonces; undefined: none was noticed. */
  readonly searchFrom: bigint | undefined;
  /**
   * Another database server answers since less than a minute, and may lack the last commits of the former
   * one.
   */
  readonly isServerNew: boolean;
}

/**
 * Reads outside any transaction. What they say may be old by the time it is used: decisions are taken again
 * under a lock.
 */
export interface Reads extends RailReads, SendReads, FillBurnReads, WaitingReads {
  /** Since when each table has its oldest row that pruning will look at; undefined: there is none. */
  oldestPrunable(): Promise<Array<{ readonly table: PrunableTable; readonly sinceMs: number | undefined }>>;
  /** Settles when the database answers. */
  ping(): Promise<void>;
  /** All questions of one tick go into one query. */
  status(requestId: RequestId): Promise<StatusRecord | undefined>;
  /**
   * The request that a transaction deposited for; undefined when there is none, or more than one. All
   * questions of one tick go into one query.
   */
  requestOfDeposit(txHash: TxHash): Promise<RequestId | undefined>;
  request(requestId: RequestId): Promise<RequestRecord | undefined>;
  requestsByOrders(orderIds: readonly OrderId[]): Promise<Map<OrderId, RequestRecord>>;
  deposit(id: DepositId): Promise<DepositRecord | undefined>;
  slotOfLeg(kind: LegKind, legId: string): Promise<Slot | undefined>;
  /** Those of this leg that are dead because they reverted in a block. */
  revertedSlotsOfLeg(kind: LegKind, legId: string): Promise<readonly Slot[]>;
  slot(slotId: string): Promise<Slot | undefined>;
  /**
   * The next nonce that a lane gives away, and whether two heads in a row have shown one of its open nonces
   * used for something unknown; undefined: it was never opened.
   */
  lane(chainId: number, sender: Address): Promise<LaneState | undefined>;
  /** Whether any key was ever about to pay on this chain. */
  hasLane(chainId: number): Promise<boolean>;
  /** Nonces from `from` to below `to` that were given to payments of a lane, whatever became of them. */
  givenNonces(chainId: number, sender: Address, from: number, to: number): Promise<ReadonlySet<number>>;
  /** Senders of all lanes of a chain, former keys included. */
  laneSenders(chainId: number): Promise<Address[]>;
  /**
   * What used these nonces (`from` to below `to`) of a lane without having been given them, as far as it was
   * found.
   */
  nonceUsers(
    chainId: number,
    sender: Address,
    from: number,
    to: number,
  ): Promise<ReadonlyMap<number, NonceUser>>;
  /**
   * A transaction of these keys that pays the request or claim `id`, or returns the deposits of transaction
   * `id`, on this chain, and whose rows are lost. With `orderId` also one that names this order on any EVM
   * chain: it was found while the request was lost, too.
   */
  lostPayment(
    chainId: number,
    id: string,
    senders: readonly Address[],
    orderId?: OrderId,
  ): Promise<TxHash | undefined>;
  /**
   * A transaction of these keys on any EVM chain that names this order and whose rows are lost, also when the
   * order was lost with them.
   */
  lostPaymentOfOrder(
    orderId: OrderId,
    senders: readonly Address[],
  ): Promise<{ readonly chainId: number; readonly txHash: TxHash } | undefined>;
  /** A claim that is offered or to be paid, for exactly this. */
  unpaidClaimOf(
    chainId: number,
    payout: { readonly currency: Address; readonly recipient: Address; readonly amount: bigint },
  ): Promise<string | undefined>;
  /** Open and mined slots of these lanes in nonce order. */
  unsettledSlots(chainId: number, ...senders: readonly Address[]): Promise<Slot[]>;
  /** Whether all these deposits are stored, as canonical in their blocks. */
  areRecorded(chainId: number, sightings: readonly DepositSighting[]): Promise<boolean>;
  /** Up to which block the logs of final blocks were read a second time; undefined before that began. */
  recheckedBlock(chainId: number): Promise<bigint | undefined>;
  cursor(chainId: number): Promise<{ number: bigint; hash: Hex } | undefined>;
  /**
   * The newest block that was scanned for deposits, by chain id; chains that were never scanned are missing.
   */
  scannedBlocks(): Promise<ReadonlyMap<number, ScannedBlock>>;
  /** The stored tail of the chain, oldest first. */
  trail(chainId: number): Promise<BlockRef[]>;
  /**
   * Sum of what open payments of the solver take out per currency of one chain. What executions spend is not
   * the solver's.
   */
  reservedOn(chainId: number): Promise<Map<Address, bigint>>;
  /**
   * Fills that stand without a job; those that are final and have not credited their apps are among them. The
   * ones queued again longest ago come first, here as below.
   */
  overdueFills(overdue: Overdue, limit: number): Promise<RequestId[]>;
  /**
   * When the request entered its present state, ms since epoch. Further deposits do not change it, unlike
   * `updatedAtMs`.
   */
  stateSinceMs(requestId: RequestId): Promise<number | undefined>;
  /**
   * Canonical deposits about which nothing is decided and whose order has become known, by ascending id after
   * one.
   */
  attributableDeposits(
    chainId: number,
    after: DepositId | undefined,
    limit: number,
  ): Promise<DepositRecord[]>;
  /**
   * Canonical deposits of no known order about which nothing is decided, seen up to a time and in blocks up
   * to a height, the oldest first.
   */
  unattributedDeposits(
    chainId: number,
    due: { readonly seenUpToMs: number; readonly upToBlock: bigint; readonly limit: number },
  ): Promise<DepositRecord[]>;
  /**
   * Deposits of these transactions that belong to no request, are in a canonical block, and whose sender may
   * not name their order any more. The first 20.
   */
  unaskedDeposits(
    chainIds: readonly number[],
    txHashes: readonly TxHash[],
  ): Promise<readonly DepositRecord[]>;
  /** Whether a transaction made deposits that belong to no request. */
  hasUnaskedDeposits(chainId: number, txHash: TxHash): Promise<boolean>;
  overdueRefunds(overdue: Overdue, limit: number): Promise<DepositId[]>;
  /** What was promised when an app vouched for the request's deposit. */
  fastFill(requestId: RequestId): Promise<FastFillRecord | undefined>;
  /** Fast fills whose deposit waits for a price to be booked, or whose burnt gas is not charged yet. */
  fastFillsDue(limit: number): Promise<RequestId[]>;
  /** Transactions reported for a request before they were mined, oldest first. */
  originTransactions(requestId: RequestId): Promise<TxHash[]>;
  /**
   * Fast fills beyond recall whose deposit is not there, with a deadline before this and the origin chain
   * read beyond it.
   */
  overdueFronts(deadlineBeforeMs: number, readBeyondMs: number, limit: number): Promise<RequestId[]>;
  execution(requestId: RequestId): Promise<ExecutionRecord | undefined>;
  /** An execution that is not settled and makes exactly this call. */
  unsettledExecutionOf(
    chainId: number,
    call: { readonly to: Address; readonly data: Hex; readonly value: bigint },
  ): Promise<RequestId | undefined>;
  /** Accepted calls that stand without a nonce and without a job. */
  overdueExecutions(overdue: Overdue, limit: number): Promise<RequestId[]>;
  /** Executions of known cost whose request has ended, and whose reservation is open. */
  endedExecutions(limit: number): Promise<RequestId[]>;
  routeTimings(): Promise<
    Array<{ originChainId: number; destinationChainId: number; averageMs: number; samples: number }>
  >;
}

/** Same-chain payments that are followed; oldest first, up to `limit` at once. */
export interface SendReads {
  /** Reported and not mined, after the last of the page before. */
  sendReports(chainId: number, after: SendRecord | undefined, limit: number): Promise<SendRecord[]>;
  /**
   * Those reported since `sinceMs`, within both limits: the newest of each sender first, so that no sender
   * displaces another.
   */
  freshSendReports(
    chainId: number,
    sinceMs: number,
    limits: { readonly ofRequest: number; readonly ofChain: number },
  ): Promise<SendRecord[]>;
  /** Mined in blocks that are canonical no more, by the stored trail. */
  orphanedSends(chainId: number, headNumber: bigint, limit: number): Promise<SendRecord[]>;
  /** Mined up to a final block and not settled. */
  dueSends(chainId: number, finalBlock: bigint, limit: number): Promise<SendRecord[]>;
}

/** Requests that wait for a deposit and end when their deadline passes. */
export interface WaitingReads {
  /**
   * Chains that such requests wait on, each with the time of the newest block that was read; undefined: none
   * was.
   */
  waitingOrigins(): Promise<Array<{ readonly chainId: number; readonly newestBlockMs: number | undefined }>>;
  /** Times of the newest blocks that were read, one per chain. */
  newestBlocksMs(): Promise<number[]>;
  /**
   * Of the ones with the oldest deadlines, those with reported transactions; when there are more than
   * `limit`, any of them.
   */
  overdueReported(
    due: DueOnChain,
    limit: number,
  ): Promise<Array<{ readonly requestId: RequestId; readonly txHashes: readonly TxHash[] }>>;
}
