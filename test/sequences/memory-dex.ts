import type { Address, Chain } from "@causeway/domain";
import { approveCalldata, keccakOf, pairInput, pairOutput, spotPair } from "@causeway/domain";
import { decodeFunctionData, encodeFunctionData, parseAbi, toHex } from "viem";
import type {
  LiquiditySource,
  SwapAnswer,
  SwapQuestion,
} from "../../apps/api/src/markets/liquidity/liquidity.port.ts";
import { NATIVE, Reverted, lower, word, type Contract } from "./memory-evm.ts";
import type { SequenceChain } from "./sequence-chain.ts";

/**
 * A swap protocol with constant-product pairs of USDC and another token, and the liquidity source that reads
 * its newest state.
 */

const abi = parseAbi([
  "function swap(bool exactIn, address[] path, uint256 amount, uint256 limit, address to) returns (uint256)",
]);

export const DEX: Address = "0x0000000000000000000000000000000000000de0";
/** A source in the chain's configuration, so that quotes and fills may use it. */
const SOURCE = "uniswap-v2";
const FEE_BPS = 30n;
const HOP_GAS = 90_000n;
const SLIPPAGE_BPS = 25;

/** The account with the reserves of a pair. */
export const pairOf = (a: Address, b: Address): Address =>
  `0x${keccakOf(toHex([a, b].toSorted().join(" "))).slice(26)}`;

type BalanceOf = (currency: Address, holder: Address) => bigint;

/** @returns undefined if the reserves do not allow it */
function costOf(balance: BalanceOf, path: readonly Address[], amountOut: bigint): bigint | undefined {
  let amount: bigint | undefined = amountOut;
  for (let at = path.length - 1; at > 0 && amount !== undefined; at--)
    amount = pairInput(poolOf(balance, path[at - 1] as Address, path[at] as Address), true, amount);
  return amount;
}

function resultOf(
  balance: BalanceOf,
  path: readonly Address[],
  amountIn: bigint,
  price: typeof pairOutput,
): bigint {
  let amount = amountIn;
  for (let at = 1; at < path.length; at++)
    amount = price(poolOf(balance, path[at - 1] as Address, path[at] as Address), true, amount);
  return amount;
}

function poolOf(balance: BalanceOf, tokenIn: Address, tokenOut: Address): Parameters<typeof pairOutput>[0] {
  const pair = pairOf(tokenIn, tokenOut);
  return { reserve0: balance(tokenIn, pair), reserve1: balance(tokenOut, pair), feeBps: FEE_BPS };
}

export const dex: Contract = (evm, { from, to: self, data }) => {
  const { args } = decodeFunctionData({ abi, data });
  const [exactIn, path, amount, limit, recipient] = args;
  const tokens = path.map(lower);
  const balance: BalanceOf = (currency, holder) => evm.balance(currency, holder);
  const amountIn = exactIn ? amount : costOf(balance, tokens, amount);
  if (amountIn === undefined || (!exactIn && amountIn > limit)) throw new Reverted("EXCESSIVE_INPUT_AMOUNT");
  const amountOut = resultOf(balance, tokens, amountIn, pairOutput);
  if (amountOut === 0n || (exactIn ? amountOut < limit : amountOut < amount))
    throw new Reverted("INSUFFICIENT_OUTPUT_AMOUNT");
  let moved = amountIn;
  for (let at = 1; at < tokens.length; at++) {
    const [tokenIn, tokenOut] = [tokens[at - 1] as Address, tokens[at] as Address];
    const out = pairOutput(poolOf(balance, tokenIn, tokenOut), true, moved);
    const pair = pairOf(tokenIn, tokenOut);
    if (at === 1) evm.pullToken(tokenIn, self, from, pair, moved);
    const next = tokens[at + 1];
    const isLast = next === undefined;
    // Rounding may buy a unit more than requested; a pair pays exactly the requested amount.
    moved = isLast && !exactIn ? amount : out;
    evm.moveToken(tokenOut, pair, isLast ? lower(recipient) : pairOf(tokenOut, next), moved);
  }
  return word(moved);
};

const selectors = { deposit: "0xd0e30db0", withdraw: "0x2e1a7d4d" } as const;

/** The token that wraps the native token one for one; otherwise it is a plain token. */
export function wrappedNative(token: Contract): Contract {
  return (evm, frame) => {
    const { from, to: self, data, value } = frame;
    switch (data.slice(0, 10)) {
      case selectors.deposit:
        evm.set(`balance:${self}:${from}`, evm.balance(self, from) + value);
        return "0x";
      case selectors.withdraw: {
        const amount = BigInt(`0x${data.slice(10, 74)}`);
        const balance = evm.balance(self, from);
        if (balance < amount) throw new Reverted("the balance does not cover the withdrawal");
        evm.set(`balance:${self}:${from}`, balance - amount);
        evm.call({ from: self, to: from, value: amount, data: "0x" });
        return "0x";
      }
      default:
        return token(evm, frame);
    }
  };
}

export const wrapCall = { data: selectors.deposit } as const;
export const unwrapCall = (amount: bigint) =>
  ({ data: `${selectors.withdraw}${word(amount).slice(2)}` }) as const;

/** Every pair of a chain: USDC and each other token. */
export function pairsOf(chain: Chain): readonly (readonly [Address, Address])[] {
  const usdc = usdcOf(chain);
  return chain.tokens
    .filter(({ address }) => address !== usdc)
    .map(({ address }) => [usdc, address] as const);
}

function usdcOf({ tokens }: Chain): Address {
  const usdc = tokens.find(({ id }) => id === "usdc");
  if (usdc === undefined) throw new Error("invariant violated: a chain without USDC");
  return usdc.address;
}

export function memoryLiquidity(chains: readonly SequenceChain[]): LiquiditySource {
  const find = (
    { chainId, tokenIn, tokenOut, included, excluded, maxHops }: SwapQuestion,
    answer: (
      balance: BalanceOf,
      path: readonly Address[],
    ) => Omit<Parameters<typeof toAnswer>[0], "path"> | undefined,
  ): SwapAnswer | undefined => {
    const memory = chains.find(({ chain }) => chain.id === chainId);
    if (memory === undefined || included?.has(SOURCE) === false || excluded.has(SOURCE)) return undefined;
    const usdc = usdcOf(memory.chain);
    const path = tokenIn === usdc || tokenOut === usdc ? [tokenIn, tokenOut] : [tokenIn, usdc, tokenOut];
    if (tokenIn === tokenOut || path.length - 1 > maxHops || path.includes(NATIVE)) return undefined;
    const found = answer((currency, holder) => memory.balance(currency, holder), path);
    return found && toAnswer({ ...found, path });
  };
  const answerFor = (balance: BalanceOf, path: readonly Address[], amountIn: bigint, amountOut: bigint) =>
    amountIn <= 0n || amountOut <= 0n
      ? undefined
      : { amountIn, amountOut, spotOut: resultOf(balance, path, amountIn, spotPair) };
  return {
    sources: () => [SOURCE],
    exactIn: (question, amountIn) =>
      find(question, (balance, path) =>
        answerFor(balance, path, amountIn, resultOf(balance, path, amountIn, pairOutput)),
      ),
    exactOut: (question, amountOut) =>
      find(question, (balance, path) => {
        const amountIn = amountOut <= 0n ? undefined : costOf(balance, path, amountOut);
        return amountIn === undefined ? undefined : answerFor(balance, path, amountIn, amountOut);
      }),
  };
}

function toAnswer({
  amountIn,
  amountOut,
  spotOut,
  path,
}: {
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly spotOut: bigint;
  readonly path: readonly Address[];
}): SwapAnswer {
  const [first] = path;
  if (first === undefined) throw new Error("invariant violated: a path without tokens");
  return {
    source: SOURCE,
    path,
    amountIn,
    amountOut,
    spotOut,
    gas: HOP_GAS * BigInt(path.length - 1),
    slippageBps: SLIPPAGE_BPS,
    blockNumber: 1n,
    calls: ({ kind, limit, recipient }) => {
      const exactIn = kind === "exactIn";
      const approve = (amount: bigint) =>
        ({ to: first, data: approveCalldata(DEX, amount), value: 0n }) as const;
      const swap = swapCall({ exactIn, path, amount: exactIn ? amountIn : amountOut, limit, to: recipient });
      return exactIn ? [approve(amountIn), swap] : [approve(limit), swap, approve(0n)];
    },
  };
}

/** A swap by an account that has approved the input. */
export function swapCall({
  exactIn,
  path,
  amount,
  limit,
  to,
}: {
  readonly exactIn: boolean;
  readonly path: readonly Address[];
  readonly amount: bigint;
  readonly limit: bigint;
  readonly to: Address;
}): { readonly to: Address; readonly data: `0x${string}`; readonly value: bigint } {
  return {
    to: DEX,
    data: encodeFunctionData({ abi, functionName: "swap", args: [exactIn, path, amount, limit, to] }),
    value: 0n,
  };
}
