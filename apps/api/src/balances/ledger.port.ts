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
  /** Reserved for pending fees and claims. */
  readonly pending: bigint;
  readonly owed: bigint;
}

/** The amount that the active holds of a wallet guarantee in one asset. */
export interface HeldAsset {
  readonly asset: LedgerAsset;
  /** Base units. */
  readonly amount: bigint;
  /** Value when the holds were placed, including the gas of their fills; USD with 18 decimals. */
  readonly usd: bigint;
}

/** All accounts of a wallet. */
export interface WalletBook {
  readonly wallet: Address;
  readonly lines: readonly BookLine[];
  /** Sum of the active holds, USD with 18 decimals. */
  readonly heldUsd: bigint;
  readonly held: readonly HeldAsset[];
}

/** A movement of funds: entries that sum to zero per asset. Entries of wallet accounts belong to `wallet`. */
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
 * `execution`: for a transaction that the service sends for a user. `fees`: for the part of a quote's fees
 * that an app pays.
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

/** Funds reserved for the fees of a request. */
export interface Reservation {
  readonly id: string;
  readonly requestId: RequestId;
  readonly wallet: Address;
  /** The reserved amounts, in the order in which they are charged. */
  readonly parts: readonly ChargePart[];
  /** USD with 18 decimals. */
  readonly usd: bigint;
}

export interface FeesToReserve extends Omit<Reservation, "id" | "wallet"> {
  readonly movementKey: string;
}

export interface ReservationRecord extends Reservation {
  readonly state: ReservationState;
  /** Counts the reservations of the same request and purpose, from 1. */
  readonly round: number;
}

/** A reservation to write. By default, the first for an execution. */
export interface NewReservation extends Omit<Reservation, "id"> {
  readonly purpose?: FeePurpose;
  readonly round?: number;
  readonly budget?: FeeBudget;
}

/** The part of an app's balance that guarantees a deposit. */
export interface HoldRecord {
  readonly requestId: RequestId;
  readonly wallet: Address;
  readonly keyId: string;
  readonly state: HoldState;
  /** USD with 18 decimals. */
  readonly usd: bigint;
  /** The fill that is paid before the deposit: chain, currency and base units. */
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
   * Expected value of the deposit in excess of the fill, USD with 18 decimals. Counts toward the key's
   * exposure but is not held. Absent: none.
   */
  readonly surplusUsd?: bigint;
};

/** Ledger operations inside one transaction. Lock the wallet first: earlier reads may be outdated. */
export interface LedgerWrites {
  /** Locks the wallet and creates it if needed. Lock several wallets in ascending order of address. */
  lockWallet(wallet: Address, atMs: number): Promise<WalletBook>;
  /**
   * Writes a movement, unless a movement with its key was already written.
   * @throws when an account of the wallet would be overdrawn. The commit fails if the movement does not
   * balance.
   */
  post(movement: NewMovement, atMs: number): Promise<"posted" | "already">;
  /** The entries of an earlier movement; empty if there is none. */
  entriesOf(movementKey: string): Promise<readonly LedgerEntry[]>;

  /** Locks the newest reservation of this purpose, by default `execution`. Undefined: there is none. */
  lockReservation(requestId: RequestId, purpose?: FeePurpose): Promise<ReservationRecord | undefined>;
  addReservation(reservation: NewReservation, atMs: number): Promise<Reservation>;
  /**
   * Reserves fees for several new requests of a locked wallet: writes a reservation and a movement from
   * balance to pending for each.
   * @throws when one of the movements or reservations already exists
   */
  reserveTogether(wallet: Address, fees: readonly FeesToReserve[], atMs: number): Promise<void>;
  /**
   * @param paidUsd the paid part, USD with 18 decimals, which budgets count. Undefined: the whole reservation
   * if `paid`, nothing if `released`
   */
  closeReservation(id: string, state: "paid" | "released", atMs: number, paidUsd?: bigint): Promise<void>;

  /** Records that the app fees of a final fill are not credited yet. */
  noteFeesDue(requestId: RequestId, atMs: number): Promise<void>;
  /** Deletes the record of {@link noteFeesDue}. */
  clearFeesDue(requestId: RequestId): Promise<void>;

  /** The wallet of a request's hold. It never changes, so it can be read before the wallet is locked. */
  walletOfHold(requestId: RequestId): Promise<Address | undefined>;
  /** Locks the request's hold, if there is one. */
  lockHold(requestId: RequestId): Promise<HoldRecord | undefined>;
  addHold(hold: NewHold): Promise<void>;
  setHold(requestId: RequestId, state: HoldState, debits: number, atMs: number): Promise<void>;
  /** The key's active holds plus the expected surplus of their deposits, USD with 18 decimals. */
  exposureUsd(keyId: string): Promise<bigint>;
}
