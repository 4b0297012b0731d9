import type { Address } from "@causeway/domain";
import { expect, test } from "vitest";
import type { DepositAddress } from "./deposit-addresses.port.ts";
import { MAX_PER_ROUND, nextTurn, YOUNG_MS } from "./address-watch.ts";
import type { Turns } from "./address-watch.ts";

const NOW_MS = 1_700_000_000_000;

interface WatchedAddress extends Pick<DepositAddress, "address" | "activeAtMs"> {
  readonly isWaiting?: boolean;
  readonly isUndecided?: boolean;
}

function anAddress(n: number, activeAtMs: number, more: Partial<WatchedAddress> = {}): WatchedAddress {
  return { address: `0x${n.toString(16).padStart(40, "0")}`, activeAtMs, ...more };
}

/** An in-memory stand-in for the database reads. */
function readsOf(all: readonly WatchedAddress[]): Parameters<typeof nextTurn>[0] {
  const firstOf = (chosen: readonly WatchedAddress[], limit: number): DepositAddress[] =>
    chosen.slice(0, limit).map((entry) => entry as WatchedAddress & DepositAddress);
  const inOrder = all.toSorted((a, b) => (a.address < b.address ? -1 : 1));
  return {
    undecided: async (_chainId, limit) =>
      firstOf(
        all.filter(({ isUndecided }) => isUndecided === true),
        limit,
      ),
    active: async (sinceMs, limit) =>
      firstOf(
        all.filter(({ activeAtMs }) => activeAtMs >= sinceMs).toSorted((a, b) => b.activeAtMs - a.activeAtMs),
        limit,
      ),
    waiting: async (after, limit) =>
      firstOf(
        inOrder.filter(({ isWaiting, address }) => isWaiting === true && address > after),
        limit,
      ),
    quiet: async (after, limit) =>
      firstOf(
        inOrder.filter(({ address }) => address > after),
        limit,
      ),
  };
}

async function addressesPerRound(
  all: readonly WatchedAddress[],
  rounds: number,
): Promise<readonly Set<Address>[]> {
  const seen: Set<Address>[] = [];
  let after: Turns = { waiting: "0x80", quiet: "0x80" };
  for (let n = 0; n < rounds; n++) {
    const turn = await nextTurn(readsOf(all), 1, NOW_MS, after);
    after = turn.after;
    expect(new Set(turn.addresses.map(({ address }) => address)).size).toBe(turn.addresses.length);
    seen.push(new Set(turn.addresses.map(({ address }) => address)));
  }
  return seen;
}

test("reads addresses issued or paid within a day with every block, and all others in turn", async () => {
  const young = Array.from({ length: 10 }, (_, n) => anAddress(n, NOW_MS - 1_000 * n));
  const old = Array.from({ length: 900 }, (_, n) => anAddress(100 + n, NOW_MS - YOUNG_MS - 1 - n));
  const rounds = await addressesPerRound([...young, ...old], 6);
  for (const round of rounds) {
    for (const { address } of young) expect(round.has(address)).toBe(true);
    expect(round.size).toBeLessThanOrEqual(210);
  }
  const all = new Set(rounds.flatMap((round) => [...round]));
  expect(all.size).toBe(910);
});

test("few addresses are all read with every block, in one query", async () => {
  const few = Array.from({ length: MAX_PER_ROUND.quiet - 1 }, (_, n) =>
    anAddress(n, NOW_MS - n * YOUNG_MS, { isWaiting: n % 2 === 0, isUndecided: n % 3 === 0 }),
  );
  const [, second, third] = await addressesPerRound(few, 3);
  expect(second?.size).toBe(few.length);
  expect(third?.size).toBe(few.length);
  const { quiet } = readsOf(few);
  const unread = async () => await Promise.reject(new Error("another query"));
  const reads = { undecided: unread, active: unread, waiting: unread, quiet };
  const turn = await nextTurn(reads, 1, NOW_MS, { waiting: "0x", quiet: "0x" });
  expect(turn.addresses).toHaveLength(few.length);
});

test("reads an address with undecided funds with every block, and all waiting addresses in turn", async () => {
  // All of them are newer than the existing addresses.
  const crowd = Array.from({ length: 6_000 }, (_, n) =>
    anAddress(10 + n, NOW_MS - (n < 600 ? 5 : n), { isWaiting: true }),
  );
  const paid = anAddress(1, NOW_MS - YOUNG_MS / 2, { isUndecided: true });
  const honest = anAddress(9_999, NOW_MS - YOUNG_MS / 2, { isWaiting: true });
  const turn = Math.ceil((crowd.length + 1) / MAX_PER_ROUND.waiting) + 1;
  const rounds = await addressesPerRound([paid, ...crowd, honest], turn);
  for (const round of rounds) expect(round.has(paid.address)).toBe(true);
  expect(rounds.some((round) => round.has(honest.address))).toBe(true);
  expect(new Set(rounds.flatMap((round) => [...round])).size).toBe(6_002);
  const limit = MAX_PER_ROUND.undecided + MAX_PER_ROUND.young + MAX_PER_ROUND.waiting + MAX_PER_ROUND.quiet;
  expect(Math.max(...rounds.map(({ size }) => size))).toBeLessThanOrEqual(limit);
});
