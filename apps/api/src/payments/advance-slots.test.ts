import { expect, test } from "vitest";
import { fixedEnginePolicy as policy } from "../config/engine.ts";
import type { Attempt, Slot } from "../db/records.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import { advanceSlots, type SlotCase } from "./advance-slots.ts";
import type { LaneFacts, Observation } from "./next-move.ts";
import type { Payer, Unsigned } from "./payers/payer.ts";

const NOW_MS = 1_700_000_000_000;
const LONG_AGO_MS = NOW_MS - 3_600_000;

/** Bitcoin: bytes conflict by what they spend, and the payer chooses the fees. */
const lane: LaneFacts = {
  nonceState: "none",
  replacement: "unpriced",
  cancelable: "unseen",
  patienceMs: 1_800_000,
  isBeingSent: false,
};

function anAttempt(n: number, kind: Attempt["kind"]): Attempt {
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
function lateCase(...kinds: readonly Attempt["kind"][]): SlotCase {
  const attempts = kinds.map((kind, n) => anAttempt(n, kind));
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
function nonSigningPayer(answer: Unsigned): Payer & { readonly sent: number[]; signCalls: number } {
  const payer = {
    sent: [] as number[],
    signCalls: 0,
    funds: {} as Payer["funds"],
    sign: async () => {
      payer.signCalls++;
      return new Map([["1", answer]]);
    },
    send: async (toSend: Parameters<Payer["send"]>[0]) => {
      payer.sent.push(...toSend.map((one) => one.attempt.n));
      return new Map<string, Error>();
    },
  };
  return payer;
}

const services = {} as WorkerServices;

test.each(["insufficientFunds", "refused"] as const)(
  "rebroadcasts a stuck no-op that cannot be replaced (%s), and requests its replacement once",
  async (answer) => {
    const payer = nonSigningPayer(answer);
    expect((await advanceSlots(services, payer, [lateCase("pay", "noop")])).faults).toEqual([]);
    expect(payer).toMatchObject({ sent: [1], signCalls: 1 });
  },
);

test("rebroadcasts a late payment if the chain refuses to cancel it", async () => {
  const payer = nonSigningPayer("refused");
  await advanceSlots(services, payer, [lateCase("pay")]);
  // First the no-op, then a replacement of the payment, which this payer does not sign either.
  expect(payer).toMatchObject({ sent: [0], signCalls: 2 });
});

test("does not rebroadcast a late payment while funds for its no-op are missing", async () => {
  const payer = nonSigningPayer("insufficientFunds");
  await advanceSlots(services, payer, [lateCase("pay")]);
  expect(payer).toMatchObject({ sent: [], signCalls: 1 });
});
