import type { Leg } from "../../db/leg.port.ts";
import type { Address } from "@causeway/domain";
import type { Refusal } from "./limits.port.ts";
import type { KeyName } from "./limits.port.ts";

/** The scope of a pause: everything, all payments from and to a chain, or those of one route. */
export type PauseScope =
  | { readonly kind: "all" }
  | { readonly kind: "chain"; readonly chainId: number }
  | { readonly kind: "route"; readonly originChainId: number; readonly destinationChainId: number };

export interface Pause {
  readonly scope: PauseScope;
  readonly pausedBy: string;
  readonly reason: string;
  readonly sinceMs: number;
}

/** Stores pauses. */
export interface PauseStore {
  list(): Promise<readonly Pause[]>;
  /** A scope that is already paused keeps its first author and time. */
  add(pause: Pause): Promise<Pause>;
  /** False if the scope was not paused. */
  remove(scope: PauseScope): Promise<boolean>;
}

/** A payment that the policy does not allow now. */
export interface PaymentHold {
  readonly leg: Leg;
  readonly chainId: number;
  readonly sender: Address;
  readonly refusal: Refusal;
  readonly why: string;
}

/** A day of a key on a chain. */
export interface SpendingDay {
  readonly chainId: number;
  readonly key: KeyName;
  /** UTC day, counted from 1970. */
  readonly day: number;
}

/** All pauses, and which legs are held. */
export interface Standing {
  readonly pauses: readonly Pause[];
  readonly heldIds: ReadonlySet<string>;
}

/** The policy's reads and writes in the commit that reserves or signs a payment. */
export interface PolicyWrites {
  /** Reads all pauses, and which of these legs are held. */
  standing(kind: string, legIds: readonly string[]): Promise<Standing>;
  /** Holds a payment. True if it was not held before, or was held by another rule. */
  hold(hold: PaymentHold, atMs: number): Promise<boolean>;
  /** Removes the holds of these legs. */
  release(kind: string, legIds: readonly string[]): Promise<void>;
  /** Locks the sum of a day until the transaction ends, USD with 18 decimals. */
  lockDay(day: SpendingDay): Promise<bigint>;
  /** The amount that this slot counts toward its day, USD with 18 decimals; undefined: nothing. */
  countedFor(slotId: string): Promise<bigint | undefined>;
  /** Counts slots that the day did not count; call with the day locked. */
  count(
    day: SpendingDay,
    slots: ReadonlyArray<{ readonly slotId: string; readonly usd: bigint }>,
  ): Promise<void>;
  /** The slot ended without paying: the day no longer counts it. */
  releaseSpending(slotId: string): Promise<void>;
  /** The slots paid: the day counts them permanently. */
  keepSpending(slotIds: readonly string[]): Promise<void>;
}
