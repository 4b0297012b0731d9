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

/** The quote input that a new quote for a different amount uses. */
export type RouteQuestion = Pick<
  QuoteInput,
  "user" | "originChainId" | "originCurrency" | "destinationChainId" | "destinationCurrency"
> &
  Partial<QuoteInput>;

/** A deposit address that was issued. */
export interface DepositAddress {
  readonly address: Address;
  /** The request that it was issued for. */
  readonly requestId: RequestId;
  readonly key: DepositAddressKey;
  /**
   * Requested as strict: fills exactly what was quoted. Its key is strict as well unless refunds go to the
   * sender.
   */
  readonly strict: boolean;
  readonly refundTo: RefundTarget;
  /** The currency that it was quoted for. */
  readonly quoted: Pick<CurrencyAt, "chainId" | "currency">;
  /** The API key of the quote, if any. */
  readonly keyId: string | undefined;
  readonly createdAtMs: number;
  /** When it was issued, or last received funds that its request reports. */
  readonly activeAtMs: number;
}

/** Includes the quote request. It may be large, so it is read only to quote another amount. */
export interface NewDepositAddress extends DepositAddress {
  readonly question: RouteQuestion;
}

/** One currency on one chain at one address. */
export interface CurrencyAt {
  readonly address: Address;
  readonly chainId: number;
  readonly currency: Address;
}

/** Funds at an address that no sweep is moving. */
export interface ObservedFunds extends CurrencyAt {
  /** A new number whenever the amount changes. */
  readonly observation: number;
  readonly amount: bigint;
  /** The parts of the amount, oldest first. */
  readonly layers: readonly FundsLayer[];
  /** The block in which the amount was last seen to change. */
  readonly changedBlock: bigint;
  /** When part of the amount was first seen. */
  readonly seenAtMs: number;
  /** The reason why the funds stay at the address; undefined: not decided yet. */
  readonly held: HoldReason | undefined;
  /** The hold reason of the last alarm, if any. */
  readonly alarmed: HoldReason | undefined;
}

export interface PlannedSweep extends Omit<SweepRecord, "id" | "state" | "txHash" | "refusedSinceMs"> {
  /** The funds at the address before the sweep, restored if it moves nothing. */
  readonly layers: readonly FundsLayer[];
}

export type SweepState = "planned" | "sent" | "mined" | "final" | "void";

/** Funds moved from an address into the depository. */
export interface SweepRecord extends CurrencyAt {
  readonly id: string;
  readonly observation: number;
  readonly amount: bigint;
  /** Deposited under the same order, in addition to `amount`. */
  readonly excess: bigint;
  readonly orderId: OrderId;
  readonly requestId: RequestId;
  /** When `amount` had arrived at the address. */
  readonly arrivedAtMs: number;
  readonly state: SweepState;
  readonly txHash: TxHash | undefined;
  /** When a simulation first reverted; undefined: the last one did not. */
  readonly refusedSinceMs: number | undefined;
  readonly createdAtMs: number;
}

/** Deposit addresses inside one transaction. */
export interface DepositAddressWrites {
  insert(address: NewDepositAddress): Promise<void>;
  find(address: Address): Promise<DepositAddress | undefined>;
  /** Locks the address: no other transaction decides about its funds until this one ends. */
  lock(address: Address): Promise<DepositAddress | undefined>;
  setActive(address: Address, atMs: number): Promise<void>;
  /** The funds observed at a locked address on a chain. */
  funds(chainId: number, address: Address): Promise<readonly ObservedFunds[]>;
  /** Stores the current funds as a new observation, to be decided. */
  observe(
    place: CurrencyAt,
    layers: readonly FundsLayer[],
    changedBlock: bigint,
    /** Whether the status of a request reports these funds. */
    isReported: boolean,
  ): Promise<void>;
  /**
   * As {@link DepositAddressReads.underWay}. While the address is locked, only new blocks change the result.
   */
  underWay(
    chainId: number,
    addresses: readonly Address[],
    balanceBlock: bigint,
  ): Promise<ReadonlyMap<string, bigint>>;
  /** Locks an observation; undefined if it has been replaced. */
  lockFunds(place: CurrencyAt, observation: number): Promise<ObservedFunds | undefined>;
  hold(place: CurrencyAt, reason: HoldReason): Promise<void>;
  /** Makes funds on hold at an address undecided again. */
  release(chainId: number, address: Address): Promise<void>;
  /** Records in the requests of an address which funds are there for them, and announces the change. */
  noteFunds(address: Address, atMs: number): Promise<void>;
  /** @throws if this observation already has a sweep */
  addSweep(sweep: PlannedSweep): Promise<string>;
  lockSweep(id: string): Promise<SweepRecord | undefined>;
  setSweep(
    id: string,
    state: SweepState,
    mined?: { readonly blockNumber: bigint; readonly txHash: TxHash },
  ): Promise<void>;
  setRefusedSince(id: string, sinceMs: number | undefined): Promise<void>;
  /**
   * Ends a locked sweep that moved nothing. Its funds count as seen at the address until the next scan. If
   * its request has no deposit and was not fast filled, the requests that it superseded wait again.
   */
  voidSweep(sweep: SweepRecord, atMs: number): Promise<void>;
  /** Whether a sweep for this request exists that is not void. */
  hasSweep(requestId: RequestId): Promise<boolean>;
  /** Sweeps for this request whose transaction has a nonce, unless the nonce is known to be dead. */
  sweepsWithNonce(requestId: RequestId): Promise<readonly SweepRecord[]>;
  /** Links the request to the address that its deposit comes through. */
  setAddress(requestId: RequestId, address: Address): Promise<void>;
  /** Records that `successorId` replaced a request. An earlier record stays. */
  supersede(requestId: RequestId, successorId: RequestId, atMs: number): Promise<void>;
  /** Records that `successorId` replaced every other request of the address whose sweeps are all void. */
  supersedeVoided(address: Address, successorId: RequestId, atMs: number): Promise<void>;
  supersededBy(requestId: RequestId): Promise<RequestId | undefined>;
}

/** Unswept funds of a chain, for metrics. */
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
  /** @throws Error if the address was not issued */
  question(address: Address): Promise<RouteQuestion>;
  /** The address through which a request is paid: it was issued for this request or for an earlier one. */
  findByRequest(requestId: RequestId): Promise<DepositAddress | undefined>;
  /** Addresses with undecided funds on a chain: those that a request reports first, then the oldest. */
  undecided(chainId: number, limit: number): Promise<readonly DepositAddress[]>;
  /**
   * Addresses issued or paid since `sinceMs`, newest first.
   * @param nonEvmChainId a non-EVM chain; absent: the addresses on EVM chains
   */
  active(sinceMs: number, limit: number, nonEvmChainId?: number): Promise<readonly DepositAddress[]>;
  /** Addresses whose request waits for its deposit, in address order. */
  waiting(after: Address, limit: number, nonEvmChainId?: number): Promise<readonly DepositAddress[]>;
  /** All addresses, in address order. */
  quiet(after: Address, limit: number, nonEvmChainId?: number): Promise<readonly DepositAddress[]>;
  /** The funds observed at these addresses on a chain. */
  funds(chainId: number, addresses: readonly Address[]): Promise<readonly ObservedFunds[]>;
  /** All funds observed at an address. */
  fundsAt(address: Address): Promise<readonly ObservedFunds[]>;
  /** Amounts in sweeps that a balance read at `balanceBlock` may still include, by {@link placeKey}. */
  underWay(
    chainId: number,
    addresses: readonly Address[],
    balanceBlock: bigint,
  ): Promise<ReadonlyMap<string, bigint>>;
  sweep(id: string): Promise<SweepRecord | undefined>;
  /** The newest sweeps from an address. */
  sweepsFrom(address: Address, limit: number): Promise<readonly SweepRecord[]>;
  /** The sweep that brought a request its deposit. */
  sweepOf(requestId: RequestId): Promise<SweepRecord | undefined>;
  /** Sweeps of a currency that moved nothing, and when the last of them was planned. */
  voidSweeps(place: CurrencyAt): Promise<{ readonly count: number; readonly lastAtMs: number }>;
  /** Whether funds were swept for this request, or another request replaced it. */
  isUsed(requestId: RequestId): Promise<boolean>;
  /** Fast-filled requests of an address that have neither a deposit nor a sweep, oldest first. */
  frontedAt(address: Address): Promise<readonly RequestId[]>;
  /** Planned sweeps whose job was lost. */
  overdue(overdue: Overdue, limit: number): Promise<readonly string[]>;
  unswept(): Promise<readonly UnsweptTotal[]>;
}

/** Key of {@link DepositAddressReads.underWay}. */
export function placeKey(address: Address, currency: Address): string {
  return `${address}:${currency}`;
}
