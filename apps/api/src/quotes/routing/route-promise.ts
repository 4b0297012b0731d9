import type { Soon } from "@causeway/domain";
import {
  isOneAsset,
  forward,
  minDepositFor,
  minimumOutput,
  pairClassOf,
  soon,
  splitSlippage,
  swappedPromise,
} from "@causeway/domain";
import type { SlippageBps } from "@causeway/domain";
import type { QuotePolicy } from "../../markets/quote-policy.port.ts";
import type { QuoteQuestion } from "../quote-question.ts";
import type { BridgeRoute, ChosenRoute } from "./chosen-route.ts";

/** What a quote promises of its route. */
export interface RoutePromise {
  /** The least that the recipient gets, or the money goes back. */
  readonly minimumAmount: bigint;
  /**
   * What a deposit must still buy for that, before what may slip after it; of a route without a swap before
   * its deposit, what is expected.
   */
  readonly neededOutput: bigint;
  /**
   * The least deposit that is filled; undefined: there is no swap before it, and it is exactly what is
   * agreed.
   */
  readonly minDeposit: bigint | undefined;
  /**
   * The most that the user's own swap takes of him: more than the input only where an exact output is bought.
   */
  readonly maxInput: bigint;
  /** bps, of both sides together. */
  readonly slippageBps: number;
}

/**
 * How much of a promise's slippage lies where, and what it comes to. Where the fill exchanges, the least
 * deposit is tried on its pools before it is promised.
 */
export function* promiseOf(
  policy: QuotePolicy,
  question: QuoteQuestion,
  route: ChosenRoute,
): Soon<RoutePromise> {
  const { trade } = route;
  const input = { maxInput: trade.input, minDeposit: undefined };
  if (route.kind !== "bridge")
    return route.kind === "swap"
      ? ownSwapPromise(question, route)
      : { ...input, minimumAmount: trade.expected, neededOutput: trade.expected, slippageBps: 0 };
  const slippage = slippageOf(policy, question, route);
  const slippageBps = slippage.origin + slippage.destination;
  if (trade.origin === undefined) {
    // A fixed rate does not slip either.
    const isFixed = question.fees?.sponsor?.fixedRate !== undefined;
    const isExact = question.tradeType === "EXACT_OUTPUT" || isFixed;
    const minimumAmount = minimumOutput(
      isExact ? "EXACT_OUTPUT" : question.tradeType,
      trade.expected,
      slippageBps,
    );
    return { ...input, minimumAmount, neededOutput: trade.expected, slippageBps: isExact ? 0 : slippageBps };
  }
  const amounts = {
    expected: trade.expected,
    deposit: trade.priced.input,
    paid: trade.priced.expected,
  };
  const { minimumAmount, neededOutput, minDeposit } = swappedPromise(
    {
      ...amounts,
      tradeType: question.tradeType,
      slippage,
      honourBps: borneBps(policy, question, route),
    },
    route.pricing.facts,
  );
  return {
    minimumAmount,
    neededOutput,
    maxInput: trade.input,
    // Native coin and its token are one for one: nothing can be missing.
    minDeposit:
      trade.origin.pool === undefined
        ? amounts.deposit
        : yield* triedDeposit(route, amounts, neededOutput, minDeposit),
    slippageBps,
  };
}

/**
 * How far the service bears prices that move against it, bps: between two assets a firm price is an option,
 * worth no more than what was charged for it. The strictest of the pairs that a fill may be judged by, so
 * that no deposit is let through that would go back.
 */
function borneBps(
  { honourBps, serviceBps }: QuotePolicy,
  { originCurrency, destinationCurrency }: QuoteQuestion,
  { deposited, paidFrom }: BridgeRoute,
): number {
  const pairs = [
    [originCurrency, destinationCurrency],
    [deposited, paidFrom],
    [deposited, destinationCurrency],
  ] as const;
  return pairs.reduce((least, [from, to]) => {
    const pairClass = pairClassOf(from, to);
    return isOneAsset(pairClass) ? least : Math.min(least, serviceBps[pairClass]);
  }, honourBps);
}

function slippageOf(
  policy: QuotePolicy,
  question: QuoteQuestion,
  { trade, pricing }: BridgeRoute,
): SlippageBps {
  const isExact = question.tradeType === "EXACT_OUTPUT";
  return splitSlippage(question.slippageBps, {
    origin: trade.origin?.slippageBps ?? 0,
    // An exact output does not slip behind its deposit.
    destination: isExact
      ? 0
      : policy.automaticSlippageBps[pricing.pairClass] + (trade.destination?.slippageBps ?? 0),
  });
}

/**
 * Pools between the deposit and the recipient follow no formula of ours: what the least deposit gives is
 * asked of them, and when it is too little more is demanded.
 */
function* triedDeposit(
  { fillExchange, pricing: { facts } }: BridgeRoute,
  amounts: Parameters<typeof minDepositFor>[1],
  needed: bigint,
  first: bigint,
): Soon<bigint> {
  if (fillExchange === undefined || first === amounts.deposit) return first;
  const halfway = minDepositFor((needed + amounts.expected) / 2n, amounts, facts);
  for (const deposit of first < halfway ? [first, halfway] : [first]) {
    const filled = yield* soon(fillExchange.exactIn(forward(deposit, facts).output));
    if (filled !== undefined && filled.amountOut >= needed) return deposit;
  }
  return amounts.deposit;
}

/**
 * The user's own swap slips by what its pools are said to, or as he allows: in what he gets or, of an exact
 * output, in what he pays.
 */
function ownSwapPromise({ tradeType, slippageBps }: QuoteQuestion, { trade }: ChosenRoute): RoutePromise {
  const { input, expected, origin } = trade;
  const isOneForOne = origin?.pool === undefined;
  const bps = isOneForOne ? 0 : (slippageBps ?? origin.slippageBps);
  const isExact = tradeType === "EXACT_OUTPUT";
  return {
    minimumAmount: minimumOutput(tradeType, expected, bps),
    neededOutput: expected,
    minDeposit: undefined,
    maxInput: isExact ? input + (input * BigInt(bps)) / 10_000n : input,
    slippageBps: bps,
  };
}
