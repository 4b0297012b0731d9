/** The interface of this room for other rooms; everything else is private. */
export { mayDeleteByAge } from "./prices/may-delete-by-age.ts";
export { doubtOf, type PriceServices } from "./prices/disputed-price.ts";
export { addExposure, addExposures, fitExposures, findExceeded } from "./prices/price-exposure.ts";
export { isBeyondCap } from "./prices/partial-disable-limit.ts";
export {
  costWithMargin,
  gasOf,
  currenciesToPrice,
  priceRoute,
  pricingOf,
  type RoutePricing,
  spreadBetween,
  spreadOf,
} from "./prices/quote-pricing.ts";
