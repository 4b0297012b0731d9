import type { Currency, PricedUnit } from "@causeway/domain";
import { formatUsd, ServiceError, usdToAmountUp } from "@causeway/domain";
import { amountText } from "../http/refusals.ts";

/** $0.05, in USD with 18 decimals: smaller swaps on one chain are not worth serving. */
const MIN_SWAP_USD = 50_000_000_000_000_000n;

/**
 * Refuses a swap on one chain that is worth less than the minimum.
 * @param inputUsd USD with 18 decimals
 * @param input the input currency, if it has a price: the error then names the minimum amount
 * @throws ServiceError AMOUNT_TOO_LOW for a swap on one chain below the minimum
 */
export function refuseTinySwap(
  inputUsd: bigint,
  input?: { readonly unit: PricedUnit; readonly currency: Currency },
): void {
  if (inputUsd >= MIN_SWAP_USD) return;
  // A price too small for its 18 decimals is 0, so no minimum amount can be computed.
  const minimum =
    input === undefined || input.unit.priceUsd === 0n
      ? ""
      : `, which is ${amountText(usdToAmountUp(MIN_SWAP_USD, input.unit), input.currency)}`;
  throw new ServiceError(
    "AMOUNT_TOO_LOW",
    `amount: the input of a swap on one chain must be worth at least $0.05${minimum}, got $${formatUsd(inputUsd)}`,
    { field: "amount" },
  );
}
