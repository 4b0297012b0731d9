import { amountToUsdUp } from "@causeway/domain";
import type { Market } from "./market.ts";
import type { QuoteQuestion } from "./quote-question.ts";

/**
 * The quote's charge for an origin transaction that the service sends, USD with 18 decimals, rounded up: the
 * gas and overhead, or the sweep of a deposit address. Undefined if the user sends the transaction, and on
 * same-chain routes without a permit, on which only an app can pay for that transaction.
 * @param gasUnits gas of the user's transactions, including an approval
 * @throws ServiceError PRICE_FETCH_FAILED, RPC_HTTP_ERROR
 */
export function originGasOf(
  market: Pick<Market, "usd">,
  { origin, destination, from, originGasOverhead, sweepGas, permit }: QuoteQuestion,
  gasUnits: bigint,
): bigint | undefined {
  const isSentByService = permit !== undefined || (originGasOverhead !== undefined && origin !== destination);
  const units = sweepGas ?? (isSentByService ? gasUnits + BigInt(originGasOverhead ?? 0) : undefined);
  if (units === undefined) return undefined;
  const { native } = origin.chain;
  return amountToUsdUp(from.originCost(units), { decimals: native.decimals, priceUsd: market.usd(native) });
}
