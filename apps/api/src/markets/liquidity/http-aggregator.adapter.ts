import type { CallPlan } from "@causeway/chains";
import { routerAbi } from "@causeway/contracts";
import type { Address, ChainContracts } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import type { Secret } from "@causeway/config";
import { encodeFunctionData, erc20Abi } from "viem";
import { ZodError } from "zod";
import type { Clock } from "../../db/clock.port.ts";
import type { LiquiditySource, SwapAnswer, SwapBound, SwapQuestion } from "./liquidity.port.ts";
import {
  readPrice,
  readQuote,
  type AggregatorQuestion,
  type AggregatorQuote,
} from "./aggregator-answer.adapter.ts";
import { autoSlippageBps, MAX_SLIPPAGE_BPS } from "./auto-slippage.adapter.ts";
import { boundedJson, StatusFault } from "./bounded-json.adapter.ts";

export interface HttpAggregatorOptions {
  /** In `/swap-sources`. */
  readonly name: string;
  /** Up to `/price` and `/quote`, e.g. `https://api.example.org/swap/allowance-holder`. */
  readonly url: string;
  readonly apiKey: Secret | undefined;
  /** Of one request, from its begin to the last byte. */
  readonly timeoutMs: number;
  /** Contracts of the chains that it may be asked about. */
  readonly chains: ReadonlyMap<number, ChainContracts>;
  readonly clock: Clock;
  /** Told of each request without a usable answer. */
  readonly onFault: (error: unknown, facts: { readonly chainId: number }) => void;
}

/** An answer has some calldata; more is none. */
const MAX_BYTES = 1_000_000;
/**
 * After a fault it is left alone for so long: a service that is away must not delay each quote by its
 * deadline.
 */
const PAUSE_MS = 3_000;
/** By these a service refuses what it is asked; the others say that it does not serve at all. */
const REFUSALS: ReadonlySet<number> = new Set([400, 404, 422]);
const MAX_PAUSED_PAIRS = 10_000;
/** The smallest trade that still has a price: this part of the input, where it is not less than nothing. */
const SAMPLE = 1_000n;
/**
 * What others do to prices that are not seen here, bps: what is answered may be some blocks old when it is
 * mined.
 */
const UNSEEN_MOVES_BPS = 30;
/** Where an answer names no gas. */
const USUAL_GAS = 400_000n;

/**
 * A service that finds exchanges on request, of the interface that several have in common: `price` and
 * `quote` by `sellToken`, `buyToken`, `sellAmount` and `taker`. Only exact inputs. The calldata that it makes
 * is good for the router alone, which has to be the one who makes the calls.
 */
export function createHttpAggregator(options: HttpAggregatorOptions): LiquiditySource {
  const { name, chains, clock, onFault } = options;
  const base = options.url.replace(/\/+$/, "");
  const headers = {
    accept: "application/json",
    "0x-version": "v2",
    ...(options.apiKey && { "0x-api-key": options.apiKey.reveal() }),
  };
  const underWay = new Map<string, Promise<SwapAnswer | undefined>>();
  let pausedUntilMs = 0;
  /**
   * Anybody may ask for any token: what is wrong with one pair must not keep the others from being asked for.
   */
  const pausedPairs = new Map<string, number>();

  function pause(error: unknown, pair: string): void {
    const untilMs = clock.nowMs() + PAUSE_MS;
    if (!isAboutPair(error)) pausedUntilMs = untilMs;
    else {
      if (pausedPairs.size >= MAX_PAUSED_PAIRS) pausedPairs.clear();
      pausedPairs.set(pair, untilMs);
    }
  }

  async function ask(
    what: "price" | "quote",
    { chainId, tokenIn, tokenOut, amountIn }: AggregatorQuestion & { readonly chainId: number },
    taker: Address,
  ): Promise<unknown> {
    const query = new URLSearchParams({
      chainId: String(chainId),
      sellToken: tokenIn,
      buyToken: tokenOut,
      sellAmount: String(amountIn),
      taker,
      // What the exchange must bring at least is checked by the calls around it: its own bound is only never
      // to be the narrower one.
      slippageBps: String(MAX_SLIPPAGE_BPS),
    });
    const response = await fetch(`${base}/${what}?${query.toString()}`, {
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
    const sample = { ...question, amountIn: amountIn / SAMPLE || 1n };
    const untouchable = new Set([...Object.values(contracts).flat(), tokenIn, tokenOut] as Address[]);
    const [quote, price] = await Promise.all([
      ask("quote", question, contracts.router).then((json) => readQuote(json, question, untouchable)),
      // Without it there is an answer all the same, of which only the impact is not known.
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
      gas: quote.transaction.gas ?? USUAL_GAS,
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
    const known = underWay.get(key);
    if (known !== undefined) return known;
    if (clock.nowMs() < Math.max(pausedUntilMs, pausedPairs.get(pair) ?? 0))
      return Promise.reject(away(undefined));
    const asked = find(question, amountIn, contracts)
      .catch((error: unknown) => {
        pause(error, pair);
        onFault(error, { chainId });
        throw away(error);
      })
      .finally(() => underWay.delete(key));
    underWay.set(key, asked);
    return asked;
  }

  return {
    sources: (chainId) => (chains.has(chainId) ? [name] : []),
    exactIn: answer,
    // The common interface sells exact inputs only.
    exactOut: () => undefined,
  };
}

/** The service answered, and what it said of this pair is no use. */
function isAboutPair(error: unknown): boolean {
  return (
    error instanceof RangeError ||
    error instanceof ZodError ||
    (error instanceof StatusFault && REFUSALS.has(error.status))
  );
}

function isAllowed({ included, excluded }: SwapQuestion, name: string): boolean {
  return (included === undefined || included.has(name)) && !excluded.has(name);
}

function away(cause: unknown): ServiceError {
  return new ServiceError("SERVICE_UNAVAILABLE", "The swap aggregator did not respond; try again", { cause });
}

/**
 * Allowance, exchange, the allowance's end, and the payment of all that came out: the router is paid and pays
 * on, and fails when it is less than the bound.
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
  // What it does with the allowance is not known, so that none may be there before, for tokens that refuse to
  // change one, nor after.
  const exchange = [approve(0n), approve(amountIn), { to, data, value }, approve(0n)];
  return recipient === router ? exchange : [...exchange, pay];
}
