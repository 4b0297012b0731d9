import type {
  Address,
  DepositAddressKey,
  FundsLayer,
  HoldReason,
  OrderId,
  RefundTarget,
  RequestId,
  TxHash,
} from "@causeway/domain";
import type { QuoteInput } from "@causeway/wire";
import type { Overdue } from "../../db/job-runs.port.ts";

/** What a quote for another sum is asked with. */
export type RouteQuestion = Pick<
  QuoteInput,
  "user" | "originChainId" | "originCurrency" | "destinationChainId" | "destinationCurrency"
> &
  Partial<QuoteInput>;

/** An address that was given out. */
export interface DepositAddress {
  readonly address: Address;
  /** Of the quote that it was given out for. */
  readonly requestId: RequestId;
  readonly key: DepositAddressKey;
  /**
   * Asked for as strict: it fills exactly what was quoted. Its key is strict as well unless refunds go to the
   * sender.
   */
  readonly strict: boolean;
  readonly refundTo: RefundTarget;
  /** The currency it was quoted for. */
  readonly quoted: Pick<CurrencyAt, "chainId" | "currency">;
  /** API key that asked; undefined: none did. */
  readonly keyId: string | undefined;
  readonly createdAtMs: number;
  /** When it was given out, or money that its request tells of came last. */
  readonly activeAtMs: number;
}

/** Includes the quote request, which is read only to requote another amount: it may be large. */
export interface NewDepositAddress extends DepositAddress {
  readonly question: RouteQuestion;
}

/** One currency on one chain at one address. */
export interface CurrencyAt {
  readonly address: Address;
  readonly chainId: number;
  readonly currency: Address;
}

/** What lies there and is not on its way. */
export interface ObservedFunds extends CurrencyAt {
  /** Another one whenever the amount changes. */
  readonly observation: number;
  readonly amount: bigint;
  /** What makes up the amount, the oldest first. */
  readonly layers: readonly FundsLayer[];
  /** The block in which the amount was seen to change last. */
  readonly changedBlock: bigint;
  /** When some of it was seen first. */
  readonly seenAtMs: number;
  /** Why it stays there; undefined: it is not decided yet. */
  readonly held: HoldReason | undefined;
  /** The reason that the operator was told last, if money stayed there before. */
  readonly alarmed: HoldReason | undefined;
}

export interface PlannedSweep extends Omit<SweepRecord, "id" | "state" | "txHash" | "refusedSinceMs"> {
  /** Where the money was at the address: a sweep that moves nothing gives it back. */
  readonly layers: readonly FundsLayer[];
}

export type SweepState = "planned" | "sent" | "mined" | "final" | "void";

/** Money moved from an address into the depository. */
export interface SweepRecord extends CurrencyAt {
  readonly id: string;
  readonly observation: number;
  readonly amount: bigint;
  /** Deposited under the same order, beside `amount`. */
  readonly excess: bigint;
  readonly orderId: OrderId;
  readonly requestId: RequestId;
  /** When `amount` was at the address first. */
  readonly arrivedAtMs: number;
  readonly state: SweepState;
  readonly txHash: TxHash | undefined;
  /** When the chain first refused it in a simulation; undefined: the last simulation did not revert. */
  readonly refusedSinceMs: number | undefined;
  readonly createdAtMs: number;
}

/** Deposit addresses inside one transaction. */
export interface DepositAddressWrites {
  insert(address: NewDepositAddress): Promise<void>;
  /** Locks the address: nothing is decided about its money elsewhere until the end of the transaction. */
  lock(address: Address): Promise<DepositAddress | undefined>;
  setActive(address: Address, atMs: number): Promise<void>;
  /** What is observed at a locked address on a chain. */
  funds(chainId: number, address: Address): Promise<readonly ObservedFunds[]>;
  /**
   * Writes down what is there now, as another observation that is to be decided about; nothing is forgotten.
   */
  observe(
    place: CurrencyAt,
    layers: readonly FundsLayer[],
    changedBlock: bigint,
    /** Whether the status of a request tells of it. */
    speaks: boolean,
  ): Promise<void>;
  /**
   * As {@link DepositAddressReads.underWay}; of an address that is locked it stays so until the end of the
   * transaction, but for blocks that come.
   */
  underWay(
    chainId: number,
    addresses: readonly Address[],
    balanceBlock: bigint,
  ): Promise<ReadonlyMap<string, bigint>>;
  /** Locks what is observed; undefined when it is another observation now. */
  lockFunds(place: CurrencyAt, observation: number): Promise<ObservedFunds | undefined>;
  hold(place: CurrencyAt, reason: HoldReason): Promise<void>;
  /** What is on hold at an address of a chain is to be decided about again. */
  release(chainId: number, address: Address): Promise<void>;
  /**
   * Writes to the requests whose money comes through the address what lies there for them, and announces it.
   */
  noteFunds(address: Address, atMs: number): Promise<void>;
  /** @throws when there is a sweep of this observation already */
  addSweep(sweep: PlannedSweep): Promise<string>;
  lockSweep(id: string): Promise<SweepRecord | undefined>;
  setSweep(
    id: string,
    state: SweepState,
    mined?: { readonly blockNumber: bigint; readonly txHash: TxHash },
  ): Promise<void>;
  setRefusedSince(id: string, sinceMs: number | undefined): Promise<void>;
  /**
   * Ends a locked sweep that moved nothing. Its money counts as seen at the address again until the next
   * look, and the requests that its request superseded wait again, unless that request has its money or was
   * fast filled.
   */
  voidSweep(sweep: SweepRecord, atMs: number): Promise<void>;
  /** Whether something was swept for this request, or is about to be. */
  hasSweep(requestId: RequestId): Promise<boolean>;
  /** Sweeps for this request that have a nonce of the executor's lane which is not known to be dead. */
  sweepsWithNonce(requestId: RequestId): Promise<readonly SweepRecord[]>;
  /** The sweep that a transaction was sent for, if it was one for this request. */
  sweepBy(requestId: RequestId, txHash: TxHash): Promise<SweepRecord | undefined>;
  /** The request's money comes through this address. */
  setAddress(requestId: RequestId, address: Address): Promise<void>;
  /** Another request has taken its place; the first one that did stays. */
  supersede(requestId: RequestId, by: RequestId, atMs: number): Promise<void>;
  /** The same for every other request of the address whose sweeps all ended as void. */
  supersedeVoided(address: Address, by: RequestId, atMs: number): Promise<void>;
  supersededBy(requestId: RequestId): Promise<RequestId | undefined>;
}

/** What is not swept of a chain, for metrics. */
export interface UnsweptTotal {
  readonly chainId: number;
  readonly currency: Address;
  readonly held: HoldReason | undefined;
  readonly places: number;
  readonly amount: bigint;
  readonly oldestSeenAtMs: number;
}

/** Reads outside any transaction. */
export interface DepositAddressReads {
  find(address: Address): Promise<DepositAddress | undefined>;
  /** @throws Error for an address that was not given out */
  question(address: Address): Promise<RouteQuestion>;
  /** The address that a request's money comes through, of the first request or of a later one. */
  findByRequest(requestId: RequestId): Promise<DepositAddress | undefined>;
  /**
   * Those with money on a chain that is not decided about; what the status of a request tells of first, then
   * the oldest.
   */
  undecided(chainId: number, limit: number): Promise<readonly DepositAddress[]>;
  /** Those given out or paid lately, newest first. */
  active(sinceMs: number, limit: number): Promise<readonly DepositAddress[]>;
  /** Those whose request waits for its money, in the order of the addresses, after this one. */
  waiting(after: Address, limit: number): Promise<readonly DepositAddress[]>;
  /** All of them, in the order of the addresses, after this one. */
  quiet(after: Address, limit: number): Promise<readonly DepositAddress[]>;
  /** What is observed at these addresses on a chain. */
  funds(chainId: number, addresses: readonly Address[]): Promise<readonly ObservedFunds[]>;
  /** Everything observed at an address. */
  fundsAt(address: Address): Promise<readonly ObservedFunds[]>;
  /**
   * What a balance read at that block still shows, or may show, of money that is on its way, by address and
   * currency.
   */
  underWay(
    chainId: number,
    addresses: readonly Address[],
    balanceBlock: bigint,
  ): Promise<ReadonlyMap<string, bigint>>;
  sweep(id: string): Promise<SweepRecord | undefined>;
  /** The newest sweeps from an address. */
  sweepsFrom(address: Address, limit: number): Promise<readonly SweepRecord[]>;
  /** The sweep that brought a request its money. */
  sweepOf(requestId: RequestId): Promise<SweepRecord | undefined>;
  /** Sweeps of a currency that moved nothing, and when the last of them was planned. */
  voidSweeps(at: CurrencyAt): Promise<{ readonly count: number; readonly lastAtMs: number }>;
  /** Whether something was swept for this request, or another request took its place. */
  isUsed(requestId: RequestId): Promise<boolean>;
  /**
   * Requests of an address that were filled ahead of their deposit and have neither the deposit nor a sweep,
   * the oldest first.
   */
  frontedAt(address: Address): Promise<readonly RequestId[]>;
  /** Planned sweeps that stand without a job. */
  overdue(overdue: Overdue, limit: number): Promise<readonly string[]>;
  unswept(): Promise<readonly UnsweptTotal[]>;
}

/** Key of {@link DepositAddressReads.underWay}. */
export function placeKey(address: Address, currency: Address): string {
  return `${address}:${currency}`;
}
