import type { DepositAddressKey, Hex, Hex32, OrderId, TxHash, VmType } from "@causeway/domain";
import type { BlockRef, DepositFact } from "@causeway/families/evm";
import type { RpcFault } from "@causeway/families";
import type { EndpointStatus } from "./nodes/endpoint-pool.ts";

/**
 * What the core service does on a chain that has neither our contracts nor account nonces like EVM chains: it
 * sees deposits and pays. Inside the service, addresses and transaction ids of every family are their
 * canonical bytes in hex (`encodeAddress`, `transactionIdBytes` of the domain); only a family's own folder
 * and the edges of the service write them in the format of the network.
 */
export interface NonEvmConnection {
  readonly vm: VmType;
  /** Where deposits to the solver's depository arrive, and what the solver pays from: canonical bytes. */
  readonly solver: Hex;
  /**
   * Whether a pending payment can be replaced by bytes that conflict with it; otherwise the old bytes must
   * have died first.
   */
  readonly replaces: boolean;
  /** Whether another transaction of the solver can cancel a payment that no node has. */
  readonly takesBack: boolean;
  /** Requests wait for a share of the endpoint's rate limit, for up to two minutes each. */
  readonly isRateLimited?: true;
  /** The cost of a payment depends on its recipient. */
  readonly costsByRecipient?: true;
  /** Addresses of the service, one per order, that users pay. Absent: they are not enabled. */
  readonly depositAddresses?: NonEvmDepositAddresses;
  /** An attempt's `txId` is only ours until `outcome` reports the chain's: no explorer could find it. */
  readonly idsComeLater?: true;
  /**
   * Deposits that became final (by the chain's policy) after `cursor`, oldest first, and the cursor after
   * them. Reading from the same cursor again returns the same deposits, or more. Without a cursor it begins a
   * little before now.
   * @throws RpcFault; then nothing was read
   */
  arrivals(cursor: string | undefined): Promise<NonEvmArrivals>;
  /** Deposits of one transaction. */
  arrivalsOf(transactionId: TxHash): Promise<NonEvmTransaction>;
  /**
   * The solver's balances by currency, in base units; 0 for a currency of which it has none.
   *
   * @throws RpcFault
   */
  balances(currencies: readonly Hex[]): Promise<ReadonlyMap<Hex, bigint>>;
  /**
   * What a payment costs the solver now, in the smallest units of the chain's native currency. May be cached
   * for some seconds.
   *
   * @throws RpcFault
   */
  paymentCost(currency: Hex, recipient: Hex | undefined): Promise<bigint>;
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
   * The outcome of an attempt, by a node's final view wherever the answer is final.
   *
   * @throws RpcFault when nothing is known
   */
  outcome(attempt: NonEvmAttempt): Promise<NonEvmOutcome>;
  /** Its endpoints in the order of the configuration. */
  endpoints?(): readonly EndpointStatus[];
  /**
   * Called on news from the chain, where it offers a subscription; else at an interval. Returns the
   * unsubscriber.
   */
  onNews(listener: () => void): () => void;
  close(): Promise<void>;
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
  /** What one sweep costs, given what a payment of the native currency does, base units of it. */
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
   * What blocks show at addresses. A sweep that is not mined has moved nothing yet.
   * @throws RpcFault
   */
  held(addresses: readonly AddressToRead[], currencies: readonly Hex[]): Promise<AddressBalances>;
  /**
   * The most that one more sweep of an order's address can move now, in base units: what is final there.
   * @param reserved the raw bytes of the solver's unsettled payments
   * @throws RpcFault
   */
  sweepable(key: AddressKey, currency: Hex, reserved: readonly Hex[]): Promise<bigint>;
}

/** What an address is derived from. */
export type AddressKey = Pick<DepositAddressKey, "id" | "depositor" | "strict">;

/** An address to read. */
export interface AddressToRead {
  readonly address: Hex;
  /** All its sweeps that are not final. */
  readonly sweeps: readonly SweepUnderWay[];
}

/** What addresses hold at one block. */
export interface AddressBalances {
  readonly atBlock: bigint;
  /** Without an amount: it could not be read, or the chain shows other sweeps than the caller. */
  readonly held: readonly {
    readonly account: Hex;
    readonly currency: Hex;
    readonly amount: bigint | undefined;
  }[];
}

/** A sweep of a deposit address whose outcome is not final. */
export interface SweepUnderWay {
  /** The bytes of all its attempts. */
  readonly raws: readonly Hex[];
  /** The attempt in a block, as far as the caller knows. */
  readonly minedTxId: TxHash | undefined;
}

/** A connection that signs with the solver's key. */
export interface PayingConnection extends NonEvmConnection {
  /**
   * Makes and signs a payment without sending it. However often the result is sent, it pays once. `before`
   * holds earlier attempts at the same payment, oldest first, of which none is known to have paid. The new
   * attempt and these can never both count: it conflicts with them (Bitcoin: a common input), or they are
   * certain never to count any more. A payment to the solver itself, for no order, cancels them where
   * possible.
   * @param reserved the raw bytes of the solver's unsettled payments, so that e.g. no output is spent twice
   * @throws RpcFault, {@link InsufficientInventory} when the solver has not enough
   */
  prepare(
    payment: NonEvmPayment,
    before: readonly NonEvmAttempt[],
    reserved: readonly Hex[],
  ): Promise<NonEvmAttempt>;
  /**
   * The solver's signed statement of the order that a payment is for, where the payment cannot name it
   * itself. Deterministic. It must be published where oracles look for it, or the payment counts for no
   * order. Absent where payments name their orders.
   */
  signNonceMapping?(attempt: NonEvmAttempt, orderId: OrderId): Promise<SignedNonceMapping>;
}

/** A connection without the solver's key, made from its address alone. */
export interface OpenConnection extends NonEvmConnection {
  /**
   * The same connection, able to pay.
   * @param privateKey of the solver on this chain: an ed25519 seed on Solana, a secp256k1 key elsewhere.
   * Never shown or logged.
   * @param depositKey the extended private key of deposit addresses, where there are any
   * @throws RangeError when one is not the key of `solver`, or of the deposit addresses
   */
  withKey(privateKey: Hex32, depositKey?: string): PayingConnection | Promise<PayingConnection>;
}

export interface NonEvmArrivals {
  /** All final: their blocks cannot be reorged out. */
  readonly deposits: readonly DepositFact[];
  readonly cursor: string;
  /** The block (slot, ledger) up to which it was read. */
  readonly upTo: Pick<BlockRef, "number" | "hash" | "timestamp">;
  /**
   * The time of the oldest known transfer that was not read, in seconds since epoch. Absent: there is none,
   * or the connection does not know.
   */
  readonly unreadSince?: bigint;
  /** The fault that ended the reading. Everything unread is after `cursor`. */
  readonly fault?: RpcFault;
}

export type NonEvmTransaction =
  | {
      readonly kind: "final";
      readonly deposits: readonly DepositFact[];
      readonly upTo: NonEvmArrivals["upTo"];
    }
  | { readonly kind: "notFinal" }
  | { readonly kind: "absent" };

/** One payment, which carries the order's id in the way of the family. */
export interface NonEvmPayment {
  readonly recipient: Hex;
  readonly currency: Hex;
  /** Base units that the recipient gets. */
  readonly amount: bigint;
  /** Undefined: the payment is for no order (a refund of money that could not be attributed). */
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
  /** Different for different bytes; where the chain assigns its own id later, `outcome` returns it. */
  readonly txId: TxHash;
  /** Native tokens that it costs in addition to what is paid. */
  readonly fee: bigint;
  /** When it was made, ms since epoch. */
  readonly madeAtMs: number;
}

export type NonEvmOutcome =
  /** No node knows it; it may still be included later. */
  | { readonly kind: "unseen" }
  /** Nodes have it, no block does. */
  | { readonly kind: "pending" }
  /** In a block that may still be reorged out. */
  | { readonly kind: "mined"; readonly block: Pick<BlockRef, "number" | "hash">; readonly txId?: TxHash }
  /** It paid and is final. `txId`: the chain's id, where the attempt could not know it. */
  | { readonly kind: "final"; readonly block: Pick<BlockRef, "number" | "hash">; readonly txId?: TxHash }
  /** It can never count any more: it failed, expired, or its inputs were spent otherwise, all final. */
  | { readonly kind: "dead"; readonly reason: string };

/** The solver's balance of a currency is insufficient for a payment now. */
export class InsufficientInventory extends Error {
  override readonly name = "InsufficientInventory";
}
