import { expect, test } from "vitest";
import { fixedEnginePolicy as policy } from "../config/engine.ts";
import type { Attempt, Slot } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import { advanceSlots, type Case } from "./advance-slots.ts";
import type { LaneFacts, Observation } from "./next-move.ts";
import type { Payer, Unsigned } from "./payers/payer.ts";

const NOW_MS = 1_700_000_000_000;
const LONG_AGO_MS = NOW_MS - 3_600_000;

/** Bitcoin: bytes conflict by what they spend, and the payer chooses the fees. */
const lane: LaneFacts = {
  turn: "none",
  replacement: "unpriced",
  cancelable: "unseen",
  patienceMs: 1_800_000,
  isBeingSent: false,
};

function attempt(n: number, kind: Attempt["kind"]): Attempt {
  return {
    n,
    kind,
    raw: "0xabcd",
    txHash: `0x${String(n)}`,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 0n,
    createdAtMs: LONG_AGO_MS,
    broadcastAtMs: LONG_AGO_MS,
    offeredSinceMs: LONG_AGO_MS,
  };
}

/** An unseen payment that is too late, perhaps with a no-op in its place. */
function lateCase(...kinds: readonly Attempt["kind"][]): Case {
  const attempts = kinds.map((kind, n) => attempt(n, kind));
  const slot = {
    id: "1",
    state: "open",
    attempts,
    cancelReason: kinds.includes("noop") ? "TRANSACTION_NOT_INCLUDED" : undefined,
    cancelAfterMs: LONG_AGO_MS,
    createdAtMs: LONG_AGO_MS,
    leg: { kind: "fill", id: "0x01", requestId: "0x01" },
  } as unknown as Slot;
  const seen = attempts.map((): Observation => ({ kind: "unseen" }));
  return { slot, seen, lane, policy, nowMs: NOW_MS };
}

/** A payer that signs nothing. */
function unwilling(answer: Unsigned): Payer & { readonly sent: number[]; asked: number } {
  const payer = {
    sent: [] as number[],
    asked: 0,
    funds: {} as Payer["funds"],
    sign: async () => {
      payer.asked++;
      return new Map([["1", answer]]);
    },
    send: async (some: Parameters<Payer["send"]>[0]) => {
      payer.sent.push(...some.map((one) => one.attempt.n));
      return new Map<string, Error>();
    },
  };
  return payer;
}

const services = {} as WorkerServices;

test.each(["short", "refused"] as const)(
  "rebroadcasts a stuck no-op that cannot be replaced (%s), and requests its replacement once",
  async (answer) => {
    const payer = unwilling(answer);
    expect((await advanceSlots(services, payer, [lateCase("pay", "noop")])).faults).toEqual([]);
    expect(payer).toMatchObject({ sent: [1], asked: 1 });
  },
);

test("rebroadcasts a late payment if the chain refuses to cancel it", async () => {
  const payer = unwilling("refused");
  await advanceSlots(services, payer, [lateCase("pay")]);
  // First the no-op, then a replacement of the payment, which this payer does not sign either.
  expect(payer).toMatchObject({ sent: [0], asked: 2 });
});

test("does not rebroadcast a late payment while funds for its no-op are missing", async () => {
  const payer = unwilling("short");
  await advanceSlots(services, payer, [lateCase("pay")]);
  expect(payer).toMatchObject({ sent: [], asked: 1 });
});
