import type { CallPlan } from "@causeway/chains";
import { routerAbi } from "@causeway/contracts";
import type { Address, ChainContracts } from "@causeway/domain";
import { autoSlippageBps, MAX_SLIPPAGE_BPS, ServiceError } from "@causeway/domain";
import type { Secret } from "@causeway/config";
import { encodeFunctionData, erc20Abi } from "viem";
import type { Clock } from "../../db/clock.port.ts";
import type { LiquiditySource, SwapAnswer, SwapBound, SwapQuestion } from "./liquidity.port.ts";
import {
  readPrice,
  readQuote,
  type AggregatorQuestion,
  type AggregatorQuote,
} from "./aggregator-answer.adapter.ts";
import { aggregatorPauses } from "./aggregator-pauses.adapter.ts";
import { boundedJson } from "./bounded-json.adapter.ts";

export interface HttpAggregatorOptions {
  /** The source name in `GET /swap-sources`. */
  readonly name: string;
  /** Base URL, without `/price` and `/quote`, such as `https://api.example.org/swap/allowance-holder`. */
  readonly url: string;
  readonly apiKey: Secret | undefined;
  /** Timeout of one request, from start to last byte, ms. */
  readonly timeoutMs: number;
  /** Contracts of each chain that the aggregator serves, by chain id. */
  readonly chains: ReadonlyMap<number, ChainContracts>;
  readonly clock: Clock;
  /** Receives each request without a usable answer. */
  readonly onFault: (error: unknown, facts: { readonly chainId: number }) => void;
}

/** Maximum size of an answer. Valid answers are far smaller: they contain the calldata of one swap. */
const MAX_BYTES = 1_000_000;
/** The spot price is measured with the input divided by this, at least one base unit. */
const SAMPLE_DIVISOR = 1_000n;
/**
 * Slippage for price moves that the service cannot observe, bps: the swap is mined a few blocks after the
 * answer.
 */
const UNSEEN_MOVES_BPS = 30;
/** Gas units of a swap whose answer contains no gas. */
const TYPICAL_GAS = 400_000n;

/**
 * A swap aggregator with the common HTTP interface: `price` and `quote` by `sellToken`, `buyToken`,
 * `sellAmount` and `taker`. Supports exact inputs only. The calls it returns must be made by the router.
 */
export function createHttpAggregator(options: HttpAggregatorOptions): LiquiditySource {
  const { name, chains, clock, onFault } = options;
  const base = options.url.replace(/\/+$/, "");
  const headers = {
    accept: "application/json",
    "0x-version": "v2",
    ...(options.apiKey && { "0x-api-key": options.apiKey.reveal() }),
  };
  const pending = new Map<string, Promise<SwapAnswer | undefined>>();
  const pauses = aggregatorPauses(clock);

  async function ask(
    endpoint: "price" | "quote",
    { chainId, tokenIn, tokenOut, amountIn }: AggregatorQuestion & { readonly chainId: number },
    taker: Address,
  ): Promise<unknown> {
    const query = new URLSearchParams({
      chainId: String(chainId),
      sellToken: tokenIn,
      buyToken: tokenOut,
      sellAmount: String(amountIn),
      taker,
      // The calls around the swap enforce the minimum output; the aggregator's own minimum must not be
      // stricter.
      slippageBps: String(MAX_SLIPPAGE_BPS),
    });
    const response = await fetch(`${base}/${endpoint}?${query.toString()}`, {
      headers,
      signal: AbortSignal.timeout(options.timeoutMs),
      // A redirect could carry the key to another host.
      redirect: "error",
    });
    return await boundedJson(response, MAX_BYTES);
  }

  async function find(
    { chainId, tokenIn, tokenOut }: SwapQuestion,
    amountIn: bigint,
    contracts: ChainContracts,
  ): Promise<SwapAnswer | undefined> {
    const question = { chainId, tokenIn, tokenOut, amountIn };
    const sample = { ...question, amountIn: amountIn / SAMPLE_DIVISOR || 1n };
    const forbidden = new Set([...Object.values(contracts).flat(), tokenIn, tokenOut] as Address[]);
    const [quote, price] = await Promise.all([
      ask("quote", question, contracts.router).then((json) => readQuote(json, question, forbidden)),
      // Without a price the quote is still usable; only its impact is unknown.
      ask("price", sample, contracts.router)
        .then((json) => readPrice(json, sample))
        .catch(() => undefined),
    ]);
    if (quote === undefined) return undefined;
    const sampled = price === undefined ? 0n : (price.buyAmount * amountIn) / sample.amountIn;
    const spotOut = sampled > quote.buyAmount ? sampled : quote.buyAmount;
    return {
      source: name,
      path: [tokenIn, tokenOut],
      amountIn,
      amountOut: quote.buyAmount,
      spotOut,
      gas: quote.transaction.gas ?? TYPICAL_GAS,
      slippageBps: autoSlippageBps(quote.buyAmount, spotOut, [UNSEEN_MOVES_BPS]),
      blockNumber: undefined,
      calls: (bound) => callsOf(question, quote, contracts.router, bound),
    };
  }

  function answer(question: SwapQuestion, amountIn: bigint): Promise<SwapAnswer | undefined> | undefined {
    const contracts = chains.get(question.chainId);
    if (contracts === undefined || !isAllowed(question, name) || amountIn <= 0n) return undefined;
    const { chainId, tokenIn, tokenOut } = question;
    if (tokenIn === tokenOut) return undefined;
    const pair = `${chainId}${tokenIn}${tokenOut}`;
    const key = `${pair}${amountIn}`;
    const running = pending.get(key);
    if (running !== undefined) return running;
    if (pauses.isPaused(pair)) return Promise.reject(aggregatorUnavailable(undefined));
    const finding = find(question, amountIn, contracts)
      .catch((error: unknown) => {
        pauses.noteFailure(error, pair);
        onFault(error, { chainId });
        throw aggregatorUnavailable(error);
      })
      .finally(() => pending.delete(key));
    pending.set(key, finding);
    return finding;
  }

  return {
    sources: (chainId) => (chains.has(chainId) ? [name] : []),
    exactIn: answer,
    // The common interface supports exact inputs only.
    exactOut: () => undefined,
  };
}

/** Whether the question allows the source of this name. */
export function isAllowed({ included, excluded }: SwapQuestion, name: string): boolean {
  return (included === undefined || included.has(name)) && !excluded.has(name);
}

/** The client error for a failed aggregator. */
export function aggregatorUnavailable(cause: unknown): ServiceError {
  return new ServiceError("SERVICE_UNAVAILABLE", "The swap aggregator did not respond; try again", { cause });
}

/**
 * Approves the input, swaps, and revokes the approval. The router receives the output, forwards all of it to
 * the recipient, and reverts if it is below the limit.
 * @throws RangeError for an exact output
 */
function callsOf(
  { tokenIn, tokenOut, amountIn }: AggregatorQuestion,
  { allowanceTarget, transaction }: AggregatorQuote,
  router: Address,
  { kind, limit, recipient }: SwapBound,
): CallPlan[] {
  if (kind === "exactOut")
    throw new RangeError("invariant violated: exact output requested from the swap aggregator");
  const approve = (amount: bigint): CallPlan => ({
    to: tokenIn,
    data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [allowanceTarget, amount] }),
    value: 0n,
  });
  const pay: CallPlan = {
    to: router,
    data: encodeFunctionData({
      abi: routerAbi,
      functionName: "payBalance",
      args: [tokenOut, recipient, limit],
    }),
    value: 0n,
  };
  const { to, data, value } = transaction;
  // The swap may leave a part of the allowance. The allowance is reset first, for tokens that refuse to
  // change a nonzero allowance, and again after the swap.
  const calls = [approve(0n), approve(amountIn), { to, data, value }, approve(0n)];
  return recipient === router ? calls : [...calls, pay];
}
