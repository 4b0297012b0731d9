import type {
  Address,
  ChargePart,
  HoldState,
  LedgerAsset,
  LedgerEntry,
  MovementContext,
  RequestId,
} from "@causeway/domain";

/** A wallet's accounts in one asset, base units, never negative. */
export interface BookLine {
  readonly asset: LedgerAsset;
  readonly balance: bigint;
  /** Reserved for open executions and claims. */
  readonly pending: bigint;
  readonly owed: bigint;
}

/** The amount that the active holds of a wallet guarantee in one asset. */
export interface HeldAsset {
  readonly asset: LedgerAsset;
  /** Base units. */
  readonly amount: bigint;
  /** USD with 18 decimals when the holds were placed, including the gas of their fills. */
  readonly usd: bigint;
}

/** All accounts of a wallet. */
export interface WalletBook {
  readonly wallet: Address;
  readonly lines: readonly BookLine[];
  /** USD with 18 decimals: sum of the active holds. */
  readonly heldUsd: bigint;
  readonly held: readonly HeldAsset[];
}

/** Entries that sum to zero per asset; entries of wallet accounts belong to this wallet. */
export interface NewMovement {
  /** Identifies the movement, so that a retry posts it only once. */
  readonly key: string;
  readonly context: MovementContext;
  readonly reason: string;
  readonly wallet: Address;
  readonly requestId: RequestId | undefined;
  readonly entries: readonly LedgerEntry[];
}

/**
 * `execution`: for what the service sends for a user. `fees`: the part of a quote's fees that an app pays.
 */
export type FeePurpose = "execution" | "fees";

/** The budget that fees count against. */
export interface FeeBudget {
  readonly keyId: string;
  /** UTC days since 1970. */
  readonly day: number;
  readonly user: Address;
}

export type ReservationState = "open" | "paid" | "released";

/** Money reserved for the fees of a request. */
export interface Reservation {
  readonly id: string;
  readonly requestId: RequestId;
  readonly wallet: Address;
  /** In the order in which they are charged. */
  readonly parts: readonly ChargePart[];
  /** USD with 18 decimals. */
  readonly usd: bigint;
}

export interface FeesToReserve extends Omit<Reservation, "id" | "wallet"> {
  readonly movementKey: string;
}

export interface ReservationRecord extends Reservation {
  readonly state: ReservationState;
  /** Counts the reservations of its request and purpose, from 1. */
  readonly round: number;
}

/** A reservation to write; by default the first for an execution. */
export interface NewReservation extends Omit<Reservation, "id"> {
  readonly purpose?: FeePurpose;
  readonly round?: number;
  readonly budget?: FeeBudget;
}

/** The deposit that an app guarantees with its balance. */
export interface HoldRecord {
  readonly requestId: RequestId;
  readonly wallet: Address;
  readonly keyId: string;
  readonly state: HoldState;
  /** USD with 18 decimals. */
  readonly usd: bigint;
  /** What is paid out before the deposit: currency and base units on the chain of the fill. */
  readonly chainId: number;
  readonly currency: Address;
  readonly amount: bigint;
  /** How many times the hold was debited. */
  readonly debits: number;
  readonly placedAtMs: number;
  readonly resolvedAtMs: number | undefined;
}

export type NewHold = Omit<HoldRecord, "state" | "debits" | "resolvedAtMs"> & {
  /**
   * Expected value of the deposit above the fill, USD with 18 decimals. Counts as exposure of the key but is
   * not held. Absent: none.
   */
  readonly surplusUsd?: bigint;
};

/** The ledger inside one transaction. Lock the wallet first: earlier reads may be outdated. */
export interface LedgerWrites {
  /** Locks the wallet and creates it if needed. Lock several wallets in ascending order of address. */
  lockWallet(wallet: Address, atMs: number): Promise<WalletBook>;
  /**
   * Writes a movement, unless it was written before.
   * @throws when an account of the wallet would be overdrawn; at commit, when the movement does not balance
   */
  post(movement: NewMovement, atMs: number): Promise<"posted" | "already">;
  /** The entries of an earlier movement; empty if there is none. */
  entriesOf(movementKey: string): Promise<readonly LedgerEntry[]>;

  /** The newest of its purpose, by default `execution`. */
  reservation(requestId: RequestId, purpose?: FeePurpose): Promise<ReservationRecord | undefined>;
  addReservation(reservation: NewReservation, atMs: number): Promise<Reservation>;
  /**
   * Reserves fees for several new requests of a locked wallet: for each, a movement from balance to pending
   * and a reservation.
   * @throws when one of them was written before
   */
  reserveTogether(wallet: Address, fees: readonly FeesToReserve[], atMs: number): Promise<void>;
  /**
   * @param paidUsd what was paid of it, USD with 18 decimals, which budgets count; undefined: all of it, or
   * nothing when released
   */
  closeReservation(id: string, state: "paid" | "released", atMs: number, paidUsd?: bigint): Promise<void>;

  /** Records that apps are not yet credited for a final fill. */
  noteFeesDue(requestId: RequestId, atMs: number): Promise<void>;
  /** Deletes that record. */
  feesCredited(requestId: RequestId): Promise<void>;

  /** Its wallet never changes, so it can be read before the wallet is locked. */
  holdWallet(requestId: RequestId): Promise<Address | undefined>;
  hold(requestId: RequestId): Promise<HoldRecord | undefined>;
  addHold(hold: NewHold): Promise<void>;
  setHold(requestId: RequestId, state: HoldState, debits: number, atMs: number): Promise<void>;
  /** USD with 18 decimals: the key's active holds plus the expected surplus of their deposits. */
  exposureUsd(keyId: string): Promise<bigint>;
}
