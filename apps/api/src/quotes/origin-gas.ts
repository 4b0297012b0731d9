import { amountToUsdUp } from "@causeway/domain";
import type { Market } from "./market.ts";
import type { QuoteQuestion } from "./quote-question.ts";

/**
 * The charge of a quote if the service sends the origin transaction, USD with 18 decimals, rounded up: its
 * gas and overhead, or the sweep of a deposit address. Undefined if the user sends it, and on same-chain
 * routes, where only an app pays for a wallet.
 * @param gasUnits of the user's transactions, an approval included
 * @throws ServiceError PRICE_FETCH_FAILED, RPC_HTTP_ERROR
 */
export function originGasOf(
  market: Pick<Market, "usd">,
  { origin, destination, from, originGasOverhead, sweepGas, permit }: QuoteQuestion,
  gasUnits: bigint,
): bigint | undefined {
  const isSent = permit !== undefined || (originGasOverhead !== undefined && origin !== destination);
  const units = sweepGas ?? (isSent ? gasUnits + BigInt(originGasOverhead ?? 0) : undefined);
  if (units === undefined) return undefined;
  const { native } = origin.chain;
  return amountToUsdUp(from.originCost(units), { decimals: native.decimals, priceUsd: market.usd(native) });
}
