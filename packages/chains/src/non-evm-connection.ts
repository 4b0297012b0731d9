import type { Hex, Hex32, OrderId, TxHash, VmType } from "@causeway/domain";
import type { BlockRef, DepositFact } from "@causeway/families/evm";
import type { RpcFault } from "@causeway/families";

/**
 * What the core service does on a chain without contracts of ours and without account nonces as EVM chains
 * have them: it sees deposits and pays. Inside the service addresses and transaction ids of every family are
 * their canonical bytes in hex (`encodeAddress`, `transactionIdBytes` of the domain); only a family's own
 * folder and the edges of the service spell them.
 */
export interface NonEvmConnection {
  readonly vm: VmType;
  /** Where deposits to the solver's depository arrive, and what the solver pays from: canonical bytes. */
  readonly solver: Hex;
  /**
   * Whether a payment under way can be made anew with bytes that conflict with the former: else those must
   * have died first.
   */
  readonly replaces: boolean;
  /** Whether a payment that no node has can be made impossible by another one of the solver's own. */
  readonly takesBack: boolean;
  /** Requests wait for a share of the endpoint's rate limit, for up to two minutes each. */
  readonly isRateLimited?: true;
  /** The cost of a payment depends on its recipient. */
  readonly costsByRecipient?: true;
  /** An attempt's `txId` is ours alone, until `outcome` tells the chain's: nobody else could look it up. */
  readonly idsComeLater?: true;
  /**
   * Deposits that have become final (by the chain's policy) after `cursor`, oldest first, and the cursor
   * behind them. Read again from the same cursor it gives the same, or more. Without a cursor it begins a
   * little before now.
   * @throws RpcFault; nothing was read then
   */
  arrivals(cursor: string | undefined): Promise<NonEvmArrivals>;
  /** Deposits of one transaction. */
  arrivalsOf(transactionId: TxHash): Promise<NonEvmTransaction>;
  /**
   * What the solver can pay with, smallest units, by currency; a currency of which it has none is 0.
   *
   * @throws RpcFault
   */
  balances(currencies: readonly Hex[]): Promise<ReadonlyMap<Hex, bigint>>;
  /**
   * What paying somebody costs the solver now, in the smallest units of the chain's native currency. May be
   * kept for some seconds.
   *
   * @throws RpcFault
   */
  paymentCost(currency: Hex, recipient: Hex | undefined): Promise<bigint>;
  /**
   * Whether such a recipient can be paid at all (a token account that refuses, an output below the dust
   * limit, an account that does not exist); undefined: yes.
   *
   * @throws RpcFault
   */
  refusalOf(payment: Omit<NonEvmPayment, "orderId">): Promise<string | undefined>;
  /**
   * Hands signed bytes to the network; may be done again at any time. `refused`: it says that these bytes can
   * never be accepted (which is not yet proof that they were not accepted before).
   *
   * @throws RpcFault
   */
  send(attempt: NonEvmAttempt): Promise<"sent" | { readonly refused: string }>;
  /**
   * What became of an attempt, by a node's final view wherever the answer is final.
   *
   * @throws RpcFault when nothing is known
   */
  outcome(attempt: NonEvmAttempt): Promise<NonEvmOutcome>;
  /**
   * Called at something new on the chain, where it can be listened to; else at an interval. Returns the
   * unsubscriber.
   */
  onNews(listener: () => void): () => void;
  close(): Promise<void>;
}

/** A connection with the solver's key: it signs. */
export interface PayingConnection extends NonEvmConnection {
  /**
   * Makes and signs a payment: nothing leaves. Sent any number of times the result pays once. With `before`
   * (attempts at the same payment, oldest first, of which none is known to have paid), the new one is such
   * that never both count: it conflicts with them (Bitcoin: an input in common), or they are certain never to
   * count any more. One to the solver himself, for no order, takes them back where that can be.
   * @param reserved what unsettled payments of the solver hold: their raw bytes, so that e.g. no coin is
   * spent twice
   * @throws RpcFault, {@link InsufficientInventory} when the solver has not enough
   */
  prepare(
    payment: NonEvmPayment,
    before: readonly NonEvmAttempt[],
    reserved: readonly Hex[],
  ): Promise<NonEvmAttempt>;
  /**
   * What the solver says of a payment that cannot name its order itself, signed: the same for the same bytes.
   * It must be known where oracles look for it, or the payment is for nothing. Absent where payments name
   * their orders.
   */
  signNonceMapping?(attempt: NonEvmAttempt, orderId: OrderId): Promise<SignedNonceMapping>;
}

/** A connection of its own connections, made from the solver's address alone. */
export interface OpenConnection extends NonEvmConnection {
  /**
   * The same connection and connections, able to pay.
   * @param privateKey of the solver on this chain: an ed25519 seed on Solana, a secp256k1 key elsewhere.
   * Never shown or logged.
   * @throws RangeError when it is not the key of `solver`
   */
  withKey(privateKey: Hex32): PayingConnection | Promise<PayingConnection>;
}

export interface NonEvmArrivals {
  /** All final: their blocks are not taken back. */
  readonly deposits: readonly DepositFact[];
  readonly cursor: string;
  /** The block (slot, ledger) up to which it was read. */
  readonly upTo: Pick<BlockRef, "number" | "hash" | "timestamp">;
  /**
   * When the oldest transfer was made that is known of and was not read, seconds since epoch. Absent: none is
   * left, or the connection cannot tell.
   */
  readonly unreadSince?: bigint;
  /** What kept the rest from being read. Everything that was not read is after `cursor`. */
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

/**
 * What one payment is to do: exactly this, and it carries the order's id as solvers' payments of the family
 * do.
 */
export interface NonEvmPayment {
  readonly recipient: Hex;
  readonly currency: Hex;
  /** Smallest units that the recipient gets. */
  readonly amount: bigint;
  /** Undefined: the payment is for no order (a refund of money nobody attributed). */
  readonly orderId: OrderId | undefined;
}

/**
 * By which nonce a payment is known, and the payer's signature of what it is for (see
 * `nonceMappingTypedData`).
 */
export interface SignedNonceMapping {
  readonly nonce: bigint;
  readonly signature: Hex;
  readonly signatureChainId: number;
}

/** Signed bytes of a payment. */
export interface NonEvmAttempt {
  readonly raw: Hex;
  /** Different for different bytes; where the chain gives ids of its own afterwards, `outcome` says them. */
  readonly txId: TxHash;
  /** Native coin that it costs beside what is paid. */
  readonly fee: bigint;
  /** ms since epoch at which it was made. */
  readonly madeAtMs: number;
}

export type NonEvmOutcome =
  /** No node knows it; it may still come to count. */
  | { readonly kind: "unseen" }
  /** Nodes have it, no block does. */
  | { readonly kind: "pending" }
  /** In a block that may still be taken back. */
  | { readonly kind: "mined"; readonly block: Pick<BlockRef, "number" | "hash">; readonly txId?: TxHash }
  /** It paid, for good. `txId`: the id that the chain gave it, where the attempt could not know it. */
  | { readonly kind: "final"; readonly block: Pick<BlockRef, "number" | "hash">; readonly txId?: TxHash }
  /**
   * It can never count any more: it failed for good, expired, or what it spends is spent otherwise, for good.
   */
  | { readonly kind: "dead"; readonly reason: string };

/** The solver has not enough of a currency for a payment now. */
export class InsufficientInventory extends Error {
  override readonly name = "InsufficientInventory";
}
