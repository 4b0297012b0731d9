import { ServiceError, type Currency } from "@causeway/domain";
import type { Services } from "../db/services.port.ts";

/** How long a refund waits for the price of its token, ms. */
export const PRICE_WAIT_MS = 3600 * 1000;

/**
 * The price of a refund's token. Undefined: no price source has it now. Does not use pools, because anyone
 * who moves a pool could control how much is withheld for gas.
 */
export async function priceOfRefund(
  { prices }: Pick<Services, "prices">,
  currency: Currency,
): Promise<bigint | undefined> {
  try {
    return await prices.usd(currency);
  } catch (error) {
    if (error instanceof ServiceError && error.code === "PRICE_FETCH_FAILED") return undefined;
    throw error;
  }
}
