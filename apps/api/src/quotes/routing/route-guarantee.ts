import {
  coveredOnRoute,
  priceInput,
  minDepositFor,
  minimumOutput,
  routeSlippage,
  swapGuarantee,
} from "@causeway/domain";
import type { QuotePolicy } from "../../markets/quote-policy.port.ts";
import type { QuoteQuestion } from "../quote-question.ts";
import type { BridgeRoute, ChosenRoute, RouteGuarantee } from "./chosen-route.ts";
import { isBounded } from "./find-swaps.ts";

/**
 * Splits the slippage between the sides of the route and computes its bounds. If the fill swaps, its pools
 * are queried first for what the smallest deposit yields.
 */
export function routeGuaranteeOf(
  policy: QuotePolicy,
  question: QuoteQuestion,
  route: ChosenRoute,
): RouteGuarantee {
  const { trade } = route;
  const input = { maxInput: trade.input, minDeposit: undefined };
  if (route.kind !== "bridge")
    return route.kind === "swap"
      ? ownSwapGuarantee(question, route)
      : { ...input, minimumAmount: trade.expected, neededOutput: trade.expected, slippageBps: 0 };
  const { pairClass } = route.pricing;
  const slippage = routeSlippage(policy, question.slippageBps, question.tradeType, pairClass, {
    origin: trade.origin?.slippageBps ?? 0,
    destination: trade.destination?.slippageBps ?? 0,
  });
  const slippageBps = slippage.origin + slippage.destination;
  if (trade.origin === undefined || isBounded(trade.origin)) {
    // A fixed rate has no slippage either.
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
  const { minimumAmount, neededOutput, minDeposit } = swapGuarantee(
    {
      ...amounts,
      tradeType: question.tradeType,
      slippage,
      // The fill honors price moves up to what these pairs cover.
      honorBps: coveredOnRoute(policy, [
        [question.originCurrency, question.destinationCurrency],
        [route.deposited, route.paidFrom],
        [route.deposited, question.destinationCurrency],
      ]),
    },
    route.pricing.facts,
  );
  return {
    minimumAmount,
    neededOutput,
    maxInput: trade.input,
    // Wrapping is one for one, so the deposit cannot be too small.
    minDeposit:
      trade.origin.pool === undefined
        ? amounts.deposit
        : raiseMinDeposit(route, amounts, neededOutput, minDeposit),
    slippageBps,
  };
}

/**
 * Pool prices follow no known formula, so the pools are queried for the output of the smallest deposit. If
 * the output is too small, the smallest deposit is raised.
 */
function raiseMinDeposit(
  { fillQuoter, pricing: { facts } }: BridgeRoute,
  amounts: Parameters<typeof minDepositFor>[1],
  neededOutput: bigint,
  minDeposit: bigint,
): bigint {
  if (fillQuoter === undefined || minDeposit === amounts.deposit) return minDeposit;
  const halfway = minDepositFor((neededOutput + amounts.expected) / 2n, amounts, facts);
  for (const deposit of minDeposit < halfway ? [minDeposit, halfway] : [minDeposit]) {
    const fillSwap = fillQuoter.exactIn(priceInput(deposit, facts).output);
    if (fillSwap !== undefined && fillSwap.amountOut >= neededOutput) return deposit;
  }
  return amounts.deposit;
}

/**
 * The slippage of the user's own swap, chosen by the client or by the pools: in the output or, for an exact
 * output, in the input.
 */
function ownSwapGuarantee({ tradeType, slippageBps }: QuoteQuestion, { trade }: ChosenRoute): RouteGuarantee {
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
