import type { Chain } from "@causeway/domain";
import { createLocalClient, startAnvil, type LocalClient, type RunningAnvil } from "@causeway/testkit";
import {
  deployLocal,
  fundLocal,
  localAccount,
  localDeployment,
  localPools,
  nodeEnvironment,
  openPools,
  permit2Address,
  readLocalChains,
  type LocalV3Pool,
  type PoolToken,
} from "@causeway/localnet";
import { erc20Abi, maxUint256, parseAbi, parseUnits, type Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";

const factoryAbi = parseAbi(["function getPool(address, address, uint24) view returns (address)"]);
const poolAbi = parseAbi([
  "function slot0() view returns (uint160 sqrtPriceX96, int24 tick, uint16, uint16, uint16, uint8, bool)",
  "function liquidity() view returns (uint128)",
]);
const quoterAbi = parseAbi([
  "struct Question { address tokenIn; address tokenOut; uint256 amountIn; uint24 fee; uint160 sqrtPriceLimitX96; }",
  "function quoteExactInputSingle(Question question) returns (uint256 amountOut, uint160 sqrtPriceX96After, uint32 initializedTicksCrossed, uint256 gasEstimate)",
]);
const swapRouterAbi = parseAbi([
  "struct Swap { address tokenIn; address tokenOut; uint24 fee; address recipient; uint256 deadline; uint256 amountIn; uint256 amountOutMinimum; uint160 sqrtPriceLimitX96; }",
  "function exactInputSingle(Swap swap) payable returns (uint256 amountOut)",
]);
const pairFactoryAbi = parseAbi(["function getPair(address, address) view returns (address)"]);
const pairAbi = parseAbi([
  "function getReserves() view returns (uint112 reserve0, uint112 reserve1, uint32)",
]);

const pools = localPools();
const trader = localAccount("user");
let nodes: readonly RunningAnvil[];
let chains: readonly Chain[];
let client: LocalClient;
beforeAll(async () => {
  nodes = await Promise.all([72_100_117, 72_100_228].map(async (chainId) => await startAnvil({ chainId })));
  const [a, b] = nodes;
  if (a === undefined || b === undefined) throw new RangeError("expected two nodes");
  chains = readLocalChains(nodeEnvironment({ portA: a.port, portB: b.port }));
  client = createLocalClient(a);
  const tokens = localDeployment.tokens.map(({ address, decimals }) => ({
    token: address,
    amount: parseUnits("10000", decimals),
  }));
  await Promise.all(
    nodes.map(async (node) => {
      await deployLocal(node);
      await openPools(node);
      await fundLocal(node, [{ address: trader.address, nativeWei: 10n ** 21n, tokens }]);
    }),
  );
});
afterAll(async () => await Promise.all(nodes.map(async (node) => await node.stop())));

interface Answer {
  readonly amountOut: bigint;
  readonly sqrtPriceAfter: bigint;
  readonly ticksCrossed: number;
}

async function quoteSwap(
  pool: LocalV3Pool,
  from: PoolToken,
  to: PoolToken,
  amountIn: bigint,
): Promise<Answer> {
  const question = {
    tokenIn: from.address,
    tokenOut: to.address,
    amountIn,
    fee: pool.fee,
    sqrtPriceLimitX96: 0n,
  };
  const { result } = await client.simulateContract({
    address: localDeployment.quoterV2,
    abi: quoterAbi,
    functionName: "quoteExactInputSingle",
    args: [question],
  });
  const [amountOut, sqrtPriceAfter, ticksCrossed] = result;
  return { amountOut, sqrtPriceAfter, ticksCrossed };
}

async function poolAddress(
  { pair: [a, b], fee }: LocalV3Pool,
  chainClient: LocalClient = client,
): Promise<Address> {
  return await chainClient.readContract({
    address: localDeployment.uniswapV3Factory,
    abi: factoryAbi,
    functionName: "getPool",
    args: [a.address, b.address, fee],
  });
}

async function sqrtPriceOf(pool: LocalV3Pool): Promise<bigint> {
  const [price] = await client.readContract({
    address: await poolAddress(pool),
    abi: poolAbi,
    functionName: "slot0",
  });
  return price;
}

/** The base units of a token that are worth this many USD. */
function worth({ usd, decimals }: PoolToken, wholeUsd: bigint): bigint {
  return (wholeUsd * 10n ** 18n * 10n ** BigInt(decimals)) / usd;
}

/** The value in USD of an amount of a token, as a number. */
function usdOf({ usd, decimals }: PoolToken, amount: bigint): number {
  return (Number(amount) / 10 ** decimals) * (Number(usd) / 1e18);
}

function poolName(pool: LocalV3Pool): string {
  return `${pool.pair.map(({ symbol }) => symbol).join("/")} at ${pool.fee}`;
}

function pool(symbols: string, fee: number): LocalV3Pool {
  const found = pools.v3.find((candidate) => poolName(candidate) === `${symbols} at ${fee}`);
  if (found === undefined) throw new RangeError(`no pool ${symbols} at ${fee}`);
  return found;
}

test("the swap protocols, their pools and Permit2 exist on both chains, at the same addresses", async () => {
  const clients = nodes.map((node) => createLocalClient(node));
  const found = await Promise.all(
    clients.map(
      async (chainClient) =>
        await Promise.all(pools.v3.map(async (v3Pool) => await poolAddress(v3Pool, chainClient))),
    ),
  );
  expect(found[0]).toEqual(found[1]);
  expect(new Set(found[0]).size).toBe(pools.v3.length);
  const { tokens, ...contracts } = localDeployment;
  expect(contracts.permit2).toBe(permit2Address);
  const addresses = [
    ...Object.values(contracts),
    ...tokens.map(({ address }) => address),
    ...(found[0] ?? []),
  ];
  const codes = await Promise.all(
    clients.map(
      async (chainClient) =>
        await Promise.all(addresses.map(async (address) => await chainClient.getCode({ address }))),
    ),
  );
  expect(codes[0]?.every((code) => code !== undefined)).toBe(true);
  // Domain separators contain the chain id, so only their length is the same.
  expect(codes[0]?.map((code) => code?.length)).toEqual(codes[1]?.map((code) => code?.length));
  expect(chains[0]?.liquidity).toEqual(chains[1]?.liquidity);
  expect(chains.map(({ contracts: { permit2 } }) => permit2)).toEqual(
    chains.map(() => permit2Address.toLowerCase()),
  );
});

test("every pool is at the fixed price in both directions, minus its fee", async () => {
  for (const v3Pool of pools.v3)
    for (const [from, to] of [v3Pool.pair, v3Pool.pair.toReversed() as [PoolToken, PoolToken]]) {
      const { amountOut } = await quoteSwap(v3Pool, from, to, worth(from, 1n));
      const kept = 1 - v3Pool.fee / 1e6;
      expect(usdOf(to, amountOut) / kept, poolName(v3Pool)).toBeGreaterThan(0.9999);
      expect(usdOf(to, amountOut) / kept, poolName(v3Pool)).toBeLessThanOrEqual(1.000001);
    }
});

test("ten thousand USD move WETH/USDC by less than half a percent and ODD/TST visibly, across the bounds of positions", async () => {
  for (const fee of [500, 3_000]) {
    const deep = pool("WETH/USDC", fee);
    const [weth, usdc] = deep.pair;
    const before = await sqrtPriceOf(deep);
    const { sqrtPriceAfter } = await quoteSwap(deep, usdc, weth, worth(usdc, 10_000n));
    const moved = Math.abs((Number(sqrtPriceAfter) / Number(before)) ** 2 - 1);
    expect(moved).toBeGreaterThan(0.0001);
    expect(moved).toBeLessThan(0.005);
  }
  const dense = pool("WETH/USDC", 500);
  const [weth, usdc] = dense.pair;
  expect((await quoteSwap(dense, weth, usdc, worth(weth, 10n))).ticksCrossed).toBe(0);
  expect((await quoteSwap(dense, weth, usdc, worth(weth, 50_000n))).ticksCrossed).toBeGreaterThan(0);
  const shallow = pool("ODD/TST", 10_000);
  const [odd, tst] = shallow.pair;
  const { amountOut, ticksCrossed } = await quoteSwap(shallow, odd, tst, worth(odd, 5_000n));
  expect(usdOf(tst, amountOut)).toBeLessThan(4_800);
  expect(ticksCrossed).toBeGreaterThan(0);
});

test("the router pays what the quoter reports", async () => {
  const account = privateKeyToAccount(trader.privateKey);
  for (const [v3Pool, usd] of [
    [pool("WETH/USDC", 500), 9_000n],
    [pool("ODD/TST", 10_000), 3_000n],
  ] as const) {
    const [from, to] = v3Pool.pair;
    const amountIn = worth(from, usd);
    const { amountOut } = await quoteSwap(v3Pool, from, to, amountIn);
    const balance = { address: to.address, abi: erc20Abi, functionName: "balanceOf" } as const;
    const before = await client.readContract({ ...balance, args: [trader.address] });
    const approve = { address: from.address, abi: erc20Abi, functionName: "approve" } as const;
    await client.writeContract({ account, ...approve, args: [localDeployment.swapRouter, amountIn] });
    const swap = {
      tokenIn: from.address,
      tokenOut: to.address,
      fee: v3Pool.fee,
      recipient: trader.address,
      deadline: maxUint256,
      amountIn,
      amountOutMinimum: amountOut,
      sqrtPriceLimitX96: 0n,
    };
    const hash = await client.writeContract({
      account,
      address: localDeployment.swapRouter,
      abi: swapRouterAbi,
      functionName: "exactInputSingle",
      args: [swap],
      // The limit exceeds the estimate, because the first trade of each second also records the previous
      // price.
      gas: 500_000n,
    });
    expect((await client.waitForTransactionReceipt({ hash })).status).toBe("success");
    expect((await client.readContract({ ...balance, args: [trader.address] })) - before).toBe(amountOut);
  }
});

test("pools trade ODD only for TST", async () => {
  const odd = localDeployment.tokens.find(({ symbol }) => symbol === "ODD");
  const pairs = [...pools.v3, ...pools.v2].map(({ pair }) => pair.map(({ symbol }) => symbol));
  expect(pairs.filter((pair) => pair.includes("ODD"))).toEqual([["ODD", "TST"]]);
  for (const { address } of localDeployment.tokens) {
    if (address === odd?.address) continue;
    const pair = await client.readContract({
      address: localDeployment.uniswapV2Factory,
      abi: pairFactoryAbi,
      functionName: "getPair",
      args: [odd?.address ?? "0x", address],
    });
    expect(BigInt(pair)).toBe(0n);
  }
});

test("the v2 pair holds as much USDC as TST, at the fixed price", async () => {
  for (const { pair: tokens, usdPerSide } of pools.v2) {
    const [a, b] = tokens.toSorted((token, other) =>
      BigInt(token.address) < BigInt(other.address) ? -1 : 1,
    );
    if (a === undefined || b === undefined) throw new RangeError("expected a pair");
    const pair = await client.readContract({
      address: localDeployment.uniswapV2Factory,
      abi: pairFactoryAbi,
      functionName: "getPair",
      args: [a.address, b.address],
    });
    const [ofA, ofB] = await client.readContract({
      address: pair,
      abi: pairAbi,
      functionName: "getReserves",
    });
    expect([usdOf(a, ofA), usdOf(b, ofB)]).toEqual([usdPerSide, usdPerSide]);
  }
});

test("WETH converts to the native token and back, one for one", async () => {
  const weth = localDeployment.weth9;
  const account = privateKeyToAccount(trader.privateKey);
  const balanceCall = {
    address: weth,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [trader.address],
  } as const;
  const before = await client.readContract(balanceCall);
  const abi = parseAbi(["function deposit() payable", "function withdraw(uint256 amount)"]);
  await client.writeContract({ account, address: weth, abi, functionName: "deposit", value: 7n });
  expect((await client.readContract(balanceCall)) - before).toBe(7n);
  await client.writeContract({ account, address: weth, abi, functionName: "withdraw", args: [7n] });
  expect(await client.readContract(balanceCall)).toBe(before);
  expect(await client.getBalance({ address: weth })).toBe(
    await client.readContract({ address: weth, abi: erc20Abi, functionName: "totalSupply" }),
  );
});
