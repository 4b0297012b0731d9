import { BPS } from "../money/bps.ts";
import { divUp } from "../money/mul-div.ts";
import { pow10 } from "../money/pow10.ts";
import type { PricedUnit } from "../money/usd.ts";

/** Everything that decides how much output an input buys. The same facts must be used for a quote's two directions. */
export interface PricingFacts {
  readonly origin: PricedUnit;
  readonly destination: PricedUnit;
  /** The coin that pays for gas on the destination chain. */
  readonly destinationNative: PricedUnit;
  /** Gas of the fill in wei, its margin included. */
  readonly fillGasCostWei: bigint;
  /** Flat execution fee, USD with 18 decimals. */
  readonly flatUsd: bigint;
  /** Service fee of the pair class and of the two chains together, bps of the input. */
  readonly serviceBps: number;
  /** Fee of the integrating app, bps of the input. `serviceBps + appBps` stays below 10000. */
  readonly appBps: number;
}

/** A priced input. All fees are in smallest units of the input currency, and `input = net + execution + service + app` whenever the fees are covered. */
export interface ForwardQuote {
  readonly input: bigint;
  /** Flat fee and fill gas. */
  readonly execution: bigint;
  readonly service: bigint;
  readonly app: bigint;
  /** What is left to convert; 0 when the fees eat the whole input. */
  readonly net: bigint;
  /** In smallest units of the output currency. */
  readonly output: bigint;
}

/** Flat fee and fill gas in the input currency, one rounding, up. Does not depend on the input. */
export function executionFee(facts: PricingFacts): bigint {
  const { origin, destinationNative } = facts;
  const nativeScale = pow10(destinationNative.decimals);
  const scaledUsd = facts.fillGasCostWei * destinationNative.priceUsd + facts.flatUsd * nativeScale;
  return divUp(scaledUsd * pow10(origin.decimals), origin.priceUsd * nativeScale);
}

/**
 * The exact output of an input. Roundings, each in favour of the service and at most one unit: the execution fee up, the sum of the bps fees up
 * (of it the app gets its part rounded down, the service the rest), the conversion to the output down.
 * Never falls when the input grows: rounding the two bps fees up separately would let both step at once and break that.
 */
export function forward(input: bigint, facts: PricingFacts): ForwardQuote {
  const execution = executionFee(facts);
  const proportional = divUp(input * BigInt(facts.serviceBps + facts.appBps), BPS);
  const app = (input * BigInt(facts.appBps)) / BPS;
  const rest = input - execution - proportional;
  const net = rest > 0n ? rest : 0n;
  const output =
    (net * facts.origin.priceUsd * pow10(facts.destination.decimals)) /
    (facts.destination.priceUsd * pow10(facts.origin.decimals));
  return { input, execution, service: proportional - app, app, net, output };
}
