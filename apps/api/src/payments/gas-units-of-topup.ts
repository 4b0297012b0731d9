import type { QuoteGas } from "../markets/quote-policy.port.ts";

/** Gas units of paying a gas top-up with the output, through the router; undefined without one. */
export function topupGas({ fill }: Pick<QuoteGas, "fill">, topup: bigint | undefined): bigint | undefined {
  return topup === undefined ? undefined : fill.erc20 + fill.nativeToContract;
}
