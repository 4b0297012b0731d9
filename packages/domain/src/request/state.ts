import { unreachable } from "../errors.ts";
import type { RequestKind } from "./terms.ts";
import type { FailReason, RefundFailReason } from "./reasons.ts";

/**
 * Whether the user's own transaction is the whole request and the service only tracks it: it has no deposit
 * and is never filled.
 */
export function isWatchedOnly(kind: RequestKind): kind is "send" | "swap" {
  return kind === "send" || kind === "swap";
}

/** States of a request. Finer than what clients see; `public-status.ts` maps them. */
export const requestStates = [
  "quoted",
  "accepted",
  "depositing",
  "deposited",
  "fillable",
  "filling",
  "submitted",
  "filled",
  "refunding",
  "refunded",
  "failed",
  "expired",
] as const;
export type StateName = (typeof requestStates)[number];

/** Row id of a deposit, decimal text. */
export type DepositId = string;

/**
 * How an app guarantees a fill that does not wait for the deposit. `held`: a hold reduces the app's balance.
 * `covered`: the deposit is confirmed, and the hold is released once the fill is final too. `debited`: the
 * deposit did not arrive and the app paid.
 */
export const frontStates = ["none", "held", "covered", "debited"] as const;
export type FrontState = (typeof frontStates)[number];

export interface RequestState {
  readonly name: StateName;
  readonly kind: RequestKind;
  readonly front: FrontState;
  /** The accepted deposit, or the one being refunded. */
  readonly depositId: DepositId | undefined;
  readonly failReason: FailReason | undefined;
  readonly refundFailReason: RefundFailReason | undefined;
  /** The outcome is final: no reorg can change it. */
  readonly final: boolean;
}

/** How a deposit relates to the request that it names, see `judge-deposit.ts`. */
export type DepositVerdict =
  | { readonly kind: "match" }
  /**
   * Does not match the terms. `byUser`: the quoted user's own account signed it, or it is the request's own
   * execution, so that it affects the request.
   */
  | { readonly kind: "mismatch"; readonly reason: FailReason; readonly byUser: boolean };

export type RequestEvent =
  | {
      readonly kind: "depositSeen";
      readonly depositId: DepositId;
      readonly verdict: DepositVerdict;
      readonly confirmed: boolean;
      /** The deposit arrived after the fill deadline. */
      readonly late: boolean;
      /** The guaranteed fill is too old to be settled against the deposit. */
      readonly beyondLead?: boolean;
      /** The request's deposit was orphaned, and no refund of it was sent. */
      readonly replaces?: boolean;
    }
  | { readonly kind: "depositConfirmed"; readonly depositId: DepositId }
  /** A reorg moved the deposit into a newer block, so it needs more confirmations again. */
  | { readonly kind: "depositUnconfirmed"; readonly depositId: DepositId }
  | { readonly kind: "depositRemoved"; readonly depositId: DepositId }
  | { readonly kind: "fillPlanned" }
  | { readonly kind: "fillBroadcast" }
  | { readonly kind: "fillMined" }
  | { readonly kind: "fillUnmined" }
  | { readonly kind: "fillFinal" }
  | {
      readonly kind: "fillDead";
      readonly reason: FailReason;
      /** The deposit was orphaned, so there is nothing to refund. */
      readonly isDepositOrphaned: boolean;
      /** Prices moved too far before the fill was mined: plan it again. */
      readonly shouldReplan?: boolean;
    }
  | { readonly kind: "fillImpossible"; readonly reason: FailReason }
  /** The service will send the origin transaction for the user. */
  | { readonly kind: "executionAccepted" }
  | { readonly kind: "executionMined" }
  /** The execution was mined without effect: it reverted, or the user operation inside did. */
  | { readonly kind: "executionReverted"; readonly reason: FailReason }
  | { readonly kind: "executionUnmined" }
  | { readonly kind: "executionFinal" }
  /** The execution will never be mined, or was never sent. */
  | { readonly kind: "executionDead"; readonly reason: FailReason }
  /** An app guarantees the deposit: its hold is placed in the same commit. */
  | { readonly kind: "fastFillAccepted" }
  /** The deposit of a fast fill can no longer arrive in time. */
  | { readonly kind: "frontOverdue" }
  | { readonly kind: "sendMined" }
  | { readonly kind: "sendUnmined" }
  | { readonly kind: "sendFinal" }
  | { readonly kind: "refundMined"; readonly depositId: DepositId }
  | { readonly kind: "refundUnmined"; readonly depositId: DepositId }
  | { readonly kind: "refundFinal"; readonly depositId: DepositId }
  | { readonly kind: "refundImpossible"; readonly depositId: DepositId; readonly reason: RefundFailReason }
  /** The operator released the refund of a deposit that could not be refunded automatically. */
  | { readonly kind: "refundReleased"; readonly depositId: DepositId }
  | { readonly kind: "deadlinePassed" };

/** The consequences of a transition, stored in the outbox or the deposit's row in the same commit. */
export type Effect =
  | { readonly kind: "fill" }
  /** Deposit and fill are final, or nothing was paid: the app's balance is free again. */
  | { readonly kind: "releaseHold" }
  /** The deposit was orphaned: the hold is active again. */
  | { readonly kind: "reinstateHold" }
  /** The deposit did not arrive: the app pays. */
  | { readonly kind: "debitHold" }
  /** The deposit arrived after the app had paid: the app gets its payment back. */
  | { readonly kind: "returnHold" }
  | { readonly kind: "acceptDeposit"; readonly depositId: DepositId }
  | { readonly kind: "refundDeposit"; readonly depositId: DepositId; readonly reason: FailReason };

interface Applied {
  readonly kind: "applied";
  readonly next: RequestState;
  readonly effects: readonly Effect[];
}

export type Decision =
  | Applied
  /** A duplicate or late event: there is nothing to do. */
  | { readonly kind: "already"; readonly state: RequestState }
  /**
   * The event cannot happen in this state, because of a bug or a false report: nothing changes and an alarm
   * is raised.
   */
  | { readonly kind: "rejected"; readonly state: RequestState; readonly reason: string };

/** The state of a fresh quote. */
export function quotedState(kind: RequestKind): RequestState {
  return {
    name: "quoted",
    kind,
    front: "none",
    depositId: undefined,
    failReason: undefined,
    refundFailReason: undefined,
    final: false,
  };
}

/**
 * Whether nothing has happened since the quote. Untouched requests of one kind have the same state, so an
 * event has the same effect on all of them.
 */
export function isUntouched(state: RequestState): boolean {
  const { name, front, depositId, failReason, refundFailReason, final } = quotedState(state.kind);
  return (
    state.name === name &&
    state.front === front &&
    state.depositId === depositId &&
    state.failReason === failReason &&
    state.refundFailReason === refundFailReason &&
    state.final === final
  );
}

/** The state machine of a request: total over states and events. */
export function decide(state: RequestState, event: RequestEvent): Decision {
  switch (event.kind) {
    case "depositSeen":
      return onDepositSeen(state, event);
    case "depositConfirmed":
      if (state.depositId !== event.depositId) return already(state);
      if (state.name === "deposited") return transitionTo(state, { name: "fillable" }, { kind: "fill" });
      return isFronted(state) ? cover(state) : already(state);
    case "depositUnconfirmed":
      return onDepositUnconfirmed(state, event.depositId);
    case "depositRemoved":
      return onDepositRemoved(state, event.depositId);
    case "fillPlanned":
      if (state.name === "fillable") return transitionTo(state, { name: "filling" });
      return already(state);
    case "fillBroadcast":
      if (state.name === "filling") return transitionTo(state, { name: "submitted" });
      return already(state);
    case "fillMined":
      if (state.name === "filling" || state.name === "submitted")
        return transitionTo(state, { name: "filled", final: false });
      return state.name === "filled" ? already(state) : rejected(state, event);
    case "fillUnmined":
      if (state.name === "filled" && state.kind === "bridge")
        return state.final ? rejected(state, event) : transitionTo(state, { name: "submitted" });
      return already(state);
    case "fillFinal":
      if (state.name === "filled" && !state.final) {
        const isCovered = state.front === "covered";
        return transitionTo(state, { final: true }, ...(isCovered ? [{ kind: "releaseHold" } as const] : []));
      }
      return state.name === "filled" ? already(state) : rejected(state, event);
    case "fillDead":
      if (state.name === "filling" || state.name === "submitted") {
        if (event.isDepositOrphaned) return waitAgain(state, { depositId: undefined, final: false });
        const isBacked = state.front === "none" && state.depositId !== undefined;
        return event.shouldReplan === true && isBacked
          ? transitionTo(state, { name: "fillable" }, { kind: "fill" })
          : giveUp(state, event.reason);
      }
      // The recipient was paid: a refund as well would pay twice.
      return state.name === "filled" ? rejected(state, event) : already(state);
    case "fillImpossible":
      if (state.name === "fillable" || state.name === "deposited") return giveUp(state, event.reason);
      return already(state);
    case "executionAccepted":
      if (isWatchedOnly(state.kind)) return rejected(state, event);
      if (state.name === "quoted") return transitionTo(state, { name: "accepted" });
      // The fill is already in progress: record the acceptance without changing the state.
      return isFronted(state) && state.depositId === undefined ? transitionTo(state, {}) : already(state);
    case "executionMined":
      if (state.name !== "accepted") return already(state);
      return transitionTo(state, { name: state.kind === "call" ? "filled" : "depositing" });
    case "executionReverted":
      if (state.name !== "accepted") return already(state);
      return transitionTo(state, { name: failedExecution(state), failReason: event.reason });
    case "executionUnmined":
      return onExecutionOrphaned(state, event);
    case "executionFinal":
      if (state.kind === "call" && (state.name === "filled" || state.name === "failed") && !state.final)
        return transitionTo(state, { final: true });
      return already(state);
    case "executionDead":
      if (state.name !== "accepted" && !isRevertedExecution(state)) return already(state);
      return transitionTo(state, {
        name: failedExecution(state),
        failReason: state.failReason ?? event.reason,
        final: state.kind === "call",
      });
    case "fastFillAccepted":
      if (state.kind !== "bridge" || state.front !== "none") return already(state);
      if (isBeforeDeposit(state) || state.name === "deposited")
        return transitionTo(state, { name: "fillable", front: "held" }, { kind: "fill" });
      return already(state);
    case "frontOverdue":
      if (state.name === "filled" && state.final && state.front === "held" && state.depositId === undefined)
        return transitionTo(state, { front: "debited" }, { kind: "debitHold" });
      return already(state);
    case "sendMined":
      if (!isWatchedOnly(state.kind)) return rejected(state, event);
      if (state.name === "quoted" || state.name === "expired")
        return transitionTo(state, { name: "filled", failReason: undefined });
      return already(state);
    case "sendUnmined":
      if (isWatchedOnly(state.kind) && state.name === "filled")
        return state.final ? rejected(state, event) : transitionTo(state, { name: "quoted" });
      return already(state);
    case "sendFinal":
      if (isWatchedOnly(state.kind) && state.name === "filled" && !state.final)
        return transitionTo(state, { final: true });
      return already(state);
    case "refundMined":
      if (state.name === "refunding" && state.depositId === event.depositId)
        return transitionTo(state, { name: "refunded" });
      return already(state);
    case "refundUnmined":
      if (state.name === "refunded" && state.depositId === event.depositId)
        return state.final ? rejected(state, event) : transitionTo(state, { name: "refunding" });
      return already(state);
    case "refundFinal":
      if (state.name === "refunded" && state.depositId === event.depositId && !state.final)
        return transitionTo(state, { final: true });
      return already(state);
    case "refundImpossible":
      if (state.name === "refunding" && state.depositId === event.depositId)
        return transitionTo(state, { name: "failed", refundFailReason: event.reason, final: true });
      return already(state);
    case "refundReleased":
      if (state.name === "failed" && state.depositId === event.depositId)
        return transitionTo(state, { name: "refunding", refundFailReason: undefined, final: false });
      return already(state);
    case "deadlinePassed":
      if (state.name === "quoted" || state.name === "depositing")
        return transitionTo(state, { name: "expired", failReason: "TTL_EXPIRED" });
      return already(state);
    default:
      return unreachable(event);
  }
}

function onDepositSeen(state: RequestState, event: Extract<RequestEvent, { kind: "depositSeen" }>): Decision {
  const { depositId, verdict, beyondLead = false } = event;
  if (state.depositId === depositId) return already(state);
  if (state.kind !== "bridge")
    return transitionTo(state, {}, { kind: "refundDeposit", depositId, reason: "ORPHANED_DEPOSIT_REFUND" });

  if (isFronted(state) && state.depositId === undefined && verdict.kind === "match" && !beyondLead) {
    const accepted = { ...state, depositId };
    const accept: Effect = { kind: "acceptDeposit", depositId };
    const covered = event.confirmed ? cover(accepted) : already(accepted);
    // Accept the guaranteed deposit however late it is: the recipient was already paid.
    return covered.kind === "applied"
      ? { ...covered, effects: [accept, ...covered.effects] }
      : transitionTo(accepted, {}, accept);
  }
  if (isBeforeDeposit(state) || state.name === "expired") {
    if (verdict.kind === "mismatch") {
      const refund: Effect = { kind: "refundDeposit", depositId, reason: verdict.reason };
      // Anyone can name any order in a deposit: refund it, and the request keeps waiting.
      if (!verdict.byUser) return transitionTo(state, {}, refund);
      return transitionTo(state, { name: "refunding", depositId, failReason: verdict.reason }, refund);
    }
    // A failed transaction of the service does not affect a deposit that someone else made in time.
    if (event.late || (state.name === "expired" && !isRevertedExecution(state))) {
      const refund: Effect = { kind: "refundDeposit", depositId, reason: "TTL_EXPIRED" };
      return transitionTo(state, { name: "refunding", depositId, failReason: "TTL_EXPIRED" }, refund);
    }
    const accept: Effect = { kind: "acceptDeposit", depositId };
    const depositChange = { depositId, failReason: undefined };
    if (event.confirmed)
      return transitionTo(state, { ...depositChange, name: "fillable" }, accept, { kind: "fill" });
    return transitionTo(state, { ...depositChange, name: "deposited" }, accept);
  }
  // The recipient is or will be paid, so accept this deposit as the user's payment, however late.
  if (event.replaces === true && verdict.kind === "match" && !beyondLead && isFillUnderWay(state))
    return transitionTo(state, { depositId }, { kind: "acceptDeposit", depositId });
  // The request has its deposit, or has ended: refund any further deposit.
  const defaultReason: FailReason = beyondLead ? "TTL_EXPIRED" : "DOUBLE_SPEND";
  const reason: FailReason = verdict.kind === "mismatch" ? verdict.reason : defaultReason;
  return transitionTo(state, {}, { kind: "refundDeposit", depositId, reason });
}

function onDepositRemoved(state: RequestState, depositId: DepositId): Decision {
  if (state.depositId !== depositId) return already(state);
  // The fill does not depend on the deposit: the app's guarantee applies again.
  if (isFronted(state)) {
    if (state.front !== "covered") return transitionTo(state, { depositId: undefined });
    return uncover({ ...state, depositId: undefined });
  }
  // Nothing was sent for the deposit yet, so the request waits again as if it had never existed. (The watcher
  // does not raise this event for a deposit whose refund was already sent.)
  const { name } = state;
  if (name === "deposited" || name === "fillable" || name === "refunding" || name === "failed")
    return transitionTo(state, {
      name: "quoted",
      depositId: undefined,
      failReason: undefined,
      refundFailReason: undefined,
      final: false,
    });
  // A payment is in progress or done: the state stays, and the watcher reports the exposure until the deposit
  // is mined again.
  return already(state);
}

/** The deposit waits for its confirmations again, unless the fill was planned. */
function onDepositUnconfirmed(state: RequestState, depositId: DepositId): Decision {
  if (state.depositId !== depositId) return already(state);
  if (isFronted(state)) return state.front === "covered" ? uncover(state) : already(state);
  return state.name === "fillable" ? transitionTo(state, { name: "deposited" }) : already(state);
}

function isFillUnderWay({ name }: Pick<RequestState, "name">): boolean {
  return name === "filling" || name === "submitted" || name === "filled";
}

/** Whether the request has a guaranteed fill, in progress or done. */
export function isFronted(state: Pick<RequestState, "name" | "front">): boolean {
  return state.front !== "none" && (state.name === "fillable" || isFillUnderWay(state));
}

function isBeforeDeposit({ name }: RequestState): boolean {
  return name === "quoted" || name === "accepted" || name === "depositing";
}

/**
 * Whether the fill is final. Until then its deposit may be refunded, so the hold stays and the app is not
 * credited.
 */
function isFillFinal({ name, final }: RequestState): boolean {
  return name === "filled" && final;
}

/** Whether the hold is active, because the deposit or the fill is not final. */
function isHoldActive(state: RequestState): boolean {
  return state.front === "held" || (state.front === "covered" && !isFillFinal(state));
}

/**
 * Whether deposit and fill of a fast fill are final, so that the hold is released and the deposit is credited
 * to the app.
 */
export function isCoverDue(state: RequestState): boolean {
  return state.front === "covered" && isFillFinal(state);
}

/** The guaranteed deposit is confirmed. */
function cover(state: RequestState): Decision {
  switch (state.front) {
    case "held":
      return transitionTo(
        state,
        { front: "covered" },
        ...(isFillFinal(state) ? [{ kind: "releaseHold" } as const] : []),
      );
    case "debited":
      return transitionTo(state, { front: "covered" }, { kind: "returnHold" });
    case "none":
    case "covered":
      return already(state);
    default:
      return unreachable(state.front);
  }
}

/** The deposit is orphaned or needs more confirmations again. */
function uncover(state: RequestState): Decision {
  return transitionTo(
    state,
    { front: "held" },
    ...(isFillFinal(state) ? [{ kind: "reinstateHold" } as const] : []),
  );
}

/** This fill has paid nothing and never will: any deposit is refunded, and the guarantee ends. */
function giveUp(state: RequestState, reason: FailReason): Decision {
  if (state.front === "none" || state.depositId !== undefined) {
    const releases: Effect[] = isHoldActive(state) ? [{ kind: "releaseHold" }] : [];
    const decision = startRefund({ ...state, front: "none" }, reason);
    return decision.kind === "applied"
      ? { ...decision, effects: [...releases, ...decision.effects] }
      : { ...decision, state };
  }
  return waitAgain(state, {});
}

/** Waits for a deposit again, as if nothing had happened. */
function waitAgain(state: RequestState, change: Partial<RequestState>): Decision {
  const releases: Effect[] = isHoldActive(state) ? [{ kind: "releaseHold" }] : [];
  return transitionTo(state, { ...change, name: "quoted", front: "none" }, ...releases);
}

/**
 * The state after a failed execution: a call ends. A bridge stops waiting, but still accepts a deposit that
 * arrives in time.
 */
function failedExecution({ kind }: RequestState): "failed" | "expired" {
  return kind === "call" ? "failed" : "expired";
}

/** Whether the request failed because its own transaction reverted in a block that may still be orphaned. */
function isRevertedExecution(state: RequestState): boolean {
  if (state.kind === "call") return state.name === "failed" && !state.final;
  return (
    state.kind === "bridge" &&
    state.name === "expired" &&
    state.failReason !== undefined &&
    state.failReason !== "TTL_EXPIRED"
  );
}

function onExecutionOrphaned(
  state: RequestState,
  event: Extract<RequestEvent, { kind: "executionUnmined" }>,
): Decision {
  if (state.kind === "call" && state.name === "filled")
    return state.final ? rejected(state, event) : transitionTo(state, { name: "accepted" });
  if (state.name === "depositing" || isRevertedExecution(state))
    return transitionTo(state, { name: "accepted", failReason: undefined });
  return already(state);
}

function startRefund(state: RequestState, reason: FailReason): Decision {
  if (state.depositId === undefined) return { kind: "rejected", state, reason: "no deposit to refund" };
  return transitionTo(
    state,
    { name: "refunding", failReason: reason, final: false },
    { kind: "refundDeposit", depositId: state.depositId, reason },
  );
}

function transitionTo(state: RequestState, change: Partial<RequestState>, ...effects: Effect[]): Applied {
  return { kind: "applied", next: { ...state, ...change }, effects };
}

function already(state: RequestState): Decision {
  return { kind: "already", state };
}

function rejected(state: RequestState, event: RequestEvent): Decision {
  return { kind: "rejected", state, reason: `${event.kind} cannot follow ${state.name}` };
}
