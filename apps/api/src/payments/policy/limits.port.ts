import type { Address } from "@causeway/domain";
import type { Slot } from "../../db/records.port.ts";

/** The rules of the signing policy, as named in a {@link Refusal}. */
export type Rule =
  | "key"
  | "leg"
  | "call"
  | "order"
  | "recipient"
  | "currency"
  | "amount"
  | "fee"
  | "price"
  | "transaction"
  | "day"
  | "paused";

/** Why a payment is not signed: which rule, what was found, and what the rule allows. */
export interface Refusal {
  readonly rule: Rule;
  readonly found: string;
  readonly limit: string;
}

/** The worker's keys that sign transactions. */
export const keyNames = ["solver", "executor", "depositAddressOperator"] as const;
/** `allocator`: only the process of `operator withdraw` has this key. */
export type KeyName = (typeof keyNames)[number] | "allocator";

/** A limit on what keys may sign. If several limits match a key and chain, all of them apply. */
export interface SpendingLimit {
  /** Undefined: each key. */
  readonly key: KeyName | undefined;
  /** Undefined: each chain. */
  readonly chainId: number | undefined;
  /** Maximum of one transaction, USD with 18 decimals. Undefined: no maximum. */
  readonly transactionUsd: bigint | undefined;
  /** Maximum of a UTC day for this key on one chain, USD with 18 decimals. Undefined: no maximum. */
  readonly dayUsd: bigint | undefined;
  /** Undefined: no maximum. */
  readonly maxFeePerGasWei: bigint | undefined;
}

/** The strictest limits of one key on one chain. */
export type LaneLimits = Pick<SpendingLimit, "transactionUsd" | "dayUsd" | "maxFeePerGasWei">;

/** The contracts that one kind of call may go to. */
export interface SettlementContracts {
  /** Undefined: any. */
  readonly chainId: number | undefined;
  readonly addresses: readonly Address[];
}

/** The parts of a slot that identify its payment. */
export type CountedPayment = Pick<Slot, "id" | "chainId" | "sender" | "nonce" | "call" | "outflow">;

/** The sums that this process has signed, in memory: no change to a database row can lower them. */
export interface SpentMemory {
  /** The sum of a day, USD with 18 decimals. */
  sumOf(day: { readonly chainId: number; readonly key: KeyName; readonly day: number }): bigint;
  /**
   * Counts a payment once, regardless of how often it is signed; if its value has risen, also the difference.
   * A changed row is another payment.
   * @returns the sum of the day with the payment, USD with 18 decimals; nothing is counted if that exceeds
   * `maxUsd`
   */
  add(counted: {
    readonly payment: CountedPayment;
    readonly key: KeyName;
    readonly day: number;
    readonly usd: bigint;
    /** Undefined: the payment is counted in any case. */
    readonly maxUsd: bigint | undefined;
  }): bigint;
  /**
   * Records whether a receipt that this process read proves that the nonce was used without paying. Call it
   * with false after a reorg.
   */
  noteUnpaid(payment: CountedPayment, isUnpaid: boolean): void;
  /** Uncounts a payment whose slot ended without paying, if a receipt proved that; see {@link noteUnpaid}. */
  release(payment: CountedPayment): void;
}
