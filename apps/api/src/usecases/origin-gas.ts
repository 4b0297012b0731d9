import { amountToUsdUp, gasCostWei, NATIVE_CURRENCY } from "@causeway/domain";
import type { PriceBook } from "../ports/price-source.ts";
import type { QuotePolicy } from "../ports/quote.ts";
import type { QuoteQuestion } from "./quote-question.ts";

/**
 * What a quote adds for the service sending the origin transaction, USD with 18 decimals, rounded up: the deposit's gas and what the wallet needs beyond it, at today's price with the
 * chain's margin. Undefined when the user sends it himself (no overhead is named), and on one chain, where only an app pays for that.
 * @throws ServiceError PRICE_FETCH_FAILED, RPC_HTTP_ERROR when something fresh is missing
 */
export async function originGasOf(
  { prices, quotePolicy }: { readonly prices: PriceBook; readonly quotePolicy: Pick<QuotePolicy, "gas"> },
  { kind, origin, destination, originCurrency, originGasOverhead }: QuoteQuestion,
): Promise<bigint | undefined> {
  if (originGasOverhead === undefined || kind !== "bridge" || origin === destination) return undefined;
  const { steps } = quotePolicy.gas;
  const deposit =
    originCurrency.address === NATIVE_CURRENCY ? steps.depositNative : steps.approve + steps.depositErc20;
  const { chain, pulse } = origin;
  const wei = gasCostWei(
    deposit + BigInt(originGasOverhead),
    pulse.gasPrices(),
    chain.fees.minPriorityFeeWei,
    chain.fees.gasMarginBps,
  );
  const priceUsd = await prices.usd(chain.native);
  return amountToUsdUp(wei, { decimals: chain.native.decimals, priceUsd });
}
