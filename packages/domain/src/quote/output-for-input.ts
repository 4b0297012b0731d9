import { divUp } from "../money/mul-div.ts";
import { pow10 } from "../money/pow10.ts";
import type { PricedUnit } from "../money/usd.ts";
import { sponsoredPart } from "./fees-sponsored.ts";
import type { ChargedInput, FeesSponsored } from "./fees-sponsored.ts";
import { proportionalFees } from "./fee-rounding.ts";
import { outputAt } from "./fixed-rate.ts";
import { topupCost, topupFee } from "./gas-topup.ts";

/** Everything that the price of a trade depends on. Both directions of a quote must use the same facts. */
export interface PricingFacts {
  readonly origin: PricedUnit;
  readonly destination: PricedUnit;
  /** The native token of the destination chain, which pays for gas. */
  readonly destinationNative: PricedUnit;
  /** Gas of the fill in wei, including its margin. */
  readonly fillGasCostWei: bigint;
  /** Flat execution fee, USD with 18 decimals. */
  readonly flatUsd: bigint;
  /** Service fee of the pair class and of the two chains together, bps of the input. */
  readonly serviceBps: number;
  /** Fee of the integrating app, bps of the input. `serviceBps + appBps` stays below 10000. */
  readonly appBps: number;
  /** Gas top-up of the recipient in wei, paid by the input. Absent: none. */
  readonly topupWei?: bigint;
  /** Service fee and spread for selling the top-up, bps of its value. Absent: none. */
  readonly topupBps?: number;
  /** What a sponsor pays of the fees. Absent: nothing. */
  readonly sponsored?: FeesSponsored;
}

/**
 * A priced input. All fees are in base units of the input currency, and `input + sponsored = net + execution
 * + service + app + topup` whenever the fees are covered.
 */
export interface PricedInput {
  readonly input: bigint;
  /** Flat fee, fill gas and the fee of the gas top-up. */
  readonly execution: bigint;
  readonly service: bigint;
  readonly app: bigint;
  /** The cost of the gas top-up. Absent: none. */
  readonly topup?: bigint;
  /** What a sponsor pays of the fees. Absent: no sponsor. */
  readonly sponsored?: bigint;
  /** What is left to convert; 0 if the fees use up the input. */
  readonly net: bigint;
  /** In base units of the output currency. */
  readonly output: bigint;
}

/**
 * Flat fee, fill gas and the fee of the gas top-up in the input currency, each rounded up. Does not depend on
 * the input.
 */
export function executionFee(facts: PricingFacts): bigint {
  const { origin, destinationNative } = facts;
  const nativeScale = pow10(destinationNative.decimals);
  const scaledUsd = facts.fillGasCostWei * destinationNative.priceUsd + facts.flatUsd * nativeScale;
  const flat = divUp(scaledUsd * pow10(origin.decimals), origin.priceUsd * nativeScale);
  return facts.topupWei === undefined ? flat : flat + topupFee(facts.topupWei, facts);
}

/**
 * The exact output of an input: execution fee rounded up, proportional fees as {@link proportionalFees},
 * conversion down. Monotonic: more input never buys less.
 */
export function priceInput(input: bigint, facts: PricingFacts): PricedInput {
  const execution = executionFee(facts);
  const { service, app } = proportionalFees(input, facts);
  const rest = input - execution - service - app;
  if (facts.topupWei === undefined && facts.sponsored === undefined) {
    const net = rest > 0n ? rest : 0n;
    return { input, execution, service, app, net, output: convertNet(net, facts) };
  }
  const fees = { input, execution, service, app };
  const topup = facts.topupWei === undefined ? 0n : topupCost(facts.topupWei, facts);
  return { ...fees, ...priceWithExtras({ input, execution, topup, rest: rest - topup }, facts) };
}

/** {@link priceInput} with a gas top-up or a sponsor. */
function priceWithExtras(
  charged: ChargedInput,
  facts: PricingFacts,
): Required<Pick<PricedInput, "topup" | "sponsored" | "net" | "output">> {
  const { topup, rest, input } = charged;
  const part = facts.sponsored === undefined ? 0n : sponsoredPart(facts.sponsored, charged, facts);
  const net = rest + part;
  if (net <= 0n) return { topup, sponsored: part, net: 0n, output: 0n };
  const output =
    facts.sponsored?.kind === "fixedRate"
      ? outputAt(facts.sponsored.rate, input, facts)
      : convertNet(net, facts);
  return { topup, sponsored: part, net, output };
}

function convertNet(net: bigint, { origin, destination }: PricingFacts): bigint {
  return (
    (net * origin.priceUsd * pow10(destination.decimals)) / (destination.priceUsd * pow10(origin.decimals))
  );
}
