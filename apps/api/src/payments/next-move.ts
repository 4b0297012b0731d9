import type { FeeCaps, GasPrices, ReceiptFact } from "@causeway/chains";
import type { FailReason } from "@causeway/domain";
import type { EnginePolicy } from "../db/engine-policy.port.ts";
import type { Attempt, AttemptKind, Slot } from "../db/records.port.ts";
import { replacementFees } from "./replacement-fees.ts";

/** Decides what to do next with a slot, from facts alone: reads and writes nothing. */

/** The state of one attempt on chain. */
export type Observation =
  /** No node has it, but it may still be mined. */
  | { readonly kind: "unseen" }
  /** It was never sent, and must not be sent yet. */
  | { readonly kind: "held" }
  /** Nodes have it, and no block does. */
  | { readonly kind: "offered" }
  /** In a canonical block, or in a final one. Without a receipt: in the block that the slot records. */
  | { readonly kind: "mined" | "final"; readonly receipt?: ReceiptFact }
  /** It can never be mined. */
  | { readonly kind: "dead"; readonly reason: string };

/** The state of the slot's nonce on chain. */
export type NonceState =
  /** The chain has no account nonces. */
  | "none"
  /** The chain waits for an earlier nonce. */
  | "later"
  /** The chain waits for this nonce: no later one can be mined before it. */
  | "next"
  /** The chain has used it, but not for a known attempt of the slot. */
  | "used"
  /** An attempt used it, in a block that the watcher has not read. */
  | "ahead"
  /** Proven: a final transaction of someone else used it. */
  | "foreign";

/** How new bytes can replace former bytes that may still be mined. */
export type Replacement =
  /** New and former bytes would not conflict, so both could pay. */
  | "impossible"
  /** The payer chooses the fees when it signs. */
  | "unpriced"
  | { readonly prices: GasPrices; readonly capWei: bigint | undefined };

/** Facts of a payer and of its lane. */
export interface LaneFacts {
  readonly nonceState: NonceState;
  readonly replacement: Replacement;
  /** Whether a no-op can make a payment impossible. `unseen`: only a payment that no node has. */
  readonly cancelable: "always" | "unseen" | "never";
  /** How long (ms) bytes that nodes have may wait for a block before they count as stuck. */
  readonly patienceMs: number;
  /** This process is sending the slot. */
  readonly isBeingSent: boolean;
  /** The highest block that is final, if the payer has blocks. */
  readonly finalBlock?: bigint;
}

export type MovePolicy = Pick<
  EnginePolicy,
  "stuckAfterMs" | "maxAttempts" | "rebroadcastIntervalMs" | "orphanedAfterMs"
>;

export type SlotFacts = Pick<
  Slot,
  | "state"
  | "attempts"
  | "cancelReason"
  | "cancelAfterMs"
  | "createdAtMs"
  | "minedAttempt"
  | "minedStatus"
  | "unexplainedSince"
>;

export interface Situation {
  readonly slot: SlotFacts;
  /** Of each attempt of the slot, in the same order. */
  readonly seen: readonly Observation[];
  readonly lane: LaneFacts;
  /** The payment is broadcast until a node accepts it, however long that takes. */
  readonly isPatient?: boolean;
  readonly policy: MovePolicy;
  readonly nowMs: number;
}

export type Move =
  | { readonly kind: "wait" }
  /** Sign the next attempt. Without fees: those of the plan, or those that the payer chooses. */
  | { readonly kind: "sign"; readonly attempt: AttemptKind; readonly fees?: FeeCaps; readonly why: string }
  | { readonly kind: "send"; readonly attempt: Attempt }
  /** From now on only a no-op is signed and sent. */
  | { readonly kind: "cancel"; readonly reason: FailReason }
  | { readonly kind: "mined"; readonly attempt: Attempt; readonly receipt: ReceiptFact }
  | { readonly kind: "orphaned" }
  | { readonly kind: "final" }
  | { readonly kind: "dead"; readonly reason: FailReason; readonly why?: string }
  /** Note that no known attempt used the nonce; `search`: look for the transaction that did. */
  | { readonly kind: "unexplained"; readonly search: boolean }
  | { readonly kind: "explained" };

const WAIT: Move = { kind: "wait" };
const NOT_INCLUDED = "TRANSACTION_NOT_INCLUDED";

interface Facts extends Situation {
  /** The attempt that the slot records as mined. */
  readonly recorded: Attempt | undefined;
  readonly recordedSeen: Observation["kind"] | undefined;
  readonly mined: Extract<Move, { readonly kind: "mined" }> | undefined;
  /** The newest attempt that may still be mined. */
  readonly last: Attempt | undefined;
  readonly lastSeen: Observation["kind"] | undefined;
  /** Nodes have some attempt. */
  readonly isOffered: boolean;
  /** The chain mines the lane in the order of its nonces. */
  readonly isOrdered: boolean;
  readonly isCanceled: boolean;
  readonly isLate: boolean;
  readonly isExhausted: boolean;
}

function deduce(situation: Situation): Facts {
  const { slot, seen, lane, policy, nowMs } = situation;
  const observed = slot.attempts.map((attempt, index) => ({
    attempt,
    seen: seen[index] ?? ({ kind: "unseen" } as const),
  }));
  const recorded = observed.find(({ attempt }) => attempt.n === slot.minedAttempt);
  const [mined] = (["final", "mined"] as const).flatMap((kind) =>
    observed.flatMap(({ attempt, seen: observation }) =>
      observation.kind === kind && observation.receipt
        ? [{ kind: "mined" as const, attempt, receipt: observation.receipt }]
        : [],
    ),
  );
  const alive = observed.filter((attempt) => attempt.seen.kind !== "dead");
  const last = alive.at(-1);
  return {
    ...situation,
    recorded: recorded?.attempt,
    recordedSeen: recorded?.seen.kind,
    mined,
    last: last?.attempt,
    lastSeen: last?.seen.kind,
    isOffered: alive.some((attempt) => attempt.seen.kind === "offered"),
    isOrdered: lane.nonceState !== "none",
    isCanceled: slot.cancelReason !== undefined,
    isLate: nowMs > slot.cancelAfterMs,
    isExhausted: slot.attempts.length >= policy.maxAttempts,
  };
}

/** The next move of a slot: the first case that applies. Call it again after each move. */
export function nextMove(situation: Situation): Move {
  const facts = deduce(situation);
  const { slot, seen, lane, policy, nowMs } = situation;
  const { recorded, recordedSeen, mined, last, isOrdered, isCanceled, isLate, isExhausted } = facts;
  const cancelReason = slot.cancelReason ?? NOT_INCLUDED;
  const isFinal = slot.state === "mined" && recordedSeen === "final";
  const isUnsigned = slot.attempts.length === 0;
  const isDead = !isUnsigned && last === undefined;

  // An ended slot never moves.
  if (slot.state === "final" || slot.state === "dead") return WAIT;
  // A final no-op used the nonce, so nothing was paid.
  if (isFinal && recorded?.kind === "noop") return { kind: "dead", reason: cancelReason, why: "given up" };
  // A payment that reverted in a final block did not pay.
  if (isFinal && slot.minedStatus !== "success") return { kind: "dead", reason: "TRANSACTION_REVERTED" };
  // A final payment is done.
  if (isFinal) return { kind: "final" };
  // A block that is not final may be orphaned.
  if (slot.state === "mined" && recordedSeen === "mined") return WAIT;
  // Its block was orphaned.
  if (slot.state === "mined") return { kind: "orphaned" };
  // An attempt is in a block.
  if (mined !== undefined) return mined;

  // Someone else's final transaction used the nonce, so no attempt can be mined.
  if (lane.nonceState === "foreign") return { kind: "dead", reason: NOT_INCLUDED };
  // An attempt is in a block that the watcher has yet to read, which explains the nonce.
  if (lane.nonceState === "ahead") return slot.unexplainedSince === undefined ? WAIT : { kind: "explained" };
  // A missing receipt proves nothing: only a final transaction ends the slot.
  if (lane.nonceState === "used") return { kind: "unexplained", search: isSearchDue(facts) };

  // Nothing was signed in time, and without nonces no other payment waits for the slot.
  if (isUnsigned && !isOrdered && (isLate || isCanceled))
    return { kind: "dead", reason: cancelReason, why: "never signed" };
  // Bytes that must not be sent yet wait for their time.
  if (!isLate && seen.some(({ kind }) => kind === "held")) return WAIT;
  // No attempt can be mined, and no more may be signed.
  if (isDead && (isCanceled || isLate || isExhausted))
    return { kind: "dead", reason: cancelReason, why: whyDead(facts) };
  // No attempt can be mined, so new bytes cannot pay twice.
  if (isDead) return { kind: "sign", attempt: "pay", why: whyDead(facts) };

  // No node ever accepted it, and it holds up the lane.
  if (!isCanceled && isRefused(facts)) return { kind: "cancel", reason: "TRANSACTION_SUBMISSION_FAILED" };
  // Too late to pay: a no-op uses the nonce.
  if (!isCanceled && isOrdered && isLate) return { kind: "cancel", reason: NOT_INCLUDED };

  // The process that reserved it is about to sign it.
  if (last === undefined && (lane.isBeingSent || isRecent(facts, slot))) return WAIT;
  // Its process left it unsigned.
  if (last === undefined) return { kind: "sign", attempt: isCanceled ? "noop" : "pay", why: "unsigned" };
  // A payment that is given up is replaced by a no-op.
  if ((isCanceled || isLate) && last.kind === "pay" && canCancel(facts))
    return { kind: "sign", attempt: "noop", why: "too late", ...feesOf(facts, "noop") };
  // The process that signed it is about to send it.
  if (last.broadcastAtMs === undefined && (lane.isBeingSent || isRecent(facts, last))) return WAIT;
  // A canceled payment is not offered again.
  if (last.kind === "pay" && isCanceled) return WAIT;
  // A stuck attempt is replaced, if the caps on fees and attempts allow.
  const replacement = isStuck(facts) ? replacementOf(facts) : undefined;
  if (replacement !== undefined) return replacement;
  // Nodes may have dropped it.
  if (nowMs - (last.broadcastAtMs ?? 0) > policy.rebroadcastIntervalMs)
    return { kind: "send", attempt: last };
  return WAIT;
}

function isSearchDue({ slot: { unexplainedSince }, lane: { finalBlock } }: Facts): boolean {
  return unexplainedSince !== undefined && finalBlock !== undefined && unexplainedSince < finalBlock;
}

function whyDead({ seen }: Facts): string {
  const last = seen.at(-1);
  return last?.kind === "dead" ? last.reason : "";
}

function isRecent({ nowMs, policy }: Facts, { createdAtMs }: { readonly createdAtMs: number }): boolean {
  return nowMs - createdAtMs <= policy.orphanedAfterMs;
}

/**
 * Whether the slot was broadcast and no node accepted it. An outage on our side does not count. A payment
 * that was mined and orphaned was accepted before: it is broadcast again, however long ago it was signed.
 */
function isRefused({ slot: { attempts }, lane, isPatient, policy, nowMs }: Facts): boolean {
  const [first] = attempts;
  return (
    lane.nonceState === "next" &&
    isPatient !== true &&
    first !== undefined &&
    attempts.some(({ broadcastAtMs }) => broadcastAtMs !== undefined) &&
    attempts.every(({ firstBroadcastAtMs }) => firstBroadcastAtMs === undefined) &&
    nowMs - first.createdAtMs > policy.stuckAfterMs
  );
}

/** Nodes may already have shown the payment to its recipient, so paying late is better than canceling. */
function canCancel({ lane, isOffered }: Facts): boolean {
  return lane.cancelable === "always" || (lane.cancelable === "unseen" && !isOffered);
}

/**
 * Whether the newest attempt has waited too long for a block; rebroadcasts do not restart the wait. In an
 * ordered lane, it must also block the lane or pay less than the base fee. There, a payment that no node has
 * is canceled instead of replaced, so of such attempts only a no-op that nodes refused counts.
 */
function isStuck({ last, lastSeen, isOffered, isOrdered, lane, policy, nowMs }: Facts): boolean {
  if (last === undefined) return false;
  const patienceMs = isOffered ? lane.patienceMs : policy.stuckAfterMs;
  if (nowMs - (last.offeredSinceMs ?? last.createdAtMs) < patienceMs) return false;
  if (!isOrdered) return true;
  if (lastSeen !== "offered") return last.kind === "noop" && last.broadcastAtMs !== undefined;
  return (
    lane.nonceState === "next" ||
    (typeof lane.replacement === "object" && last.maxFeePerGas < lane.replacement.prices.baseFeePerGas)
  );
}

function replacementOf(facts: Facts): Move | undefined {
  const { last, lane, isExhausted, isOrdered } = facts;
  if (last === undefined || lane.replacement === "impossible") return undefined;
  // The whole lane waits for its no-op, so the limit on attempts does not apply to it.
  if (isExhausted && !(isOrdered && last.kind === "noop")) return undefined;
  const priced = feesOf(facts, last.kind);
  return priced && { kind: "sign", attempt: last.kind, why: "stuck", ...priced };
}

/** The fees of the next attempt; undefined if the cap forbids a replacement. */
function feesOf({ last, lane }: Facts, kind: AttemptKind): { readonly fees?: FeeCaps } | undefined {
  if (typeof lane.replacement !== "object" || last === undefined) return {};
  const { prices, capWei } = lane.replacement;
  // A no-op ignores the cap, because nothing after its nonce can be mined without it, and it uses the minimum
  // gas.
  const fees = replacementFees(last, prices, kind === "noop" ? undefined : capWei);
  return fees && { fees };
}
