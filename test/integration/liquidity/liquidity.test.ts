import type { Address, Hex, Hop } from "@causeway/domain";
import { NATIVE_CURRENCY, pathInput, pathOutput } from "@causeway/domain";
import { loadFixedPrices } from "@causeway/config";
import { fundLocal, localAccount, localDexContracts } from "@causeway/localnet";
import { repositoryRoot } from "@causeway/testkit";
import { decodeAbiParameters, encodeFunctionData, erc20Abi, parseAbi } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Leg } from "../../../apps/api/src/markets/liquidity/best-path.adapter.ts";
import type { PoolSnapshot } from "../../../apps/api/src/markets/liquidity/chain-pools.adapter.ts";
import { createPoolUsd, type PricedChain } from "../../../apps/api/src/markets/liquidity/pool-usd.adapter.ts";
import {
  concentratedPath,
  reversedPath,
} from "../../../apps/api/src/markets/liquidity/swap-calls.adapter.ts";
import { tokenPair } from "../../../apps/api/src/markets/liquidity/token-pair.adapter.ts";
import type { SwapAnswer, SwapQuestion } from "../../../apps/api/src/markets/liquidity/liquidity.port.ts";
import { liquiditySourceContract } from "../../contracts/liquidity-source.ts";
import { adjustablePrices } from "../../fakes/adjustable-prices.ts";
import { pairLiquidity } from "../../fakes/pair-liquidity.ts";
import { fundGas, startPoolWorld, type PoolWorld } from "../../support/pool-world.ts";

// One chain with the real contracts. The tests below run on it in order.

const quoterAbi = parseAbi([
  "function quoteExactInput(bytes path, uint256 amountIn) returns (uint256 amountOut, uint160[], uint32[], uint256)",
  "function quoteExactOutput(bytes path, uint256 amountOut) returns (uint256 amountIn, uint160[], uint32[], uint256)",
]);
const pairRouterAbi = parseAbi([
  "function getAmountsOut(uint256 amountIn, address[] path) view returns (uint256[] amounts)",
  "function getAmountsIn(uint256 amountOut, address[] path) view returns (uint256[] amounts)",
]);

let world: PoolWorld;
beforeAll(async () => {
  world = await startPoolWorld();
  await world.announce();
  await openMorePools();
});
afterAll(async () => await world.stop());

/** A generator of numbers from a seed. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Adds liquidity in many ranges around the price, so that swaps cross many ticks. */
async function openMorePools(): Promise<void> {
  const random = numbersFrom(7);
  const snapshot = await world.pools.read(world.pairs);
  const spacings = new Map([
    [500, 10],
    [3_000, 60],
    [10_000, 200],
  ]);
  for (const live of snapshot.live.values())
    for (const { identity, down } of live) {
      if (identity.kind !== "uniswap-v3" || down.kind !== "concentrated") continue;
      const spacing = spacings.get(identity.fee) as number;
      const center = Math.floor(down.pool.tick / spacing);
      for (let count = 0; count < 6; count++) {
        const from = center + Math.floor(random() * 60) - 40;
        const to = from + 1 + Math.floor(random() * 60);
        const amount = (token: Address): bigint =>
          BigInt(Math.floor(random() * 1e6)) * (token === world.token.USDC ? 10n ** 4n : 10n ** 15n);
        await world.addLiquidity({
          pair: identity.pair,
          fee: identity.fee,
          tickLower: from * spacing,
          tickUpper: to * spacing,
          amount0: amount(identity.pair.token0),
          amount1: amount(identity.pair.token1),
        });
      }
    }
  await world.announce();
}

/** Every path without repeated tokens over at most three pools of one source. */
function pathsIn({ live }: PoolSnapshot): (readonly Leg[])[] {
  const tokens = Object.values(world.token);
  const extendPath = (legs: readonly Leg[]): (readonly Leg[])[] => {
    const seen = legs.flatMap(({ tokenIn, tokenOut }) => [tokenIn, tokenOut]);
    const starts = legs.length === 0 ? tokens : [(legs.at(-1) as Leg).tokenOut];
    const next = starts.flatMap((tokenIn) =>
      tokens
        .filter((tokenOut) => tokenOut !== tokenIn && !seen.includes(tokenOut))
        .flatMap((tokenOut) => {
          const pair = tokenPair(tokenIn, tokenOut);
          return (live.get(pair.key) ?? [])
            .filter(({ identity }) => legs.every(({ pool }) => pool.identity.source === identity.source))
            .map((pool): readonly Leg[] => {
              const hop = pair.token0 === tokenIn ? pool.down : pool.up;
              return [...legs, { pool, hop, tokenIn, tokenOut, crossedTicks: 0 }];
            });
        }),
    );
    return legs.length === 2 ? next : [...next, ...next.flatMap(extendPath)];
  };
  return extendPath([]);
}

interface Trial {
  readonly legs: readonly Leg[];
  readonly kind: "exactIn" | "exactOut";
  readonly amount: bigint;
}

/** The call that asks the contracts for the quote of a trial. */
function quoterCall({ legs, kind, amount }: Trial): { readonly to: Address; readonly data: Hex } {
  const tokens = [(legs[0] as Leg).tokenIn, ...legs.map(({ tokenOut }) => tokenOut)];
  const isPair = legs[0]?.pool.identity.kind === "uniswap-v2";
  if (isPair) {
    const functionName = kind === "exactIn" ? "getAmountsOut" : "getAmountsIn";
    return {
      to: world.v2.router,
      data: encodeFunctionData({ abi: pairRouterAbi, functionName, args: [amount, tokens] }),
    };
  }
  const data =
    kind === "exactIn"
      ? encodeFunctionData({
          abi: quoterAbi,
          functionName: "quoteExactInput",
          args: [concentratedPath(legs), amount],
        })
      : encodeFunctionData({
          abi: quoterAbi,
          functionName: "quoteExactOutput",
          args: [reversedPath(legs), amount],
        });
  return { to: world.v3.quoter, data };
}

/** The output that `exactIn` answers, or the input that `exactOut` answers; undefined if contracts revert. */
function answeredAmount(answer: Hex | undefined, { legs, kind }: Trial): bigint | undefined {
  if (answer === undefined) return undefined;
  if (legs[0]?.pool.identity.kind !== "uniswap-v2") return BigInt(answer.slice(0, 66));
  const [amounts] = decodeAbiParameters([{ type: "uint256[]" }], answer);
  return kind === "exactIn" ? amounts.at(-1) : amounts[0];
}

/**
 * The service's quote. Undefined if the pools or their known ticks do not suffice, or if the output is zero.
 */
function quoteInMemory({ legs, kind, amount }: Trial): bigint | undefined {
  const hops: Hop[] = legs.map(({ hop }) => hop);
  if (kind === "exactOut") return pathInput(hops, amount)?.amountIn;
  const output = pathOutput(hops, amount);
  return output.complete && output.amountOut > 0n ? output.amountOut : undefined;
}

async function compare(trials: readonly Trial[]): Promise<{ equal: number; refused: number }> {
  let equal = 0;
  let refused = 0;
  for (let start = 0; start < trials.length; start += 50) {
    const part = trials.slice(start, start + 50);
    const answers = await world.callTogether(part.map(quoterCall));
    for (const [index, trial] of part.entries()) {
      const theirs = answeredAmount(answers[index], trial);
      const ours = quoteInMemory(trial);
      const described = { kind: trial.kind, amount: trial.amount, hops: trial.legs.length };
      if (ours !== undefined) {
        expect({ ...described, answer: ours }).toEqual({ ...described, answer: theirs });
        equal++;
      } else {
        // For an input, a quoter also answers if only a part can be swapped. For an output, it does not.
        if (trial.kind === "exactOut")
          expect({ ...described, theirs }).toEqual({ ...described, theirs: undefined });
        refused++;
      }
    }
  }
  return { equal, refused };
}

/** Random trials, with amounts from dust to more than the pools hold. Each magnitude has as many trials. */
function trialsOf(snapshot: PoolSnapshot, count: number, seed: number): Trial[] {
  const random = numbersFrom(seed);
  const paths = pathsIn(snapshot);
  return Array.from({ length: count }, (): Trial => {
    const legs = paths[Math.floor(random() * paths.length)] as readonly Leg[];
    const kind = random() < 0.5 ? "exactIn" : "exactOut";
    const token = kind === "exactIn" ? (legs[0] as Leg).tokenIn : (legs.at(-1) as Leg).tokenOut;
    const digits = token === world.token.USDC ? 3 + random() * 10 : 10 + random() * 15;
    return { legs, kind, amount: BigInt(Math.floor(10 ** digits)) };
  });
}

test("2,000 swaps of any size over one to three pools match the contracts, to the unit", async () => {
  const snapshot = await world.pools.read(world.pairs);
  const trials = trialsOf(snapshot, 2_600, 11);
  const { equal, refused } = await compare(trials);
  expect(equal).toBeGreaterThanOrEqual(2_000);
  expect(refused).toBeGreaterThan(0);
  const crossing = trials.filter(
    ({ legs, kind, amount }) =>
      kind === "exactIn" &&
      pathOutput(
        legs.map(({ hop }) => hop),
        amount,
      ).crossedTicks > 0,
  );
  expect(crossing.length).toBeGreaterThan(200);
  const lengths = new Set(trials.map(({ legs }) => legs.length));
  expect(lengths).toEqual(new Set([1, 2, 3]));
});

function question(tokenIn: Address, tokenOut: Address, change: Partial<SwapQuestion> = {}): SwapQuestion {
  const { id: chainId } = world.chain;
  return {
    chainId,
    tokenIn,
    tokenOut,
    included: undefined,
    excluded: new Set(),
    maxHops: 3,
    shouldQueryExternal: false,
    ...change,
  };
}

const unit = 10n ** 18n;

test("without a new block, quotes swaps synchronously and without a call", async () => {
  const { USDC, TST, WETH, ODD } = world.token;
  await world.liquidity.exactIn(question(ODD, USDC), unit);
  const before = world.node.requestCount;
  for (let count = 1n; count <= 300n; count++) {
    const answers = [
      world.liquidity.exactIn(question(ODD, USDC), count * unit),
      world.liquidity.exactOut(question(WETH, ODD), count * unit),
      world.liquidity.exactIn(question(TST, WETH), count * unit),
    ];
    for (const answer of answers) expect(answer).not.toBeInstanceOf(Promise);
  }
  expect(world.node.requestCount).toBe(before);
});

test("reads a new block once for all callers, and then quotes synchronously again", async () => {
  const { USDC, ODD } = world.token;
  const before = world.node.requestCount;
  await world.client.mine({ blocks: 1 });
  const head = await world.announce();
  const answers = await Promise.all(
    Array.from({ length: 20 }, async () => await world.liquidity.exactIn(question(ODD, USDC), unit)),
  );
  expect(new Set(answers.map((answer) => answer?.blockNumber))).toEqual(new Set([head.number]));
  // One request reads the pools of all pairs, and another one the block's liquidity changes.
  expect(world.node.requestCount - before).toBe(2);
  expect(world.liquidity.exactIn(question(ODD, USDC), unit)).not.toBeInstanceOf(Promise);
});

/** Checks that the state in memory equals what a new process reads and what the contracts answer. */
async function expectAccurate(seed: number): Promise<void> {
  await world.announce();
  const snapshot = await world.pools.read(world.pairs);
  const other = world.freshPools();
  const reread = await other.read(world.pairs);
  other.close();
  const facts = ({ live }: PoolSnapshot): unknown =>
    [...live].map(([key, pools]) => [key, pools.map(({ identity, down }) => [identity.address, down.pool])]);
  expect(facts(snapshot)).toEqual(facts(reread));
  const { equal } = await compare(trialsOf(snapshot, 60, seed));
  expect(equal).toBeGreaterThan(30);
}

test("the cached pools follow liquidity that is added and removed, near the price and far from it, from block to block", async () => {
  const { WETH, USDC } = world.token;
  const pair = tokenPair(WETH, USDC);
  const pool = (await world.pools.read(world.pairs)).live.get(pair.key)?.[0]?.down;
  if (pool?.kind !== "concentrated") throw new TypeError("the first pool is not a v3 pool");
  const center = Math.floor(pool.pool.tick / 10) * 10;
  const far = pool.pool.ticks.to + 10;
  const amounts = { amount0: 10n ** 12n, amount1: 10n ** 12n };
  for (const [from, to] of [
    [center - 50, center + 60],
    [center + 300, center + 500],
    [far, far + 1_000],
  ] as const) {
    await world.addLiquidity({ pair, fee: 500, tickLower: from, tickUpper: to, ...amounts });
    await world.announce();
    await world.pools.read(world.pairs);
  }
  await expectAccurate(21);
  const opened = await openedPositions();
  // Removes the last three positions.
  for (const id of [opened, opened - 1n, opened - 2n]) await world.removeLiquidity(id);
  await expectAccurate(22);
});

async function openedPositions(): Promise<bigint> {
  return await world.client.readContract({
    abi: parseAbi(["function totalSupply() view returns (uint256)"]),
    address: localDexContracts.positionManager,
    functionName: "totalSupply",
  });
}

test("the cached pools are accurate after one or a hundred missed blocks, and after an orphaned block", async () => {
  const { TST, WETH } = world.token;
  const pair = tokenPair(TST, WETH);
  const position = { pair, fee: 3_000, amount0: unit, amount1: unit };
  const pool = (await world.pools.read(world.pairs)).live.get(pair.key)?.[0]?.down;
  if (pool?.kind !== "concentrated") throw new TypeError("the first pool is not a v3 pool");
  const near = Math.floor(pool.pool.tick / 60) * 60;
  await world.addLiquidity({ ...position, tickLower: near - 600, tickUpper: near + 600 });
  await world.client.mine({ blocks: 2 });
  await expectAccurate(31);
  await world.addLiquidity({ ...position, tickLower: near - 1_200, tickUpper: near + 60 });
  await world.client.mine({ blocks: 100 });
  await expectAccurate(32);
  // A block without liquidity changes replaces a block that changed liquidity.
  await world.addLiquidity({ ...position, tickLower: near - 1_800, tickUpper: near + 120 });
  await world.announce();
  await world.pools.read(world.pairs);
  await world.client.request({ method: "anvil_reorg" as never, params: [1, []] as never });
  await world.client.mine({ blocks: 1 });
  await expectAccurate(33);
});

test("ticks are read again with each block if the node refuses block hashes in log filters", async () => {
  const { TST, WETH } = world.token;
  world.node.refusesHashes = true;
  for (const seed of [41, 42]) {
    const pair = tokenPair(TST, WETH);
    const pool = (await world.pools.read(world.pairs)).live.get(pair.key)?.[0]?.down;
    if (pool?.kind !== "concentrated") throw new TypeError("the first pool is not a v3 pool");
    const near = Math.floor(pool.pool.tick / 60) * 60;
    await world.addLiquidity({
      pair,
      fee: 3_000,
      amount0: unit,
      amount1: unit,
      tickLower: near - 600,
      tickUpper: near + 600,
    });
    const head = await world.announce();
    await expect.poll(async () => (await world.pools.read(world.pairs)).block.number).toBe(head.number);
    await expectAccurate(seed);
  }
  world.node.refusesHashes = false;
});

test("while a new block cannot be read, uses one that is at most two blocks older, and then none", async () => {
  const { USDC, ODD } = world.token;
  const known = await world.liquidity.exactIn(question(ODD, USDC), unit);
  world.node.isDown = true;
  for (let behind = 0; behind < 2; behind++) {
    await world.client.mine({ blocks: 1 });
    await world.announce();
    expect((await world.liquidity.exactIn(question(ODD, USDC), unit))?.blockNumber).toBe(known?.blockNumber);
  }
  await world.client.mine({ blocks: 1 });
  await world.announce();
  await expect(world.liquidity.exactIn(question(ODD, USDC), unit)).rejects.toThrow("could not be read");
  world.node.isDown = false;
  const head = await world.announce();
  expect((await world.liquidity.exactIn(question(ODD, USDC), unit))?.blockNumber).toBe(head.number);
});

test("a slow node does not delay callers: a state at most two blocks older answers after a moment", async () => {
  const { USDC, ODD } = world.token;
  const known = await world.liquidity.exactIn(question(ODD, USDC), unit);
  world.node.slowMs = 300;
  await world.client.mine({ blocks: 1 });
  const head = await world.announce();
  const startedAt = performance.now();
  expect((await world.liquidity.exactIn(question(ODD, USDC), unit))?.blockNumber).toBe(known?.blockNumber);
  expect(performance.now() - startedAt).toBeLessThan(250);
  world.node.slowMs = 0;
  await expect
    .poll(async () => (await world.liquidity.exactIn(question(ODD, USDC), unit))?.blockNumber)
    .toBe(head.number);
});

test("if the node lacks the announced block, reads the newest block that the node has", async () => {
  const { USDC, ODD } = world.token;
  await world.client.mine({ blocks: 3 });
  const newest = await world.client.getBlock();
  world.node.behind = { unknown: newest.hash, newest: newest.number - 1n };
  await world.announce();
  expect((await world.liquidity.exactIn(question(ODD, USDC), unit))?.blockNumber).toBe(newest.number - 1n);
  world.node.behind = undefined;
  expect((await world.liquidity.exactIn(question(ODD, USDC), unit))?.blockNumber).toBe(newest.number);
  await expectAccurate(51);
});

const trader = localAccount("user", 3);
const receiver: Address = `0x${"5e".repeat(20)}`;

async function balance(token: Address, holder: Address): Promise<bigint> {
  const { client } = world;
  return await client.readContract({
    abi: erc20Abi,
    address: token,
    functionName: "balanceOf",
    args: [holder],
  });
}

async function fund(token: Address, amount: bigint): Promise<void> {
  const node = { url: world.chain.rpcUrl, chainId: world.chain.id };
  await fundLocal(node, [{ address: trader.address, nativeWei: 0n, tokens: [{ token, amount }] }]);
  await fundGas(world, trader.address);
  await world.announce();
}

async function allowanceLeft(answer: SwapAnswer): Promise<bigint> {
  const { v3, v2, client } = world;
  return await client.readContract({
    abi: erc20Abi,
    address: answer.path[0] as Address,
    functionName: "allowance",
    args: [trader.address, answer.source === v3.name ? v3.router : v2.router],
  });
}

test("the calls of a quoted swap spend the exact input or deliver the exact output, and leave no allowance", async () => {
  const { USDC, TST, WETH, ODD } = world.token;
  const only = (name: string): Partial<SwapQuestion> => ({ included: new Set([name]) });
  const cases = [
    { ...question(WETH, USDC), kind: "exactIn", amount: unit },
    { ...question(ODD, USDC), kind: "exactIn", amount: 50n * unit },
    { ...question(USDC, ODD, only(world.v3.name)), kind: "exactOut", amount: 40n * unit },
    { ...question(TST, USDC, only(world.v2.name)), kind: "exactIn", amount: 1_000n * unit },
    { ...question(TST, USDC, only(world.v2.name)), kind: "exactOut", amount: 777_777_777n },
    { ...question(WETH, ODD), kind: "exactOut", amount: 7n * unit },
  ] as const;
  const gas: object[] = [];
  for (const { kind, amount, ...pair } of cases) {
    const { tokenIn, tokenOut } = pair;
    await fund(tokenIn, 10n ** 24n);
    const answer = await world.liquidity[kind](pair, amount);
    if (answer === undefined) throw new TypeError("no route found");
    const [before, receiverBefore] = [
      await balance(tokenIn, trader.address),
      await balance(tokenOut, receiver),
    ];
    // The input limit is 1.5 times the quote, so the call must remove the rest of the allowance.
    const limit = kind === "exactIn" ? answer.amountOut : (answer.amountIn * 3n) / 2n;
    const used = await world.send(trader, answer.calls({ kind, limit, recipient: receiver }));
    expect(before - (await balance(tokenIn, trader.address))).toBe(answer.amountIn);
    expect((await balance(tokenOut, receiver)) - receiverBefore).toBe(answer.amountOut);
    expect(answer[kind === "exactIn" ? "amountIn" : "amountOut"]).toBe(amount);
    expect(await allowanceLeft(answer)).toBe(0n);
    const total = used.reduce((sum, gasUsed) => sum + gasUsed - 21_000n, 0n);
    gas.push({
      kind,
      hops: answer.path.length - 1,
      source: answer.source,
      used,
      total,
      estimated: answer.gas,
    });
    expect(answer.gas >= total).toBe(true);
    await world.announce();
  }
  if (process.env["SHOW_GAS"]) console.log(gas);
});

test("a swap worse than its limit reverts", async () => {
  const { WETH, USDC } = world.token;
  await fund(WETH, 10n * unit);
  const answer = await world.liquidity.exactIn(question(WETH, USDC), unit);
  if (answer === undefined) throw new TypeError("no route found");
  const calls = answer.calls({ kind: "exactIn", limit: answer.amountOut + 1n, recipient: receiver });
  await expect(world.send(trader, calls)).rejects.toThrow();
  await world.announce();
  const bought = await world.liquidity.exactOut(question(WETH, USDC), 1_000_000n);
  if (bought === undefined) throw new TypeError("no route found");
  const tooCheap = bought.calls({ kind: "exactOut", limit: bought.amountIn - 1n, recipient: receiver });
  await expect(world.send(trader, tooCheap)).rejects.toThrow();
});

test("in any pools, a larger input never buys less and a larger output never costs less", async () => {
  const { USDC, TST, WETH, ODD } = world.token;
  const random = numbersFrom(41);
  for (const [tokenIn, tokenOut] of [
    [ODD, USDC],
    [USDC, ODD],
    [WETH, TST],
    [TST, USDC],
  ] as const) {
    const digits = tokenIn === USDC ? 14 : 26;
    const amounts = Array.from({ length: 120 }, () => BigInt(Math.floor(10 ** (random() * digits)))).toSorted(
      (a, b) => (a < b ? -1 : 1),
    );
    for (const kind of ["exactIn", "exactOut"] as const) {
      let last = 0n;
      for (const amount of amounts) {
        const answer = await world.liquidity[kind](question(tokenIn, tokenOut), amount);
        const quotedAmount = kind === "exactIn" ? answer?.amountOut : answer?.amountIn;
        if (quotedAmount === undefined) continue;
        expect(quotedAmount).toBeGreaterThanOrEqual(last);
        last = quotedAmount;
      }
      expect(last).toBeGreaterThan(0n);
    }
  }
});

test("a token without a price is valued by its deepest path to a token with a price", async () => {
  const { chain, pools } = world;
  const { liquidity, native, tokens } = chain;
  if (liquidity === undefined) throw new TypeError("the chain has no pools");
  const priced: PricedChain = {
    chainId: chain.id,
    liquidity,
    native,
    tokens,
    pools,
    plainApprovals: new Set(),
  };
  const prices = adjustablePrices({ "usd-coin": "1" });
  const usd = createPoolUsd([priced], prices);
  const usdValue = (address: Address, decimals = 18): number =>
    Number(usd({ chainId: chain.id, address, decimals }) ?? 0n) / 1e18;
  const { WETH, TST, ODD } = world.token;
  // Trades in earlier tests moved the pools slightly from their initial prices.
  const opened = loadFixedPrices({ environment: "local", configsDir: `${repositoryRoot}/configs` });
  const openedUsd = (priceId: string): number => Number(opened.get(priceId)) / 1e18;
  expect(usdValue(WETH) / openedUsd("ethereum")).toBeCloseTo(1, 1);
  expect(usdValue(TST) / openedUsd("causeway-test-token")).toBeCloseTo(1, 1);
  // Two pools are between ODD and the token with a price.
  expect(usdValue(ODD)).toBeGreaterThan(3);
  expect(usdValue(ODD)).toBeLessThan(5);
  expect(usdValue(NATIVE_CURRENCY)).toBe(usdValue(WETH));
  expect(usd({ chainId: chain.id, address: receiver, decimals: 18 })).toBeUndefined();
  prices.set("usd-coin", undefined);
  expect(usd({ chainId: chain.id, address: ODD, decimals: 18 })).toBeUndefined();
});

test("paths respect the requested sources and maximum length", async () => {
  const { USDC, ODD, TST } = world.token;
  const { liquidity, v2, v3 } = world;
  expect(liquidity.sources(world.chain.id)).toEqual([v3.name, v2.name]);
  const direct = await liquidity.exactIn(question(ODD, USDC, { maxHops: 1 }), unit);
  expect(direct).toBeUndefined();
  const twoHops = await liquidity.exactIn(question(ODD, USDC, { maxHops: 2 }), unit);
  expect(twoHops?.path).toEqual([ODD, TST, USDC]);
  const without = await liquidity.exactIn(question(TST, USDC, { excluded: new Set([v2.name]) }), unit);
  expect(without?.source).toBe(v3.name);
  const within = await liquidity.exactIn(question(TST, USDC, { included: new Set([v2.name]) }), unit);
  expect(within?.source).toBe(v2.name);
  expect(await liquidity.exactIn(question(TST, USDC, { included: new Set() }), unit)).toBeUndefined();
  expect(await liquidity.exactIn(question(TST, TST), unit)).toBeUndefined();
});

// This is the last test, because the pairs that it requests are watched from then on.
const anyPath = { included: undefined, excluded: new Set<string>(), maxHops: 3, shouldQueryExternal: false };

liquiditySourceContract("fake pools", async () => {
  const tokens = [`0x${"a1".repeat(20)}`, `0x${"a2".repeat(20)}`] as const;
  const source = pairLiquidity([{ chainId: 1, source: "pairs", tokens, reserves: [10n ** 24n, 10n ** 12n] }]);
  return {
    source,
    question: { ...anyPath, chainId: 1, tokenIn: tokens[0], tokenOut: tokens[1] },
    amountIn: 10n ** 17n,
  };
});
liquiditySourceContract("pools of a chain", async () => ({
  source: world.liquidity,
  question: {
    ...anyPath,
    chainId: world.chain.id,
    tokenIn: world.token.WETH,
    tokenOut: world.token.USDC,
  },
  amountIn: 10n ** 17n,
}));
