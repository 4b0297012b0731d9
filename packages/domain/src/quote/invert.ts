import { BPS } from "../money/bps.ts";
import { divUp } from "../money/mul-div.ts";
import { convertUp } from "../money/usd.ts";
import { executionFee } from "./forward.ts";
import type { PricingFacts } from "./forward.ts";

/**
 * The least input whose {@link forward} output is at least `output` (positive): exact, not searched.
 * forward(x) >= output means net(x) >= ceil(output in the input currency); and since x - ceil(x*b) = floor(x*(1-b)),
 * net(x) >= n means x >= ceil((n + execution) / (1-b)).
 */
export function inputFor(output: bigint, facts: PricingFacts): bigint {
  const net = convertUp(output, facts.destination, facts.origin);
  return divUp((net + executionFee(facts)) * BPS, BPS - BigInt(facts.serviceBps + facts.appBps));
}
