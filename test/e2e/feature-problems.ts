import { parseUnits } from "viem";
import type { FeatureName } from "../support/route-features.ts";
import { TOPUP_DOLLARS, type FeatureOutcome, type FeatureRequest } from "./feature-request.ts";

/** How the outcome of a request differs from its quote; empty if it is exactly as quoted. */
export function problemsOf(outcome: FeatureOutcome): string[] {
  const { request, quote, status, paid, refunded, received, topup } = outcome;
  const { from, to, features, isRefunded = false } = request;
  const has = (feature: FeatureName): boolean => features.includes(feature);
  const { currencyIn, currencyOut, refundCurrency } = quote.details;
  const problems: string[] = [];
  const expectThat = (holds: boolean, otherwise: string): void => {
    if (!holds) problems.push(`${nameOf(request)} ${quote.requestId}: ${otherwise}`);
  };
  expectThat(status === (isRefunded ? "refund" : "success"), `ended with ${status}`);
  const quotedIn = BigInt(currencyIn.amount);
  expectThat(paid === quotedIn, `the payer paid ${paid}, expected ${quotedIn}`);
  if (isRefunded) {
    expectThat(received === 0n, `the recipient of a refunded request has ${received}`);
    const minimum = BigInt(refundCurrency.minimumAmount);
    expectThat(
      refunded >= minimum && refunded <= paid,
      `refunded ${refunded}, expected ${minimum} to ${paid}`,
    );
    return problems;
  }
  const [out, minimum] = [BigInt(currencyOut.amount), BigInt(currencyOut.minimumAmount)];
  // Pools may move between the quote and the swap.
  const isSwapped = has("swapBefore") || has("swapAfter");
  if (isSwapped)
    expectThat(
      received >= minimum && received <= out + out / 100n,
      `the recipient has ${received}, expected ${minimum} to ${out}`,
    );
  else expectThat(received === out, `the recipient has ${received}, expected ${out}`);
  const quotedTopup = BigInt(quote.details.currencyGasTopup?.amount ?? 0);
  const wantedTopup = has("gasTopup") ? parseUnits(String(TOPUP_DOLLARS), 18) / ETHER_DOLLARS : 0n;
  expectThat(
    topup === quotedTopup && topup === wantedTopup,
    `the recipient has ${topup} wei for gas, quoted ${quotedTopup}, expected ${wantedTopup}`,
  );
  // Output and fees must add up to the payment and the sponsored amount.
  if (!isSwapped && !has("gasTopup") && from.perDollar === to.perDollar) {
    const { relayer, app, subsidized } = quote.fees;
    const whole = received + BigInt(relayer.amount) + BigInt(app.amount);
    const sum = paid + BigInt(subsidized.amount);
    expectThat(whole === sum, `output and fees are ${whole}, payment and sponsorship ${sum}`);
  }
  return problems;
}

/** Fixed in `configs/prices.local.json`. */
const ETHER_DOLLARS = 2_500n;

export const nameOf = ({ from, to, features, isRefunded }: FeatureRequest): string =>
  `${from.chain} -> ${to.chain} (${features.join(", ")}${isRefunded === true ? ", refunded" : ""})`;
