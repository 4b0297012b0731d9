import type {
  Address,
  ChargePart,
  HoldState,
  LedgerAsset,
  LedgerEntry,
  MovementContext,
  RequestId,
} from "@causeway/domain";

/** What a wallet has in one asset, smallest units, none negative. */
export interface BookLine {
  readonly asset: LedgerAsset;
  readonly balance: bigint;
  /** Set aside for executions and claims under way. */
  readonly pending: bigint;
  readonly owed: bigint;
}

/** What the active holds of a wallet have promised in one asset. */
export interface HeldAsset {
  readonly asset: LedgerAsset;
  /** Smallest units. */
  readonly amount: bigint;
  /** USD with 18 decimals, when the holds were placed; with the gas of their fills. */
  readonly usd: bigint;
}

/** Everything a wallet has, every asset that ever moved. */
export interface WalletBook {
  readonly wallet: Address;
  readonly lines: readonly BookLine[];
  /** USD with 18 decimals: sum of the active holds. */
  readonly heldUsd: bigint;
  readonly held: readonly HeldAsset[];
}

/** Entries that sum to zero per asset; those of wallet accounts are this wallet's. */
export interface NewMovement {
  /** The same movement tried again has the same key, and is posted once. */
  readonly key: string;
  readonly context: MovementContext;
  readonly reason: string;
  readonly wallet: Address;
  readonly requestId: RequestId | undefined;
  readonly entries: readonly LedgerEntry[];
}

/** `execution`: of what the service sends for a user. `fees`: of what an app pays of a quote's fees. */
export type FeePurpose = "execution" | "fees";

/** Where fees count in budgets. */
export interface FeeBudget {
  readonly keyId: string;
  /** UTC day, counted from 1970. */
  readonly day: number;
  readonly user: Address;
}

export type ReservationState = "open" | "paid" | "released";

/** Money set aside for the fees of a request. */
export interface Reservation {
  readonly id: string;
  readonly requestId: RequestId;
  readonly wallet: Address;
  /** In the order in which they pay. */
  readonly parts: readonly ChargePart[];
  /** USD with 18 decimals. */
  readonly usd: bigint;
}

export interface FeesToReserve extends Omit<Reservation, "id" | "wallet"> {
  readonly movementKey: string;
}

export interface ReservationRecord extends Reservation {
  readonly state: ReservationState;
  /** The how manieth of its request and purpose, from 1. */
  readonly round: number;
}

/** A reservation to be written; without words of its own it is the first for an execution. */
export interface NewReservation extends Omit<Reservation, "id"> {
  readonly purpose?: FeePurpose;
  readonly round?: number;
  readonly budget?: FeeBudget;
}

/** What an app vouches for. */
export interface HoldRecord {
  readonly requestId: RequestId;
  readonly wallet: Address;
  readonly keyId: string;
  readonly state: HoldState;
  /** USD with 18 decimals. */
  readonly usd: bigint;
  /** What is paid out ahead of the deposit: currency and smallest units on the chain of the fill. */
  readonly chainId: number;
  readonly currency: Address;
  readonly amount: bigint;
  /** How often it became permanent. */
  readonly debits: number;
  readonly placedAtMs: number;
  readonly resolvedAtMs: number | undefined;
}

export type NewHold = Omit<HoldRecord, "state" | "debits" | "resolvedAtMs"> & {
  /**
   * What the deposit is to be worth more: counts in the key's exposure, and is not held. USD with 18
   * decimals; absent: nothing.
   */
  readonly surplusUsd?: bigint;
};

/** The ledger inside one transaction. Lock the wallet first: what is read before that may be old. */
export interface LedgerWrites {
  /**
   * Locks the wallet, making it known when it is new. Of several wallets the lesser address is locked first.
   */
  lockWallet(wallet: Address, atMs: number): Promise<WalletBook>;
  /**
   * Writes a movement, or finds that it was written before.
   * @throws when an account of the wallet would be overdrawn, and at commit when the movement does not
   * balance.
   */
  post(movement: NewMovement, atMs: number): Promise<"posted" | "already">;
  /** The entries of a movement written before; empty when there is none. */
  entriesOf(movementKey: string): Promise<readonly LedgerEntry[]>;

  /** The newest of its purpose, by default `execution`. */
  reservation(requestId: RequestId, purpose?: FeePurpose): Promise<ReservationRecord | undefined>;
  addReservation(reservation: NewReservation, atMs: number): Promise<Reservation>;
  /**
   * The same for several fresh requests of a locked wallet: balance → pending by a movement each, and its
   * reservation.
   *
   * @throws when one of them was written before
   */
  reserveTogether(wallet: Address, fees: readonly FeesToReserve[], atMs: number): Promise<void>;
  /**
   * @param paidUsd what was paid of it, USD with 18 decimals, which budgets count; undefined: all of it, or
   * nothing when released
   */
  closeReservation(id: string, state: "paid" | "released", atMs: number, paidUsd?: bigint): Promise<void>;

  /** Remembers that apps are not credited yet for a fill that is final. */
  noteFeesDue(requestId: RequestId, atMs: number): Promise<void>;
  /** Forgets it: they are. */
  feesCredited(requestId: RequestId): Promise<void>;

  /** Whose hold it is, for good: known before the wallet is locked. */
  holdWallet(requestId: RequestId): Promise<Address | undefined>;
  hold(requestId: RequestId): Promise<HoldRecord | undefined>;
  addHold(hold: NewHold): Promise<void>;
  setHold(requestId: RequestId, state: HoldState, debits: number, atMs: number): Promise<void>;
  /**
   * USD with 18 decimals: sum of the active holds that this key placed, and of the surplus that their
   * deposits are to bring.
   */
  exposureUsd(keyId: string): Promise<bigint>;
}
