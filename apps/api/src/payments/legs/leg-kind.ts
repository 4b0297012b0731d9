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

/** Where legs are found. */
export type LegReads = Pick<Services, "reads" | "balances" | "depositAddresses">;

/** A leg for which something is to be done, as its job read it. */
export interface DueLeg {
  /** Where it is paid, if it is still to be paid. */
  readonly chainId?: number | undefined;
  /** Its live slot: the bytes are signed, or will be, whatever is due now. */
  readonly slot?: Slot | undefined;
  /** As a commit of this process was to leave it, not read since. If it has moved, it is read. */
  readonly isAssumed?: true;
}

/** Why a leg is not paid now: it waits, or it ends unpaid. */
export type Stopped<End> = Progress | { readonly giveUp: End };

/** A payment and its new slot. `request` is undefined if its leg has none, or a pruned one. */
export interface Taken<W extends WantedPayment> {
  readonly wanted: W;
  readonly slot: Slot;
  readonly request: RequestRecord | undefined;
}

/** The commit in which a slot moves. The leg's request, if any, is locked in it, then the slot. */
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
  /** It only transfers: without the token's own event, a mined payment has failed. */
  readonly isTransfer: boolean;
  /** It is never too late for it, so it is offered until a node accepts it, even if the payer lacks gas. */
  readonly isPatient?: true;

  /** How payments of the same moment share commits. Absent: each is sent by itself. */
  readonly together?: {
    /** Batches per lane at the same time. */
    readonly inFlight: number;
    has(wanted: W): boolean;
    /** For these, `lock` locks nothing besides the requests. */
    readonly locksOnlyRequests?: true;
  };
  /**
   * Locks the rows of legs, whose requests are locked, and takes what else they need. What it writes is
   * committed even if it refuses.
   * @returns a verdict for each, in order
   */
  lock(
    services: WorkerServices,
    tx: Tx,
    wanted: readonly W[],
    requests: ReadonlyMap<RequestId, RequestRecord>,
  ): Promise<ReadonlyArray<"due" | "moved" | R>>;
  /** Writes what follows from the new slots. A refusal rolls the commit back. */
  taken?(services: WorkerServices, tx: Tx, taken: ReadonlyArray<Taken<W>>): Promise<R | undefined>;
  /** The refusal that an error of the reserving commit means, if any. */
  refusalOf?(error: unknown): R | undefined;

  /**
   * Restores a payment that was broadcast before the database lost its rows, as `taken` did then. The leg's
   * rows are as old as the database.
   * @param record the leg's request, locked
   * @returns `later`: the leg may become ready for it. `lost`: the leg's own rows are lost, too, or moved on
   */
  restored?(
    services: WorkerServices,
    tx: Tx,
    lost: JournalEntry,
    record: RequestRecord | undefined,
  ): Promise<"taken" | "later" | "lost">;
  /** A repeated payment moves nothing that the first one moved, so a lost one is given up without a trace. */
  readonly isIdempotent?: true;

  /** Whether an unsigned slot must not be signed after all. */
  isForbidden?(services: WorkerServices, connected: LaneChain, slot: Slot): Promise<boolean>;
  /** Nodes have the bytes of these payments, since `atMs`. */
  broadcast?(
    services: WorkerServices,
    tx: Tx,
    sent: ReadonlyArray<{ readonly slot: Slot; readonly attempt: Attempt }>,
    of: { readonly atMs: number; readonly isId: boolean },
  ): Promise<void>;
  mined(leg: MinedLeg): Promise<void>;
  /** The block was reorged out, and the same bytes are sent again. `slot` still has its mined state. */
  orphaned(moment: LegContext, attempt: Attempt): Promise<void>;
  /** The payment succeeded in a final block. */
  final(moment: LegContext): Promise<void>;
  /**
   * The slot's nonce is permanently used and did not pay: it reverted, or something else used it. Only now
   * can the leg be paid in another way.
   */
  dead(moment: LegContext, reason: FailReason): Promise<void>;
  /**
   * How `mined` and `final` outcomes of several legs share a commit: as `mined` and `final` do, for requests
   * that lock no wallet. Absent: each has its own commit.
   */
  readonly outcomesTogether?: {
    mined(services: WorkerServices, tx: Tx, legs: readonly MinedLeg[]): Promise<void>;
    final(services: WorkerServices, tx: Tx, legs: readonly LegContext[]): Promise<void>;
  };
}

/** A kind of payment whose legs jobs find, plan and pay: its whole course, in order. */
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
  /** Reads a leg. Undefined: nothing is to be done. */
  due(services: WorkerServices, id: string): Promise<L | undefined>;
  /**
   * Decides what to pay and simulates it. Writes nothing of the payment.
   * @throws RpcFault, ServiceError: nothing was decided, the job retries
   */
  plan(services: WorkerServices, leg: L): Promise<W | Stopped<End>>;
  /** What to do with a leg that got no slot. Absent: it waits for the payer's inventory. */
  untaken?(services: WorkerServices, leg: L, why: "late" | "short" | R): Promise<Stopped<End>>;
  /** Ends a leg that has no slot. */
  giveUp(services: WorkerServices, leg: L, end: End): Promise<Progress>;
}
