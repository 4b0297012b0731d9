import type { ReceiptFact } from "@causeway/chains";
import type { FailReason, RequestId } from "@causeway/domain";
import type { LaneChain } from "../../chains/chains.port.ts";
import type { Overdue } from "../../db/job-runs.port.ts";
import type { Attempt, RequestRecord, Slot } from "../../db/records.port.ts";
import type { Services, WorkerServices } from "../../db/services.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";
import type { Progress } from "../../db/wait.ts";
import type { JournalEntry } from "../payment-journal.port.ts";
import type { Refused, WantedPayment } from "../wanted-payment.port.ts";

/** The services that find legs. */
export type LegReads = Pick<Services, "reads" | "balances" | "depositAddresses">;

/** A leg that needs work, as its job read it. */
export interface DueLeg {
  /** The chain on which it is paid. Undefined: it must not be paid anymore. */
  readonly chainId?: number | undefined;
  /** Its live slot, whose bytes are or will be signed even if the leg is no longer due. */
  readonly slot?: Slot | undefined;
  /**
   * The leg was derived from a commit of this process instead of read. If its rows have changed, it is read
   * again.
   */
  readonly isAssumed?: true;
}

/** Why a leg is not paid now: it waits, or it ends unpaid. */
export type Stopped<End> = Progress | { readonly giveUp: End };

/** A payment and its new slot. `request` is undefined if the leg has no request, or a pruned one. */
export interface ReservedPayment<W extends WantedPayment> {
  readonly wanted: W;
  readonly slot: Slot;
  readonly request: RequestRecord | undefined;
}

/** The commit in which a slot changes its state. It has locked the leg's request, if any, then the slot. */
export interface LegContext {
  readonly services: WorkerServices;
  readonly tx: Tx;
  readonly slot: Slot;
  /** Undefined if the leg has no request, or a pruned one. */
  readonly record: RequestRecord | undefined;
}

/** A payment (not a no-op) in a canonical block, whether it succeeded or reverted. */
export interface MinedLeg extends LegContext {
  readonly attempt: Attempt;
  readonly receipt: ReceiptFact;
}

/**
 * What the engine needs for a kind of payment: how it is reserved, and the effects of its outcomes. The
 * engine itself reserves slots, signs and sends, independent of the kind.
 */
export interface PaymentKind<W extends WantedPayment = WantedPayment, R extends Refused = Refused> {
  /** Stored with each slot. */
  readonly name: string;
  /** It only transfers a token: a mined payment without the token's transfer event has failed. */
  readonly isTransfer: boolean;
  /** It has no deadline, so it is broadcast until a node accepts it, even if the payer lacks gas. */
  readonly isPatient?: true;

  /** How concurrent payments share commits. Absent: each is sent separately. */
  readonly batching?: {
    /** Batches per lane at the same time. */
    readonly inFlight: number;
    canBatch(wanted: W): boolean;
    /** For these, `lock` locks nothing besides the requests. */
    readonly locksOnlyRequests?: true;
  };
  /**
   * Locks the rows of legs, whose requests are locked already, and reserves what else they need. Its writes
   * are committed even if it refuses a leg.
   * @returns a verdict for each, in order. `due`: reserve its slot. `moved`: it is no longer due. Else: why
   * it is refused
   */
  lock(
    services: WorkerServices,
    tx: Tx,
    wanted: readonly W[],
    requests: ReadonlyMap<RequestId, RequestRecord>,
  ): Promise<ReadonlyArray<"due" | "moved" | R>>;
  /** Writes the effects of reserving these slots. A refusal rolls the commit back. */
  reserved?(
    services: WorkerServices,
    tx: Tx,
    taken: ReadonlyArray<ReservedPayment<W>>,
  ): Promise<R | undefined>;
  /** Converts an error of the commit that reserves slots to a refusal; undefined: it stays an error. */
  refusalOf?(error: unknown): R | undefined;

  /**
   * Writes again what `reserved` wrote for a payment whose rows the database lost after its broadcast. The
   * leg's own rows may be outdated, too.
   * @param record the leg's request, locked
   * @returns `later`: the leg is not ready for the payment yet. `lost`: the leg's own rows are lost, too, or
   * no longer fit the payment
   */
  restored?(
    services: WorkerServices,
    tx: Tx,
    entry: JournalEntry,
    record: RequestRecord | undefined,
  ): Promise<"restored" | "later" | "lost">;
  /** A repeated payment moves nothing twice, so a lost one needs no action. */
  readonly isIdempotent?: true;

  /** Whether an unsigned slot must not be signed after all. */
  isForbidden?(services: WorkerServices, connected: LaneChain, slot: Slot): Promise<boolean>;
  /**
   * Nodes have had the bytes of these payments since `atMs`. `isId`: an attempt's hash is its id on chain;
   * otherwise the id becomes known later.
   */
  broadcast?(
    services: WorkerServices,
    tx: Tx,
    sent: ReadonlyArray<{ readonly slot: Slot; readonly attempt: Attempt }>,
    facts: { readonly atMs: number; readonly isId: boolean },
  ): Promise<void>;
  mined(leg: MinedLeg): Promise<void>;
  /** The block was reorged out, and the same bytes are sent again. `slot` still has its mined state. */
  orphaned(context: LegContext, attempt: Attempt): Promise<void>;
  /** The payment succeeded in a final block. */
  final(context: LegContext): Promise<void>;
  /**
   * The slot's nonce is permanently used and did not pay: it reverted, or something else used it. Only now
   * can the leg be paid in another way.
   */
  dead(context: LegContext, reason: FailReason): Promise<void>;
  /**
   * Like `mined` and `final`, for several legs in one commit whose requests lock no wallet. Absent: each
   * outcome has its own commit.
   */
  readonly batchedOutcomes?: {
    mined(services: WorkerServices, tx: Tx, legs: readonly MinedLeg[]): Promise<void>;
    final(services: WorkerServices, tx: Tx, legs: readonly LegContext[]): Promise<void>;
  };
}

/** A kind of payment whose legs jobs find, plan and pay: every step, in order. */
export interface LegKind<
  L extends DueLeg = DueLeg,
  W extends WantedPayment = WantedPayment,
  End = unknown,
  R extends Refused = Refused,
> extends PaymentKind<W, R> {
  readonly queue: {
    readonly name: string;
    /** Names the leg's id in the payload of its jobs. */
    readonly id: string;
    /** Jobs that one process runs at a time. */
    readonly concurrency: number;
    readonly runsAtCommit?: true;
  };
  /** Legs without a slot that have not moved since then and may have lost their jobs. */
  overdue(services: LegReads, since: Overdue, limit: number): Promise<readonly string[]>;
  /** Reads a leg. Undefined: it needs no work. */
  read(services: WorkerServices, id: string): Promise<L | undefined>;
  /**
   * Decides what to pay and simulates it. Writes nothing of the payment.
   * @throws RpcFault, ServiceError: nothing was decided, the job retries
   */
  plan(services: WorkerServices, leg: L): Promise<W | Stopped<End>>;
  /** What to do with a leg that got no slot. Absent: it waits for the payer's inventory. */
  notReserved?(
    services: WorkerServices,
    leg: L,
    why: "late" | "insufficientFunds" | R,
  ): Promise<Stopped<End>>;
  /** Ends a leg that has no slot. */
  giveUp(services: WorkerServices, leg: L, end: End): Promise<Progress>;
}
