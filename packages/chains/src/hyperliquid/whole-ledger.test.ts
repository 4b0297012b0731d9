import type { Address, Hex32 } from "@causeway/domain";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { LedgerPage, LedgerTransfer } from "./answers.ts";
import { rememberedFacts } from "../evm/remembered-facts.ts";
import { wholeLedger } from "./whole-ledger.ts";

const user: Address = "0x00000000000000000000000000000000000000a1";

function entryAt(time: bigint, number: number): LedgerTransfer {
  const hash: Hex32 = `0x${number.toString(16).padStart(64, "0")}`;
  return { hash, time, kind: "usdSend", user, destination: user, amount: "1", nonce: undefined };
}

/** An endpoint that gives no more than `most` entries, without saying so. */
function cutting(entries: readonly LedgerTransfer[], most: number, keeps: "oldest" | "newest") {
  let asked = 0;
  const ledger = async (_user: Address, from: bigint, to: bigint): Promise<LedgerPage> => {
    asked += 1;
    const inside = entries.filter(({ time }) => time >= from && time <= to);
    const transfers = keeps === "oldest" ? inside.slice(0, most) : inside.slice(-most);
    return await Promise.resolve({ size: transfers.length, transfers, unknown: [] });
  };
  return { ledger, asked: () => asked };
}

test("a ledger is told whole or not at all, whichever end an answer is cut at", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 3_000 }),
      fc.constantFrom("oldest" as const, "newest" as const),
      async (times, keeps) => {
        const entries = times.toSorted((a, b) => a - b).map((time, at) => entryAt(BigInt(time), at));
        const whole = await wholeLedger(cutting(entries, 448, keeps), user, 0n, 100_000n);
        if (whole !== undefined) expect(whole.transfers).toHaveLength(entries.length);
        // Spread out as these are they can always be had.
        else expect(times.length).toBeGreaterThan(2_000);
      },
    ),
    { numRuns: 30 },
  );
});

test("what cannot be told apart by time is not said to be whole", async () => {
  const crowd = Array.from({ length: 600 }, (_, at) => entryAt(5n, at));
  expect(await wholeLedger(cutting(crowd, 500, "oldest"), user, 0n, 10n)).toBeUndefined();
});

test("what the ledger tells of one hash more than once is told as often: only one of them may be looked for", async () => {
  const twice = [entryAt(3n, 1), { ...entryAt(3n, 1), nonce: 7n }];
  expect(await wholeLedger(cutting(twice, 500, "oldest"), user, 0n, 10n)).toEqual({
    transfers: twice,
    unknown: [],
  });
});

test("a quiet ledger is one question", async () => {
  const endpoint = cutting([entryAt(3n, 1)], 500, "oldest");
  expect((await wholeLedger(endpoint, user, -5n, 10n))?.transfers).toHaveLength(1);
  expect(endpoint.asked()).toBe(1);
});

test("an endpoint that always has too much is not asked for ever", async () => {
  let asked = 0;
  const ledger = async (): Promise<LedgerPage> => {
    asked += 1;
    return await Promise.resolve({ size: 500, transfers: [], unknown: [] });
  };
  expect(await wholeLedger({ ledger }, user, 0n, 10n ** 12n)).toBeUndefined();
  expect(asked).toBeLessThanOrEqual(64);
});

test("a long ledger is read in several goes, when what was told of it is remembered", async () => {
  const entries = Array.from({ length: 40_000 }, (_, at) => entryAt(BigInt(at), at));
  const endpoint = cutting(entries, 500, "newest");
  const told = rememberedFacts<LedgerPage>({ entries: 10_000, bytes: 1e9, sizeOf: () => 1 });
  expect(await wholeLedger(endpoint, user, 0n, 40_000n, told)).toBeUndefined();
  const goes: number[] = [endpoint.asked()];
  for (let whole; whole === undefined && goes.length < 20;) {
    const before = endpoint.asked();
    whole = await wholeLedger(endpoint, user, 0n, 40_000n, told);
    goes.push(endpoint.asked() - before);
    if (whole !== undefined) expect(whole.transfers).toHaveLength(entries.length);
  }
  expect(goes.length).toBeLessThan(20);
  expect(Math.max(...goes)).toBeLessThanOrEqual(64);
});
