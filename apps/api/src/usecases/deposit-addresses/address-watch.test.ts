import type { Address } from "@causeway/domain";
import { expect, test } from "vitest";
import type { DepositAddress } from "../../ports/deposit-addresses.ts";
import { nextTurn, YOUNG_MS } from "./address-watch.ts";

const NOW_MS = 1_700_000_000_000;

function given(n: number, activeAtMs: number): DepositAddress {
  const address: Address = `0x${n.toString(16).padStart(40, "0")}`;
  return { address, activeAtMs } as DepositAddress;
}

/** Stored addresses, asked as the database is. */
function stored(all: readonly DepositAddress[]): Parameters<typeof nextTurn>[0] {
  return {
    active: async (sinceMs, limit) =>
      all
        .filter(({ activeAtMs }) => activeAtMs >= sinceMs)
        .toSorted((a, b) => b.activeAtMs - a.activeAtMs)
        .slice(0, limit),
    quiet: async (beforeMs, after, limit) =>
      all
        .filter(({ activeAtMs, address }) => activeAtMs < beforeMs && address > after)
        .toSorted((a, b) => (a.address < b.address ? -1 : 1))
        .slice(0, limit),
  };
}

async function lookedAt(all: readonly DepositAddress[], looks: number): Promise<readonly Set<Address>[]> {
  const seen: Set<Address>[] = [];
  let after: Address = "0x80";
  for (let n = 0; n < looks; n++) {
    const turn = await nextTurn(stored(all), NOW_MS, after);
    after = turn.after;
    seen.push(new Set(turn.addresses.map(({ address }) => address)));
  }
  return seen;
}

test("what was used within a day is looked at with every block, everything else in turns", async () => {
  const young = Array.from({ length: 10 }, (_, n) => given(n, NOW_MS - 1_000 * n));
  const old = Array.from({ length: 900 }, (_, n) => given(100 + n, NOW_MS - YOUNG_MS - 1 - n));
  const looks = await lookedAt([...young, ...old], 6);
  for (const look of looks) {
    for (const { address } of young) expect(look.has(address)).toBe(true);
    expect(look.size).toBeLessThanOrEqual(210);
  }
  const all = new Set(looks.flatMap((look) => [...look]));
  expect(all.size).toBe(910);
});

test("however many addresses are given out in a day, none is left out for longer than a turn", async () => {
  // All of one moment, too.
  const crowd = Array.from({ length: 1_700 }, (_, n) => given(n, NOW_MS - (n < 600 ? 5 : n)));
  const looks = await lookedAt(crowd, 10);
  const all = new Set(looks.flatMap((look) => [...look]));
  expect(all.size).toBe(1_700);
  expect(Math.max(...looks.map(({ size }) => size))).toBeLessThanOrEqual(1_200);
});
