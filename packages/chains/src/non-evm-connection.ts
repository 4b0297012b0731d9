import type { DepositAddressKey, Hex, Hex32, OrderId, TxHash, VmType } from "@causeway/domain";
import type { BlockRef, DepositFact } from "@causeway/families/evm";
import type { RpcFault } from "@causeway/families";
import type { EndpointStatus } from "./nodes/endpoint-pool.ts";

/**
 * The service's operations on a chain without our contracts and EVM-like account nonces: it detects deposits
 * and pays. Inside the service, addresses and transaction ids of every family are their canonical bytes in
 * hex (`encodeAddress`, `transactionIdBytes` of the domain); only a family's own folder and the edges of the
 * service use the format of the network.
 */
export interface NonEvmConnection {
  readonly vm: VmType;
  /** The account to which deposits are made and from which the solver pays, in canonical bytes. */
  readonly solver: Hex;
  /**
   * Whether a pending payment can be replaced by bytes that conflict with it; otherwise the old bytes must be
   * dead first.
   */
  readonly canReplace: boolean;
  /** Whether another transaction by the solver can cancel a payment that no node has. */
  readonly canCancel: boolean;
  /** Requests wait for a share of the endpoint's rate limit, for up to two minutes each. */
  readonly isRateLimited?: true;
  /** Whether the cost of a payment depends on its recipient. */
  readonly costDependsOnRecipient?: true;
  /** Addresses of the service, one per order, that users pay. Absent: they are not enabled. */
  readonly depositAddresses?: NonEvmDepositAddresses;
  /**
   * An attempt's `txId` is only internal until `outcome` reports the chain's id; explorers cannot find it.
   */
  readonly hasLateTransactionIds?: true;
  /**
   * Deposits that became final (by the chain's policy) after `cursor`, oldest first, and the cursor after
   * them. Reading from the same cursor again returns the same deposits, or more. Without a cursor, it starts
   * a little before now.
   * @param checked the {@link NonEvmArrivals.checked} of an earlier process, if several endpoints are read
   * @throws RpcFault; then nothing was read
   */
  arrivals(cursor: string | undefined, checked?: string): Promise<NonEvmArrivals>;
  /**
   * Deposits of one transaction.
   * @param shown where another endpoint shows it: an endpoint that has not reached that block, or has pruned
   * it, throws or returns `notFinal` instead of `absent`
   * @throws RpcFault
   */
  arrivalsOf(transactionId: TxHash, shown?: ShownTransaction): Promise<NonEvmTransaction>;
  /**
   * The solver's balances by currency, in base units; may be 0.
   *
   * @throws RpcFault
   */
  balances(currencies: readonly Hex[]): Promise<ReadonlyMap<Hex, bigint>>;
  /**
   * The current fee of a payment for the solver, in base units of the chain's native token. May be cached for
   * some seconds. Of several endpoints, the lower median of those that answer.
   *
   * @param decidedBy `quorum`: a quorum of endpoints must answer. `lead`: only the lead is queried. Absent:
   * one answer is enough
   * @throws RpcFault
   */
  paymentCost(currency: Hex, recipient: Hex | undefined, decidedBy?: "lead" | "quorum"): Promise<bigint>;
  /**
   * Why a recipient cannot be paid (a token account that refuses, an output below the dust limit, an account
   * that does not exist); undefined: it can be.
   *
   * @throws RpcFault
   */
  refusalOf(payment: Omit<NonEvmPayment, "orderId">): Promise<string | undefined>;
  /**
   * Whether an attempt's bytes are this payment of the solver, and `txId` is their id. Rows and journals
   * prove no signature. A payment to the solver itself is one that cancels.
   * @throws RpcFault
   */
  isPayment(attempt: NonEvmAttempt, payment: NonEvmPayment): Promise<boolean>;
  /**
   * Sends signed bytes to the network; may be repeated at any time. `refused`: the network will never accept
   * these bytes (which does not prove that it did not accept them before).
   *
   * @throws RpcFault
   */
  send(attempt: NonEvmAttempt): Promise<"sent" | { readonly refused: string }>;
  /**
   * The outcome of an attempt. Final outcomes come from a node's finalized state.
   *
   * @throws RpcFault if nothing is known
   */
  outcome(attempt: NonEvmAttempt): Promise<NonEvmOutcome>;
  /** The newest state of the node. Absent: the chain cannot tell. @throws RpcFault */
  head?(): Promise<NonEvmHead>;
  /** Its endpoints in the order of the configuration. */
  endpoints?(): readonly EndpointStatus[];
  /**
   * Calls the listener on changes of the chain if it offers a subscription, otherwise at an interval. Returns
   * a function that unsubscribes.
   */
  onNews(listener: () => void): () => void;
  close(): Promise<void>;
}

/** The newest state that a node has. */
export interface NonEvmHead {
  /** Grows with the chain: the number of the newest block, or the chain's clock. */
  readonly position: bigint;
  /** The number of the newest block. Absent: the node shows only a clock. */
  readonly number?: bigint;
}

/** Addresses that are derived from orders. */
export interface NonEvmDepositAddresses {
  /**
   * `keys`: the service holds the key of each address (Bitcoin). `program`: an address of a program, which
   * can only pay into the depository (Solana).
   */
  readonly kind: "keys" | "program";
  /** The address of an order. With `keys`, only its id counts. */
  addressOf(key: AddressKey): Hex;
  /** The cost of one sweep, from the cost of a native payment; both in base units of the native currency. */
  sweepCost(paymentCost: bigint): bigint;
  /** Why this payment cannot arrive at an address or be swept. Absent: any can. @throws RpcFault */
  refusalOf?(payment: { readonly currency: Hex; readonly amount: bigint }): Promise<string | undefined>;
  /**
   * Why money at addresses might not be swept, or swept elsewhere. Absent: nothing to check.
   * @throws RpcFault
   */
  problem?(): Promise<string | undefined>;
  /** The newest block that balances are read at. @throws RpcFault */
  newest(): Promise<Pick<BlockRef, "number" | "hash">>;
  /**
   * The balances that blocks show at addresses. A sweep that is not mined has moved nothing yet.
   * @throws RpcFault
   */
  balances(addresses: readonly AddressToRead[], currencies: readonly Hex[]): Promise<AddressBalances>;
  /**
   * Maximum amount that another sweep of an order's address can move now, in base units: its final balance.
   * @param reserved the raw bytes of the solver's unsettled payments
   * @throws RpcFault
   */
  sweepable(key: AddressKey, currency: Hex, reserved: readonly Hex[]): Promise<bigint>;
}

/** The data from which an address is derived. */
export type AddressKey = Pick<DepositAddressKey, "id" | "depositor" | "strict">;

/** An address to read. */
export interface AddressToRead {
  readonly address: Hex;
  /** All its sweeps that are not final. */
  readonly sweeps: readonly UnsettledSweep[];
}

/** The balances of addresses at one block. */
export interface AddressBalances {
  readonly atBlock: bigint;
  /** `amount` is undefined if it could not be read, or the chain shows other sweeps than the caller. */
  readonly balances: readonly {
    readonly account: Hex;
    readonly currency: Hex;
    readonly amount: bigint | undefined;
  }[];
}

/** A sweep of a deposit address whose outcome is not final. */
export interface UnsettledSweep {
  /** The bytes of all its attempts. */
  readonly raws: readonly Hex[];
  /** The mined attempt, if the caller knows one. */
  readonly minedTxId: TxHash | undefined;
}

/** A connection that signs with the solver's key. */
export interface PayingConnection extends NonEvmConnection {
  /**
   * Creates and signs a payment without sending it. However often the result is sent, it pays once.
   * `earlierAttempts` are attempts at the same payment, oldest first, none of which is known to have paid.
   * The new attempt and an earlier one can never both count: they conflict (Bitcoin: a common input), or the
   * earlier one can certainly no longer count. A payment to the solver itself, for no order, cancels them
   * where possible.
   * @param reserved the raw bytes of the solver's unsettled payments, so that e.g. no output is spent twice
   * @throws RpcFault, {@link InsufficientInventory} if the solver's balance is insufficient
   */
  prepare(
    payment: NonEvmPayment,
    earlierAttempts: readonly NonEvmAttempt[],
    reserved: readonly Hex[],
  ): Promise<NonEvmAttempt>;
  /**
   * Whether this endpoint shows what a new attempt was made from, which another endpoint prepared: the
   * outputs that it spends (Bitcoin), or its blockhash and the block after which it expires (Solana). Absent:
   * nothing to check.
   * @throws RpcFault
   */
  isCurrent?(attempt: NonEvmAttempt): Promise<boolean>;
  /**
   * Whether at most one of these two attempts can ever count, from their bytes alone. Absent: any two can
   * both count.
   */
  readonly conflicts?: (a: NonEvmAttempt, b: NonEvmAttempt) => boolean;
  /**
   * The solver's signed mapping of a payment to its order, for payments that cannot name the order
   * themselves. Deterministic. It must be published where oracles read it, or the payment counts for no
   * order. Absent on chains whose payments name their orders.
   */
  signNonceMapping?(attempt: NonEvmAttempt, orderId: OrderId): Promise<SignedNonceMapping>;
}

/** A connection without the solver's key, created from its address alone. */
export interface OpenConnection extends NonEvmConnection {
  /**
   * The same connection, able to pay.
   * @param privateKey of the solver on this chain: an ed25519 seed on Solana, a secp256k1 key elsewhere.
   * Never shown or logged.
   * @param depositKey the extended private key of deposit addresses, if enabled
   * @throws RangeError if a key does not match `solver` or the deposit addresses
   */
  withKey(privateKey: Hex32, depositKey?: string): PayingConnection | Promise<PayingConnection>;
}

export interface NonEvmArrivals {
  /** All are final: their blocks cannot be reorged out. */
  readonly deposits: readonly DepositFact[];
  readonly cursor: string;
  /**
   * The cursor up to which several endpoints have read, and before which nothing waits for a quorum or to
   * be stored. Absent if one endpoint is enough.
   */
  readonly checked?: string;
  /** Where the reading started if it got no cursor. */
  readonly startedAt?: string;
  /** The block (slot, ledger) up to which it was read. */
  readonly upTo: Pick<BlockRef, "number" | "hash" | "timestamp">;
  /** The time of the oldest known unread transfer, in seconds since epoch. Absent: none, or unknown. */
  readonly unreadSince?: bigint;
  /** The fault that ended the reading. Everything unread is after `cursor`. */
  readonly fault?: RpcFault;
}

/** Where an endpoint shows a transaction. `timestamp` in Unix seconds. */
export type ShownTransaction = Pick<BlockRef, "number" | "timestamp">;

export type NonEvmTransaction =
  | {
      readonly kind: "final";
      readonly deposits: readonly DepositFact[];
      readonly upTo: NonEvmArrivals["upTo"];
    }
  | { readonly kind: "notFinal" }
  | { readonly kind: "absent" };

/** One payment, which carries the order id in the family's format. */
export interface NonEvmPayment {
  readonly recipient: Hex;
  readonly currency: Hex;
  /** Base units that the recipient gets. */
  readonly amount: bigint;
  /** Undefined: the payment is for no order (a refund of funds that could not be attributed). */
  readonly orderId: OrderId | undefined;
  /**
   * The deposit address that provides the amount; the solver only pays the fee. Absent: the solver pays all.
   */
  readonly sweeps?: SweptAddress | undefined;
}

/** The source of a sweep. */
export interface SweptAddress {
  readonly key: AddressKey;
  /** Base units that a second deposit of the same order moves; 0: none. */
  readonly excess: bigint;
}

/** The nonce of a payment, and the payer's signature of its purpose (see `nonceMappingTypedData`). */
export interface SignedNonceMapping {
  readonly nonce: bigint;
  readonly signature: Hex;
  readonly signatureChainId: number;
}

/** Signed bytes of a payment. */
export interface NonEvmAttempt {
  readonly raw: Hex;
  /** Unique for these bytes. If the chain assigns its own id later, `outcome` returns that id. */
  readonly txId: TxHash;
  /** Fee in the native token, in addition to the payment. */
  readonly fee: bigint;
  /** Time of creation, ms since epoch. */
  readonly madeAtMs: number;
  /** Set only if the attempt has no stored row. */
  readonly lost?: LostAttempt;
}

/**
 * What is known about an attempt that only the payment journal has. Its entry may lack other attempts at the
 * payment, and whatever the bytes do not sign may have been changed. The outcome `dead` must be true
 * nevertheless.
 */
export interface LostAttempt {
  /** What it should pay. The outcome `final` means that it or another attempt made this payment. */
  readonly payment: NonEvmPayment;
  /** The payment was not made before this time, ms since epoch. */
  readonly notBeforeMs: number;
}

export type NonEvmOutcome =
  /** No node knows it; it may still be included later. */
  | { readonly kind: "unseen" }
  /** In the mempool, but not in a block. */
  | { readonly kind: "pending" }
  /** In a block that may still be reorged out. */
  | { readonly kind: "mined"; readonly block: Pick<BlockRef, "number" | "hash">; readonly txId?: TxHash }
  /** The payment was made and is final. `txId`: the chain's id, if the attempt could not know it. */
  | { readonly kind: "final"; readonly block: Pick<BlockRef, "number" | "hash">; readonly txId?: TxHash }
  /** It can no longer count: it finally failed or expired, or another final transaction spent its inputs. */
  | { readonly kind: "dead"; readonly reason: string };

/** The solver's balance of a currency is insufficient for a payment now. */
export class InsufficientInventory extends Error {
  override readonly name = "InsufficientInventory";
}
