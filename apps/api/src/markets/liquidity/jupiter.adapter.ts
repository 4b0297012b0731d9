import type { ProposedSwap } from "@causeway/chains";
import type { Currency, Hex, NonEvmChain, SwapAggregatorFacts } from "@causeway/domain";
import { decodeAddress } from "@causeway/families";
import type { Clock } from "../../db/clock.port.ts";
import { aggregatorPauses, isRefusal } from "./aggregator-pauses.adapter.ts";
import { boundedJson } from "./bounded-json.adapter.ts";
import { aggregatorUnavailable, isAllowed } from "./http-aggregator.adapter.ts";
import {
  readJupiterProposal,
  readJupiterQuote,
  type JupiterQuestion,
  type JupiterQuote,
} from "./jupiter-answer.adapter.ts";
import type { LiquiditySource, SwapAnswer, SwapQuestion } from "./liquidity.port.ts";

export interface JupiterOptions {
  readonly chain: Pick<NonEvmChain, "id" | "family"> & { readonly native: Pick<Currency, "address"> };
  readonly aggregator: SwapAggregatorFacts;
  readonly clock: Clock;
  /** Receives each request without a usable answer. */
  readonly onFault: (error: unknown, facts: { readonly chainId: number }) => void;
}

/** The source name in `GET /swap-sources` and in quotes. */
export const JUPITER = "jupiter";
/** Timeout of one request, from start to last byte. */
const TIMEOUT_MS = 1_500;
/** Maximum size of an answer. Valid answers are far smaller: they contain the accounts of a few pools. */
const MAX_BYTES = 256 * 1024;
const WRAPPED_SOL = "So11111111111111111111111111111111111111112";
/** Slippage if the client sets none, bps. The user keeps any output above the minimum. */
const DEFAULT_SLIPPAGE_BPS = 50;
/**
 * Maximum number of accounts of a swap: it shares its transaction with the deposit, which has 13 accounts.
 */
const MAX_ACCOUNTS = 40;

/**
 * A swap aggregator with Jupiter's swap API: https://dev.jup.ag/docs/swap-api. The amounts of an answer are
 * bounds that the user's transaction enforces. Its instructions are not trusted; they are validated when the
 * user's step is built.
 */
export function createJupiter({ chain, aggregator, clock, onFault }: JupiterOptions): LiquiditySource {
  const pauses = aggregatorPauses(clock);
  const headers = {
    accept: "application/json",
    "content-type": "application/json",
    ...(aggregator.apiKey && { "x-api-key": aggregator.apiKey.reveal() }),
  };
  const toKey = (bytes: Hex): string => decodeAddress(chain.family, bytes);
  const pending = new Map<string, Promise<SwapAnswer | undefined>>();

  async function ask(path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${aggregator.url}/${path}`, {
      headers,
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
      // A redirect could carry the key to another host.
      redirect: "error",
    });
    return await boundedJson(response, MAX_BYTES);
  }

  function reportFailure(error: unknown, pair: string): never {
    pauses.noteFailure(error, pair);
    onFault(error, { chainId: chain.id });
    throw aggregatorUnavailable(error);
  }

  async function find(
    { tokenIn, tokenOut }: SwapQuestion,
    question: JupiterQuestion,
    pair: string,
  ): Promise<SwapAnswer | undefined> {
    let json: unknown;
    let jupiterQuote: JupiterQuote;
    try {
      json = await ask(`quote?${queryOf(question).toString()}`);
      jupiterQuote = readJupiterQuote(json, question);
    } catch (error) {
      // Jupiter answers with such a status when it has no route.
      if (isRefusal(error)) return undefined;
      return reportFailure(error, pair);
    }
    return {
      source: JUPITER,
      path: [tokenIn, tokenOut],
      amountIn: jupiterQuote.maxInput,
      amountOut: jupiterQuote.minOutput,
      spotOut: jupiterQuote.spotOut,
      gas: 0n,
      // The amounts already include slippage.
      slippageBps: 0,
      blockNumber: undefined,
      calls: () => {
        throw new Error("invariant violated: calls requested from a source of instructions");
      },
      propose: async (user) => await propose(json, toKey(user), pair),
    };
  }

  async function propose(quoteResponse: unknown, userPublicKey: string, pair: string): Promise<ProposedSwap> {
    try {
      return readJupiterProposal(
        await ask("swap-instructions", {
          quoteResponse,
          userPublicKey,
          // The service wraps and unwraps SOL itself. Shared accounts hold intermediate tokens, so no other
          // account of the user is needed.
          wrapAndUnwrapSol: false,
          useSharedAccounts: true,
        }),
      );
    } catch (error) {
      return reportFailure(error, pair);
    }
  }

  function answer(
    swapQuestion: SwapQuestion,
    mode: JupiterQuestion["mode"],
    amount: bigint,
  ): Promise<SwapAnswer | undefined> | undefined {
    const { tokenIn, tokenOut, slippageBps = DEFAULT_SLIPPAGE_BPS } = swapQuestion;
    if (swapQuestion.chainId !== chain.id || !isAllowed(swapQuestion, JUPITER)) return undefined;
    // SOL is deposited without a swap.
    if (tokenIn === chain.native.address || amount <= 0n || amount >= 2n ** 64n) return undefined;
    const inputMint = toKey(tokenIn);
    const outputMint = tokenOut === chain.native.address ? WRAPPED_SOL : toKey(tokenOut);
    if (inputMint === outputMint) return undefined;
    const pair = `${inputMint} ${outputMint}`;
    const key = `${pair} ${mode} ${amount} ${slippageBps}`;
    const running = pending.get(key);
    if (running !== undefined) return running;
    if (pauses.isPaused(pair)) return Promise.reject(aggregatorUnavailable(undefined));
    const question = { inputMint, outputMint, mode, amount, slippageBps };
    const finding = find(swapQuestion, question, pair).finally(() => pending.delete(key));
    pending.set(key, finding);
    return finding;
  }

  return {
    sources: (chainId) => (chainId === chain.id ? [JUPITER] : []),
    exactIn: (question, amount) => answer(question, "ExactIn", amount),
    exactOut: (question, amount) => answer(question, "ExactOut", amount),
  };
}

function queryOf({ inputMint, outputMint, mode, amount, slippageBps }: JupiterQuestion): URLSearchParams {
  return new URLSearchParams({
    inputMint,
    outputMint,
    amount: String(amount),
    swapMode: mode,
    slippageBps: String(slippageBps),
    maxAccounts: String(MAX_ACCOUNTS),
  });
}
