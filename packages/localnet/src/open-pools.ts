import {
  encodeFunctionData,
  encodePacked,
  erc20Abi,
  getContractAddress,
  keccak256,
  maxUint256,
  parseAbi,
  type Hex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { localAccount } from "./accounts.ts";
import { localDexContracts } from "./deploy-dex.ts";
import { dexCreationCode } from "./dex-artifacts.ts";
import { createLocalClient, sendPipelined, type NodeAddress, type PipelinedCall } from "@causeway/testkit";
import { mintCalls } from "./mint-calls.ts";
import { localPools, type LocalV2Pair, type LocalV3Pool, type PoolToken } from "./pools.ts";

const positionManagerAbi = parseAbi([
  "function createAndInitializePoolIfNecessary(address token0, address token1, uint24 fee, uint160 sqrtPriceX96) payable returns (address pool)",
  "struct MintParams { address token0; address token1; uint24 fee; int24 tickLower; int24 tickUpper; uint256 amount0Desired; uint256 amount1Desired; uint256 amount0Min; uint256 amount1Min; address recipient; uint256 deadline; }",
  "function mint(MintParams params) payable returns (uint256 tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)",
  "function multicall(bytes[] data) payable returns (bytes[] results)",
]);
const pairFactoryAbi = parseAbi([
  "function createPair(address tokenA, address tokenB) returns (address pair)",
]);
const pairAbi = parseAbi(["function mint(address to) returns (uint256 liquidity)"]);

/** Owns all liquidity of the local chains. */
const provider = localAccount("deployer");

/**
 * Creates the pools of the local chains with their liquidity. Run it once per chain, after `deployLocal`.
 *
 * @throws LocalTransactionFailed
 */
export async function openPools(node: NodeAddress): Promise<void> {
  const { v3, v2 } = localPools();
  const tokens = new Map([...v3, ...v2].flatMap(({ pair }) => pair).map((token) => [token.address, token]));
  const calls = [
    ...[...tokens.values()].flatMap(mintAndApprove),
    ...v3.map(poolCreation),
    ...v2.flatMap(pairCreation),
  ];
  await sendPipelined(createLocalClient(node), privateKeyToAccount(provider.privateKey), calls, 8_000_000n);
}

/** Mints more of a token than all pools need, and approves the transfers. */
function mintAndApprove(token: PoolToken): PipelinedCall[] {
  const approve = {
    abi: erc20Abi,
    functionName: "approve",
    args: [localDexContracts.positionManager, maxUint256],
  } as const;
  return [
    ...mintCalls(token.address, provider.address, amountOf(token, 100_000_000)),
    { label: `approval of ${token.symbol}`, to: token.address, data: encodeFunctionData(approve) },
  ];
}

/** One transaction that creates a v3 pool, sets its price and opens its positions. */
function poolCreation({ pair, fee, positions }: LocalV3Pool): PipelinedCall {
  const [a, b] = sortTokens(pair);
  const create = encodeFunctionData({
    abi: positionManagerAbi,
    functionName: "createAndInitializePoolIfNecessary",
    args: [a.address, b.address, fee, sqrtPriceX96(a, b)],
  });
  const mints = positions.map(({ usdPerSide, widthTicks }): Hex => {
    const [tickLower, tickUpper] = rangeOf(tickAt(a, b), widthTicks, spacingOf(fee));
    const params = {
      token0: a.address,
      token1: b.address,
      fee,
      tickLower,
      tickUpper,
      amount0Desired: amountOf(a, usdPerSide),
      amount1Desired: amountOf(b, usdPerSide),
      amount0Min: 0n,
      amount1Min: 0n,
      recipient: provider.address,
      deadline: maxUint256,
    };
    return encodeFunctionData({ abi: positionManagerAbi, functionName: "mint", args: [params] });
  });
  return {
    label: `opening of ${a.symbol}/${b.symbol} at ${fee}`,
    to: localDexContracts.positionManager,
    data: encodeFunctionData({
      abi: positionManagerAbi,
      functionName: "multicall",
      args: [[create, ...mints]],
    }),
  };
}

function pairCreation({ pair: tokens, usdPerSide }: LocalV2Pair): PipelinedCall[] {
  const [a, b] = sortTokens(tokens);
  const pair = getContractAddress({
    opcode: "CREATE2",
    from: localDexContracts.uniswapV2Factory,
    salt: keccak256(encodePacked(["address", "address"], [a.address, b.address])),
    bytecode: dexCreationCode("uniswapV2Pair"),
  });
  const label = `opening of the pair ${a.symbol}/${b.symbol}`;
  const create = { abi: pairFactoryAbi, functionName: "createPair", args: [a.address, b.address] } as const;
  const mint = { abi: pairAbi, functionName: "mint", args: [provider.address] } as const;
  const pay = (token: PoolToken) =>
    ({ abi: erc20Abi, functionName: "transfer", args: [pair, amountOf(token, usdPerSide)] }) as const;
  return [
    { label, to: localDexContracts.uniswapV2Factory, data: encodeFunctionData(create) },
    ...[a, b].map((token) => ({ label, to: token.address, data: encodeFunctionData(pay(token)) })),
    { label, to: pair, data: encodeFunctionData(mint) },
  ];
}

/** Pools sort their tokens by address. */
function sortTokens([a, b]: readonly [PoolToken, PoolToken]): readonly [PoolToken, PoolToken] {
  return BigInt(a.address) < BigInt(b.address) ? [a, b] : [b, a];
}

/** The amount of a token that is worth this many USD, in base units. */
function amountOf({ usd, decimals }: PoolToken, wholeUsd: number): bigint {
  return (BigInt(wholeUsd) * 10n ** 18n * 10n ** BigInt(decimals)) / usd;
}

/**
 * The price of `a` in `b` in the format of v3 pools: the square root of the ratio of base units, with 96
 * fractional bits.
 */
function sqrtPriceX96(a: PoolToken, b: PoolToken): bigint {
  const ofB = b.usd * 10n ** BigInt(a.decimals);
  return squareRoot((a.usd * 10n ** BigInt(b.decimals) * 2n ** 192n) / ofB);
}

/** Rounded down. */
function squareRoot(square: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(square.toString(2).length / 2));
  for (;;) {
    const next = (root + square / root) / 2n;
    if (next >= root) return root;
    root = next;
  }
}

/** The approximate tick of the price, to center ranges on. */
function tickAt(a: PoolToken, b: PoolToken): number {
  const price = (Number(a.usd) / Number(b.usd)) * 10 ** (b.decimals - a.decimals);
  return Math.floor(Math.log(price) / Math.log(1.0001));
}

/** Tick spacing by fee, from the factory's table: bounds of positions must be multiples of it. */
function spacingOf(fee: number): number {
  const spacing = new Map([
    [500, 10],
    [3_000, 60],
    [10_000, 200],
  ]).get(fee);
  if (spacing === undefined) throw new RangeError(`the factory has no pools with fee ${fee}`);
  return spacing;
}

/** Maximum absolute tick of any pool. */
const maxTick = 887_272;

function rangeOf(tick: number, widthTicks: number | undefined, spacing: number): readonly [number, number] {
  const down = (bound: number): number => Math.floor(bound / spacing) * spacing;
  if (widthTicks === undefined) return [-down(maxTick), down(maxTick)];
  return [down(tick - widthTicks), down(tick + widthTicks) + spacing];
}
