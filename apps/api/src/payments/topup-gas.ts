import type { QuoteGas } from "../markets/quote-policy.port.ts";

/** Gas units of paying coin for gas beside the output, through the router; undefined when none is paid. */
export function topupGas({ fill }: Pick<QuoteGas, "fill">, topup: bigint | undefined): bigint | undefined {
  return topup === undefined ? undefined : fill.erc20 + fill.nativeToContract;
}
