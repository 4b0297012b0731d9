import { expect, test } from "vitest";
import { recordedEvents } from "../../../../test/fakes/recorded-events.ts";
import type { Tx, UnitOfWork } from "../db/unit-of-work.port.ts";
import type { Reads } from "../db/reads.port.ts";
import { pruneHistory } from "./prune-history.ts";

/** Prunes 100,000 expired quotes, each taking this long, for one round. */
async function pruneQuotes(msEach: number) {
  let nowMs = 1_700_000_000_000;
  const clock = { nowMs: () => nowMs };
  const commitsMs: number[] = [];
  let remaining = 100_000;
  const pruneNothing = { prune: async () => await Promise.resolve(0) };
  const dropNothing = async () => await Promise.resolve(0);
  const noBytes = { dropBytes: dropNothing, dropSignatures: dropNothing };
  const requests = {
    prune: async (quotes: string, _beforeMs: number, limit: number) => {
      const deleted = quotes === "requests" ? Math.min(remaining, limit) : 0;
      remaining -= deleted;
      nowMs += deleted * msEach;
      return await Promise.resolve({ deleted, seen: deleted });
    },
  };
  const uow: UnitOfWork = {
    run: async (work) => {
      const startedAtMs = clock.nowMs();
      const result = await work({
        outbox: pruneNothing,
        idempotency: pruneNothing,
        claims: pruneNothing,
        requests,
        lanes: noBytes,
        settlement: noBytes,
      } as unknown as Tx);
      commitsMs.push(clock.nowMs() - startedAtMs);
      return result;
    },
  };
  const reads = { newestBlocksMs: async () => await Promise.resolve([clock.nowMs()]) } as unknown as Reads;
  await pruneHistory({ reads, uow, events: recordedEvents(), clock });
  return { remaining, commitsMs };
}

test.each([0.01, 0.4, 2])(
  "prunes rows that take %d ms each in commits of at most half a second",
  async (msEach) => {
    const { commitsMs } = await pruneQuotes(msEach);
    expect(Math.max(...commitsMs)).toBeLessThanOrEqual(500);
  },
);

test("prunes almost 100,000 rows in a round while commits are quick", async () => {
  expect((await pruneQuotes(0.2)).remaining).toBeLessThan(5_000);
});

test("reduces batches until slow rows commit within half a second", async () => {
  const { commitsMs } = await pruneQuotes(20);
  expect(Math.max(...commitsMs.slice(-90))).toBeLessThanOrEqual(500);
});
