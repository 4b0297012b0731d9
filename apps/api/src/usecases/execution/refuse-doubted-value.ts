import type { Currency } from "@causeway/domain";
import { doubtOf } from "../price-doubt.ts";
import type { PriceServices } from "../price-doubt.ts";

/**
 * Calls that carry native token are charged for it in another currency, so its price must be one that quotes would trade at. Gas alone is small.
 * @throws ServiceError PRICE_FETCH_FAILED
 */
export function refuseDoubtedValue(services: PriceServices, native: Currency, valueWei: bigint): void {
  const doubt = valueWei > 0n ? doubtOf(services, native) : undefined;
  if (doubt !== undefined) throw doubt;
}
