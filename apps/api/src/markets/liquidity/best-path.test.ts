import type { Address, ConcentratedPool } from "@causeway/domain";
import { pathInput, pathOutput } from "@causeway/domain";
import fc from "fast-check";
import { expect, test } from "vitest";
import { bestOutput, minInput, type PathSearch } from "./best-path.adapter.ts";
import { concentratedHops, pairHops, type LivePool } from "./live-pool.adapter.ts";
import { tokenPair } from "./token-pair.adapter.ts";

const token = (byte: string): Address => `0x${byte.repeat(20)}`;
const [a, b, c, d] = [token("0a"), token("0b"), token("0c"), token("0d")];

interface PoolSpec {
  readonly ends: readonly [Address, Address];
  readonly source?: string;
  /** Reserves in the order of `ends`. */
  readonly reserves: readonly [bigint, bigint];
}

/** A pair of a source; addresses count up, so that two equal pairs differ. */
function livePools(specs: readonly PoolSpec[]): PathSearch["live"] {
  const live = new Map<string, LivePool[]>();
  for (const [index, { ends, source = "first", reserves }] of specs.entries()) {
    const pair = tokenPair(...ends);
    const [reserve0, reserve1] = pair.token0 === ends[0] ? reserves : [reserves[1], reserves[0]];
    const pool: LivePool = {
      identity: {
        kind: "uniswap-v2",
        pair,
        address: `0x${String(index).padStart(40, "0")}`,
        source: { kind: "uniswap-v2", name: source, factory: token("ff"), feeBps: 30 },
      },
      ...pairHops({ reserve0, reserve1, feeBps: 30n }),
      movedBps: 0,
    };
    live.set(pair.key, [...(live.get(pair.key) ?? []), pool]);
  }
  return live;
}

function search(live: PathSearch["live"], change: Partial<PathSearch> = {}): PathSearch {
  return {
    live,
    sources: ["first", "second"],
    connectors: [b, c],
    tokenIn: a,
    tokenOut: d,
    maxHops: 3,
    ...change,
  };
}

const deep = 10n ** 12n;

test("the path with the highest output wins, regardless of its length, and never leaves its source", () => {
  const live = livePools([
    { ends: [a, d], reserves: [deep, deep / 2n] },
    { ends: [a, b], reserves: [deep, deep] },
    { ends: [b, c], reserves: [deep, deep] },
    { ends: [c, d], reserves: [deep, deep] },
    // The last step would be the best, but its own source has no path to it.
    { ends: [c, d], source: "second", reserves: [deep, deep * 2n] },
  ]);
  expect(bestOutput(search(live), 1_000_000n)?.legs.map(({ tokenOut }) => tokenOut)).toEqual([b, c, d]);
  expect(bestOutput(search(live, { maxHops: 2 }), 1_000_000n)?.legs).toHaveLength(1);
  expect(minInput(search(live), 1_000_000n)?.legs.map(({ tokenIn }) => tokenIn)).toEqual([a, b, c]);
  expect(bestOutput(search(live, { sources: ["second"] }), 1_000_000n)).toBeUndefined();
});

test("ties go to the first source, then the fewest pools, then the first pool", () => {
  const same = { ends: [a, d], reserves: [deep, deep] } as const;
  const live = livePools([{ ...same, source: "second" }, same, same]);
  for (const find of [bestOutput, minInput]) {
    expect(find(search(live), 1_000n)?.legs[0]?.pool.identity.address).toMatch(/1$/);
    expect(
      find(search(live, { sources: ["second", "first"] }), 1_000n)?.legs[0]?.pool.identity.address,
    ).toMatch(/0$/);
  }
});

test("does not fall back to a worse pool when a shallow pool can take only a part of the input", () => {
  const pool: ConcentratedPool = {
    sqrtPrice: 1n << 96n,
    tick: 0,
    liquidity: 10n ** 12n,
    fee: 3_000n,
    tickSpacing: 60,
    // The known range ends close to the price.
    ticks: { from: -15_360, to: 15_300, indexes: [], net: [] },
  };
  const pair = tokenPair(a, d);
  const live = new Map(livePools([{ ends: [a, d], source: "second", reserves: [deep, 1_000n] }]));
  live.set(pair.key, [
    {
      identity: {
        kind: "uniswap-v3",
        pair,
        address: token("01"),
        source: {
          kind: "uniswap-v3",
          name: "first",
          factory: token("ff"),
          router: token("fe"),
          routerKind: "swap-router",
          quoter: token("fd"),
          feeTiers: [3_000],
        },
        fee: 3_000,
        tickSpacing: 60,
      },
      ...concentratedHops(pool),
      movedBps: 0,
    },
    ...(live.get(pair.key) ?? []),
  ]);
  expect(bestOutput(search(live), 10n ** 6n)?.amountOut).toBeGreaterThan(990_000n);
  // More than it can take: the other pool would give less than a thousand for it.
  expect(bestOutput(search(live), 10n ** 13n)).toBeUndefined();
  expect(minInput(search(live), 10n ** 13n)).toBeUndefined();
});

test("more input never buys less, more output never costs less, and each path matches its pools", () => {
  const reserve = fc.bigInt({ min: 1_000n, max: 10n ** 15n });
  const ends = fc.constantFrom<readonly [Address, Address]>([a, d], [a, b], [b, c], [b, d], [a, c], [c, d]);
  const specs = fc.array(
    fc.record({ ends, source: fc.constantFrom("first", "second"), reserves: fc.tuple(reserve, reserve) }),
    { maxLength: 14 },
  );
  const amount = fc.bigInt({ min: 1n, max: 10n ** 15n });
  fc.assert(
    fc.property(specs, amount, amount, (pools, less, more) => {
      const testedSearch = search(livePools(pools));
      const [small, large] = [bestOutput(testedSearch, less), bestOutput(testedSearch, less + more)];
      if (small !== undefined) {
        expect(large !== undefined && large.amountOut >= small.amountOut).toBe(true);
        expect(
          pathOutput(
            small.legs.map(({ hop }) => hop),
            less,
          ).amountOut,
        ).toBe(small.amountOut);
      }
      const [smaller, larger] = [minInput(testedSearch, less), minInput(testedSearch, less + more)];
      if (larger !== undefined)
        expect(smaller !== undefined && smaller.amountIn <= larger.amountIn).toBe(true);
      if (smaller !== undefined) {
        expect(
          pathInput(
            smaller.legs.map(({ hop }) => hop),
            less,
          )?.amountIn,
        ).toBe(smaller.amountIn);
        // The minimum input of an output buys it, and one unit less does not.
        expect(bestOutput(testedSearch, smaller.amountIn)?.amountOut ?? 0n).toBeGreaterThanOrEqual(less);
      }
    }),
  );
});
