import type { ReceiptFact } from "@causeway/chains";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fixedEnginePolicy as policy } from "../config/engine.ts";
import type { Attempt, AttemptKind } from "../db/records.port.ts";
import {
  nextMove,
  type LaneFacts,
  type Move,
  type Observation,
  type Situation,
  type SlotFacts,
} from "./next-move.ts";

const NOW_MS = 1_700_000_000_000;
const DEADLINE_MS = 600_000;

const prices = { baseFeePerGas: 10n, maxFeePerGas: 30n, maxPriorityFeePerGas: 1n };
const receipt = (status: "success" | "reverted" = "success") => ({ status }) as ReceiptFact;

/** The kinds of payers, by their facts. */
const EVM: LaneFacts = {
  nonceState: "next",
  replacement: { prices, capWei: 1_000n },
  cancelable: "always",
  patienceMs: policy.stuckAfterMs,
  isBeingSent: false,
  finalBlock: 100n,
};
const NO_NONCES = { nonceState: "none", patienceMs: policy.stuckAfterMs, isBeingSent: false } as const;
const BITCOIN: LaneFacts = {
  ...NO_NONCES,
  replacement: "unpriced",
  cancelable: "unseen",
  patienceMs: 1_800_000,
};
const HYPERLIQUID: LaneFacts = { ...NO_NONCES, replacement: "impossible", cancelable: "unseen" };
const SOLANA: LaneFacts = { ...NO_NONCES, replacement: "impossible", cancelable: "never" };
const PAYERS = { EVM, BITCOIN, HYPERLIQUID, SOLANA };

function anAttempt(n: number, kind: AttemptKind = "pay", change: Partial<Attempt> = {}): Attempt {
  return {
    n,
    kind,
    raw: "0x",
    txHash: `0x${n}`,
    maxFeePerGas: 20n,
    maxPriorityFeePerGas: 1n,
    createdAtMs: NOW_MS,
    broadcastAtMs: undefined,
    offeredSinceMs: undefined,
    ...change,
  };
}

const offered = (atMs: number) => ({ broadcastAtMs: atMs, offeredSinceMs: atMs, firstBroadcastAtMs: atMs });

function aSituation(
  slot: Partial<SlotFacts> = {},
  seen: readonly Observation["kind"][] = [],
  change: Partial<Situation> = {},
): Situation {
  return {
    slot: {
      state: "open",
      attempts: seen.map((_, n) => anAttempt(n)),
      cancelReason: undefined,
      cancelAfterMs: NOW_MS + DEADLINE_MS,
      createdAtMs: NOW_MS,
      minedAttempt: undefined,
      minedStatus: undefined,
      unexplainedSince: undefined,
      ...slot,
    },
    seen: seen.map(anObservation),
    lane: EVM,
    policy,
    nowMs: NOW_MS,
    ...change,
  };
}

function anObservation(kind: Observation["kind"]): Observation {
  if (kind === "mined" || kind === "final") return { kind, receipt: receipt() };
  return kind === "dead" ? { kind, reason: "expired" } : { kind };
}

describe("any situation", () => {
  const kinds = fc.constantFrom<Observation["kind"]>("unseen", "held", "offered", "mined", "final", "dead");
  const ms = fc.integer({ min: -2 * DEADLINE_MS, max: 0 }).map((ago) => NOW_MS + ago);
  const maybeMs = fc.option(ms, { nil: undefined });
  const attempt = fc.record({
    kind: fc.constantFrom<AttemptKind>("pay", "noop"),
    maxFeePerGas: fc.bigInt({ min: 1n, max: 2_000n }),
    createdAtMs: ms,
    broadcastAtMs: maybeMs,
    offeredSinceMs: maybeMs,
    firstBroadcastAtMs: maybeMs,
  });
  const situations: fc.Arbitrary<Situation> = fc
    .record({
      shown: fc.array(fc.tuple(attempt, kinds), { maxLength: 4 }),
      state: fc.constantFrom<SlotFacts["state"]>("open", "open", "open", "mined", "final", "dead"),
      isCanceled: fc.boolean(),
      cancelAfterMs: fc.integer({ min: -DEADLINE_MS, max: DEADLINE_MS }).map((afterMs) => NOW_MS + afterMs),
      minedStatus: fc.constantFrom("success", "reverted"),
      unexplainedSince: fc.option(fc.bigInt({ min: 90n, max: 110n }), { nil: undefined }),
      payer: fc.constantFrom(...Object.values(PAYERS)),
      nonceState: fc.constantFrom<LaneFacts["nonceState"]>("later", "next", "used", "ahead", "foreign"),
      isBeingSent: fc.boolean(),
      isPatient: fc.boolean(),
      createdAtMs: ms,
    })
    .map(({ shown: generated, payer, nonceState, isBeingSent, isPatient, isCanceled, state, ...slot }) => {
      // A chain with nonces shows which transaction used a nonce, never that bytes are dead.
      const shown = generated.map(
        ([facts, kind]) => [facts, payer.nonceState !== "none" && kind === "dead" ? "unseen" : kind] as const,
      );
      const attempts = shown.map(([facts, kind], n) => {
        const { firstBroadcastAtMs, ...fields } = facts;
        const wasOffered = kind === "offered" || firstBroadcastAtMs !== undefined;
        return anAttempt(n, facts.kind, {
          ...fields,
          ...(wasOffered && { firstBroadcastAtMs: NOW_MS - DEADLINE_MS }),
        });
      });
      return {
        slot: {
          ...slot,
          minedStatus: slot.minedStatus as "success" | "reverted",
          attempts,
          state: attempts.length === 0 && state === "mined" ? "open" : state,
          minedAttempt: attempts.length - 1,
          cancelReason: isCanceled ? "TRANSACTION_SUBMISSION_FAILED" : undefined,
        },
        seen: shown.map(([, kind]) => anObservation(kind)),
        lane: { ...payer, isBeingSent, nonceState: payer.nonceState === "none" ? "none" : nonceState },
        isPatient,
        policy,
        nowMs: NOW_MS,
      };
    });
  const holds = (check: (move: Move, situation: Situation) => void): void =>
    fc.assert(
      fc.property(situations, (situation) => check(nextMove(situation), situation)),
      { numRuns: 5_000 },
    );
  const aliveAttempts = ({ slot, seen }: Situation) =>
    slot.attempts.filter((_, index) => seen[index]?.kind !== "dead");

  test("closes a slot only when none of its signed transactions can pay", () => {
    holds((move, situation) => {
      const { slot, seen, lane } = situation;
      if (move.kind !== "dead") return;
      if (slot.state === "mined") {
        const recorded = slot.attempts.findIndex(({ n }) => n === slot.minedAttempt);
        expect(seen[recorded]?.kind).toBe("final");
        expect(slot.attempts[recorded]?.kind === "noop" || slot.minedStatus === "reverted").toBe(true);
      } else if (lane.nonceState === "none") expect(aliveAttempts(situation)).toEqual([]);
      // An unused nonce would block the lane.
      else expect(lane.nonceState).toBe("foreign");
    });
  });

  test("never signs or sends a payment that is given up", () => {
    holds((move, { slot }) => {
      if (slot.cancelReason === undefined) return;
      if (move.kind === "sign") expect(move.attempt).toBe("noop");
      if (move.kind === "send") expect(move.attempt.kind).toBe("noop");
    });
  });

  test("signs only bytes that conflict with other bytes that may still be mined", () => {
    holds((move, situation) => {
      const { lane, seen } = situation;
      if (move.kind !== "sign" || aliveAttempts(situation).length === 0) return;
      if (lane.replacement !== "impossible") return;
      expect(move.attempt).toBe("noop");
      expect(lane.cancelable).toBe("unseen");
      expect(seen.map(({ kind }) => kind)).not.toContain("offered");
    });
  });

  test("signs, sends and cancels only open slots whose nonce is unused", () => {
    holds((move, { slot, lane }) => {
      if (move.kind !== "sign" && move.kind !== "send" && move.kind !== "cancel") return;
      expect(slot.state).toBe("open");
      expect(["none", "later", "next"]).toContain(lane.nonceState);
    });
  });

  test("sends only the newest bytes that may be mined, and none that must not be sent yet", () => {
    holds((move, situation) => {
      if (move.kind !== "send") return;
      expect(move.attempt).toBe(aliveAttempts(situation).at(-1));
      if (situation.nowMs <= situation.slot.cancelAfterMs)
        expect(situation.seen.map(({ kind }) => kind)).not.toContain("held");
    });
  });

  test("neither signs nor sends a slot that its process is sending, except to cancel it", () => {
    holds((move, situation) => {
      const { slot, lane } = situation;
      // In an ordered lane, bytes end only with their nonce.
      if (slot.attempts.length > 0 && aliveAttempts(situation).length === 0) return;
      if (!lane.isBeingSent || slot.attempts.at(-1)?.broadcastAtMs !== undefined || slot.state !== "open")
        return;
      if (lane.nonceState === "none") return;
      if (move.kind === "sign") expect([move.attempt, slot.attempts.at(-1)?.kind]).toEqual(["noop", "pay"]);
      expect(move.kind).not.toBe("send");
    });
  });

  test("does not repeat a move immediately after it was made", () => {
    holds((move, situation) => {
      // An unexplained nonce is noted once per head, and noting it again changes nothing.
      if (move.kind === "wait" || move.kind === "unexplained") return;
      const following = nextMove(afterMove(situation, move));
      if (move.kind === "sign") expect(following.kind).toBe("wait");
      else expect(following.kind).not.toBe(move.kind);
    });
  });
});

const minuteAgo = NOW_MS - 60_000;

test.each([
  ["at the cap on fees", { replacement: { prices, capWei: 1n } }, 1],
  ["after the last attempt", {}, policy.maxAttempts],
] as const)("rebroadcasts a stuck payment at the usual interval %s", (_, lane, count) => {
  const moveAt = (broadcastAtMs: number): Move => {
    const attempts = Array.from({ length: count }, (_unused, n) =>
      anAttempt(n, "pay", { ...offered(minuteAgo), broadcastAtMs, createdAtMs: minuteAgo }),
    );
    return nextMove(
      aSituation(
        { attempts },
        attempts.map(() => "offered" as const),
        { lane: { ...EVM, ...lane } },
      ),
    );
  };
  expect(moveAt(NOW_MS - policy.rebroadcastIntervalMs)).toEqual({ kind: "wait" });
  expect(moveAt(NOW_MS - policy.rebroadcastIntervalMs - 1).kind).toBe("send");
});

test("rebroadcasts a no-op that a node rejected at the usual interval, and bumps its fees once it is stuck", () => {
  const moveAt = (createdAtMs: number, broadcastAtMs: number): Move => {
    const attempts = [
      anAttempt(0, "pay", { createdAtMs: minuteAgo }),
      anAttempt(1, "noop", { createdAtMs, broadcastAtMs }),
    ];
    const cancelReason = "TRANSACTION_NOT_INCLUDED" as const;
    return nextMove(aSituation({ attempts, cancelReason }, ["unseen", "unseen"]));
  };
  const { rebroadcastIntervalMs, stuckAfterMs } = policy;
  expect(moveAt(NOW_MS - 20_000, NOW_MS - rebroadcastIntervalMs).kind).toBe("wait");
  expect(moveAt(NOW_MS - 20_000, NOW_MS - rebroadcastIntervalMs - 1).kind).toBe("send");
  expect(moveAt(NOW_MS - stuckAfterMs, NOW_MS)).toMatchObject({ kind: "sign", attempt: "noop" });
});

test("rebroadcasts a patient payment until a node accepts it", () => {
  const attempts = [anAttempt(0, "pay", { createdAtMs: minuteAgo, broadcastAtMs: minuteAgo })];
  const move = (isPatient: boolean): Move => nextMove(aSituation({ attempts }, ["unseen"], { isPatient }));
  expect(move(false).kind).toBe("cancel");
  expect(move(true).kind).toBe("send");
});

test.each(["pay", "noop"] as const)("sends a %s that was never broadcast, however old it is", (kind) => {
  const cancelReason = kind === "noop" ? "TRANSACTION_NOT_INCLUDED" : undefined;
  const attempts = [anAttempt(0, kind, { createdAtMs: NOW_MS - DEADLINE_MS })];
  expect(nextMove(aSituation({ attempts, cancelReason }, ["unseen"]))).toMatchObject({ kind: "send" });
});

/** The situation after a move, if the chain did not change. */
function afterMove(situation: Situation, move: Move): Situation {
  const { slot, seen, nowMs } = situation;
  const changed = (change: Partial<SlotFacts>, observed = seen): Situation => ({
    ...situation,
    seen: observed,
    slot: { ...slot, ...change },
  });
  switch (move.kind) {
    case "wait":
    case "unexplained":
      return situation;
    case "explained":
      return changed({ unexplainedSince: undefined });
    case "cancel":
      return changed({ cancelReason: move.reason });
    case "mined":
      return changed({ state: "mined", minedAttempt: move.attempt.n, minedStatus: move.receipt.status });
    case "orphaned":
      return changed({ state: "open", minedAttempt: undefined, minedStatus: undefined });
    case "final":
    case "dead":
      return changed({ state: move.kind });
    case "sign": {
      const fees = move.fees ?? {};
      const attempts = [
        ...slot.attempts,
        anAttempt(slot.attempts.length, move.attempt, { createdAtMs: nowMs, ...fees }),
      ];
      const isGivenUp = move.attempt === "noop" && slot.cancelReason === undefined;
      return changed({ attempts, ...(isGivenUp && { cancelReason: "TRANSACTION_NOT_INCLUDED" }) }, [
        ...seen,
        { kind: "unseen" },
      ]);
    }
    case "send":
      return changed({
        attempts: slot.attempts.map((attempt) =>
          attempt.n === move.attempt.n ? { ...attempt, broadcastAtMs: nowMs } : attempt,
        ),
      });
    default:
      return move satisfies never;
  }
}

/**
 * A chain with one slot. At random, it does everything that chains do: it refuses, forgets, expires, mines,
 * reverts and orphans bytes, and lets someone else use the nonce. Of conflicting bytes, only one is mined.
 */
class SimulatedChain {
  situation: Situation;
  /** How many attempts paid in a final block. */
  paid = 0;
  /** Confirmations of each mined attempt. */
  private readonly depth = new Map<number, number>();
  private readonly dead = new Set<number>();
  /** Attempts that nodes have. */
  private readonly nodes = new Set<number>();
  private readonly chance: (probability: number) => boolean;
  private foreignDepth = -1;

  constructor(lane: LaneFacts, chance: (probability: number) => boolean) {
    this.chance = chance;
    this.situation = aSituation({}, [], { lane });
  }

  get isOver(): boolean {
    return this.situation.slot.state === "final" || this.situation.slot.state === "dead";
  }

  /** Executes due moves until there are none. */
  advance(): void {
    for (let step = 0; step < 10; step++) {
      const move = nextMove(this.situation);
      // A process may die, or find no funds, before each move.
      if (move.kind === "wait" || this.isOver || this.chance(0.1)) return;
      this.situation = afterMove(this.situation, move);
      if (move.kind === "sign") this.send(this.situation.slot.attempts.length - 1);
      if (move.kind === "send") this.send(move.attempt.n);
      if (move.kind === "unexplained") {
        const since = this.situation.slot.unexplainedSince ?? 99n;
        this.situation = { ...this.situation, slot: { ...this.situation.slot, unexplainedSince: since } };
        if (move.search && this.foreignDepth >= 3) this.setNonceState("foreign");
        else return;
      }
    }
    expect.fail(
      `more than ten moves at one moment, the last: ${JSON.stringify(nextMove(this.situation).kind)}`,
    );
  }

  private send(n: number): void {
    const isAccepted = !this.dead.has(n) && this.chance(0.7);
    if (isAccepted) this.nodes.add(n);
    const { nowMs, slot } = this.situation;
    const attempts = slot.attempts.map((attempt): Attempt =>
      attempt.n === n
        ? {
            ...attempt,
            broadcastAtMs: nowMs,
            ...(isAccepted && { ...offered(nowMs), offeredSinceMs: attempt.offeredSinceMs ?? nowMs }),
          }
        : attempt,
    );
    this.situation = { ...this.situation, slot: { ...slot, attempts } };
  }

  private setNonceState(nonceState: LaneFacts["nonceState"]): void {
    this.situation = { ...this.situation, lane: { ...this.situation.lane, nonceState } };
  }

  /** In an ordered lane, or where bytes can be replaced, all bytes conflict; elsewhere only a no-op does. */
  private conflicts(a: Attempt, b: Attempt): boolean {
    const { lane } = this.situation;
    return lane.replacement !== "impossible" || a.kind === "noop" || b.kind === "noop";
  }

  /** Lets time pass. `isWild`: the chain and its nodes also misbehave. */
  passTime(ms: number, isWild: boolean): void {
    const { slot, lane } = this.situation;
    const isOrdered = lane.nonceState !== "none";
    const mined = (): Attempt[] => slot.attempts.filter(({ n }) => this.depth.has(n));
    for (const [n, depth] of this.depth) {
      // A final block is never orphaned.
      if (isWild && depth < 3 && this.chance(0.1)) {
        this.depth.delete(n);
        continue;
      }
      this.depth.set(n, depth + 1);
      if (depth + 1 === 3 && slot.attempts[n]?.kind === "pay") this.paid++;
    }
    if (this.foreignDepth >= 0) this.foreignDepth++;
    for (const attempt of slot.attempts) {
      const { n } = attempt;
      if (this.depth.has(n)) continue;
      if (mined().some((winner) => (this.depth.get(winner.n) ?? 0) >= 3 && this.conflicts(winner, attempt)))
        this.dead.add(n);
      // Bytes expire where the chain lets them.
      if (!isOrdered && this.chance(isWild ? 0.2 : 0.05)) this.dead.add(n);
      if (this.dead.has(n)) continue;
      if (isWild && this.chance(0.2)) this.nodes.delete(n);
      // Anyone with the bytes can send them at any time.
      const isKnown =
        this.nodes.has(n) || (isWild && attempt.broadcastAtMs !== undefined && this.chance(0.1));
      const isFree = this.foreignDepth < 0 && !mined().some((other) => this.conflicts(other, attempt));
      if (isKnown && isFree && this.chance(isWild ? 0.2 : 0.6)) this.depth.set(n, 0);
    }
    if (isWild && isOrdered && this.depth.size === 0 && this.foreignDepth < 0 && this.chance(0.03))
      this.foreignDepth = 0;
    this.observe(ms);
  }

  private observe(ms: number): void {
    const { slot, lane, nowMs } = this.situation;
    const isOrdered = lane.nonceState !== "none";
    const seen = slot.attempts.map(({ n, offeredSinceMs }): Observation => {
      const depth = this.depth.get(n);
      if (depth !== undefined) return { kind: depth >= 3 ? "final" : "mined", receipt: receipt() };
      if (!isOrdered && this.dead.has(n)) return { kind: "dead", reason: "expired" };
      // The payer of an ordered lane knows only whether nodes accepted it.
      return { kind: (isOrdered ? offeredSinceMs !== undefined : this.nodes.has(n)) ? "offered" : "unseen" };
    });
    const nonceState = this.foreignDepth >= 0 ? "used" : "next";
    this.situation = {
      ...this.situation,
      seen,
      nowMs: nowMs + ms,
      lane: { ...lane, finalBlock: 100n, nonceState: isOrdered ? nonceState : "none" },
    };
  }
}

describe.each(Object.entries(PAYERS))("a payment by the facts of %s", (_, lane) => {
  test("ends, whatever the chain does meanwhile, and its leg counts as paid exactly if it was", () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 0, max: 40 }), (seed, wildRounds) => {
        const chance = chances(seed);
        const chain = new SimulatedChain(lane, chance);
        let rounds = 0;
        for (; !chain.isOver && rounds < 2_000; rounds++) {
          chain.advance();
          chain.passTime(rounds % 7 === 0 ? 40_000 : 3_000, rounds < wildRounds);
        }
        expect(chain.isOver, `${rounds} rounds`).toBe(true);
        // Anything that was ever signed may still be sent by someone.
        for (let round = 0; round < 50; round++) chain.passTime(3_000, true);
        expect(chain.paid).toBe(chain.situation.slot.state === "final" ? 1 : 0);
      }),
      { numRuns: 300 },
    );
  });
});

/** Repeatable randomness. */
function chances(seed: number): (probability: number) => boolean {
  let state = seed >>> 0;
  return (probability) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 < probability;
  };
}
