import { BPS } from "../money/bps.ts";
import { divUp } from "../money/mul-div.ts";
import { convertUp } from "../money/usd.ts";
import { feesOfUser } from "./fees-sponsored.ts";
import { inputAt } from "./fixed-rate.ts";
import { topupCost } from "./gas-topup.ts";
import { executionFee } from "./output-for-input.ts";
import type { PricingFacts } from "./output-for-input.ts";

/**
 * The smallest input, at least one unit, whose {@link priceInput} output is at least `output` (positive),
 * computed exactly. priceInput(x) >= output means net(x) >= ceil(output in the input currency); since x -
 * ceil(x*b) = floor(x*(1-b)), net(x) >= n means x >= ceil((n + execution) / (1-b)). With a sponsor's cap, net
 * is the smaller of two such functions, so the result is the larger of their two inputs.
 */
export function inputForOutput(output: bigint, facts: PricingFacts): bigint {
  const { sponsored } = facts;
  if (sponsored?.kind === "fixedRate") return clampToOne(inputAt(sponsored.rate, output, facts));
  const net = convertUp(output, facts.destination, facts.origin);
  const execution = executionFee(facts);
  const topup = facts.topupWei === undefined ? 0n : topupCost(facts.topupWei, facts);
  const inputAfterSubsidy = (subsidy: bigint): bigint =>
    minInputLeaving(net + execution + topup - subsidy, facts.serviceBps + facts.appBps);
  if (sponsored === undefined) return inputAfterSubsidy(0n);
  if (sponsored.kind === "agreed") return clampToOne(inputAfterSubsidy(sponsored.amount));
  const { fixed, bps } = feesOfUser(sponsored, execution, topup, facts);
  const uncappedInput = minInputLeaving(net + fixed - sponsored.swap, bps);
  const cappedInput = sponsored.cap === undefined ? 0n : inputAfterSubsidy(sponsored.cap);
  return clampToOne(uncappedInput > cappedInput ? uncappedInput : cappedInput);
}

/** The smallest input that leaves `needed` after a fee of `bps` that is rounded up. */
function minInputLeaving(needed: bigint, bps: number): bigint {
  return needed > 0n ? divUp(needed * BPS, BPS - BigInt(bps)) : 0n;
}

function clampToOne(input: bigint): bigint {
  return input > 0n ? input : 1n;
}
