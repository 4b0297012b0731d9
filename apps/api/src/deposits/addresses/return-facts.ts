import { amountToUsdDown, refundAmount, ServiceError } from "@causeway/domain";
import type { PricedUnit, ReturnFacts } from "@causeway/domain";
import type { AnyConnectedChain } from "../../chains/chains.port.ts";
import type { CurrencyAt } from "./deposit-addresses.port.ts";
import type { Services } from "../../db/services.port.ts";
import { addressesOn } from "./addresses-on.ts";

type Needs = Pick<Services, "chains" | "prices" | "quotePolicy">;

/** The price of a currency; undefined if it is not configured or has no price. */
export async function priceOf(
  services: Pick<Services, "chains" | "prices">,
  { chainId, currency: address }: Pick<CurrencyAt, "chainId" | "currency">,
): Promise<PricedUnit | undefined> {
  const currency = services.chains.currency(chainId, address);
  if (currency === undefined) return undefined;
  try {
    return { decimals: currency.decimals, priceUsd: await services.prices.usd(currency) };
  } catch (error) {
    if (error instanceof ServiceError && error.code === "PRICE_FETCH_FAILED") return undefined;
    throw error;
  }
}

/** The value of the funds, in USD with 18 decimals; undefined if unknown. */
export async function valueOf(
  services: Pick<Services, "chains" | "prices">,
  funds: Pick<CurrencyAt, "chainId" | "currency"> & { readonly amount: bigint },
): Promise<bigint | undefined> {
  const unit = await priceOf(services, funds);
  return unit && amountToUsdDown(funds.amount, unit);
}

/**
 * Whether a currency can be refunded on its chain, and which amounts are worth the current gas price.
 * @throws ServiceError PRICE_FETCH_FAILED, RPC_HTTP_ERROR if a price is stale
 */
export async function returnFacts(
  services: Needs,
  connected: AnyConnectedChain,
  place: Pick<CurrencyAt, "chainId" | "currency">,
): Promise<ReturnFacts & { readonly isPriced: boolean }> {
  const currency = services.chains.currency(place.chainId, place.currency);
  const unit = await priceOf(services, place);
  if (currency === undefined || unit === undefined)
    return { canReturn: false, isPriced: false, isWorthMoving: () => false };
  const { chain } = connected;
  const native = { decimals: chain.native.decimals, priceUsd: await services.prices.usd(chain.native) };
  const wei = addressesOn(connected).returnCost(services.quotePolicy, currency);
  return {
    canReturn: currency.supportsBridging,
    isPriced: true,
    isWorthMoving: (amount) => refundAmount(amount, wei, native, unit).kind === "refund",
  };
}
