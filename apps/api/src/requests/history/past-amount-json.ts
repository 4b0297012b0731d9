import { formatAmount, formatUsd, NATIVE_CURRENCY } from "@causeway/domain";
import type { HistoryAmountJson, HistoryCurrencyJson } from "@causeway/wire";
import type { PastAmount } from "./past-requests.port.ts";
import type { AddressFormat } from "../../chains/address-format.port.ts";

/** The wire form of a currency; one that is no longer configured only has an address. */
export function currencyJson(
  { chainId, currency, known }: Pick<PastAmount, "chainId" | "currency" | "known">,
  format: AddressFormat,
): HistoryCurrencyJson {
  return {
    chainId,
    address: format.address(chainId, currency),
    ...(known && {
      symbol: known.symbol,
      name: known.name,
      decimals: known.decimals,
      metadata: {
        logoURI: known.logoUri ?? "",
        verified: known.verified,
        isNative: currency === NATIVE_CURRENCY,
      },
    }),
  };
}

/** The wire form of an amount and its currency; omits what is unknown. */
export function amountJson(past: PastAmount, format: AddressFormat): HistoryAmountJson {
  const { amount, usd, minimumAmount } = past;
  return {
    currency: currencyJson(past, format),
    ...(amount !== undefined && { amount: String(amount), ...formatWholeUnits(past, amount) }),
    ...(usd !== undefined && { amountUsd: formatUsd(usd) }),
    ...(minimumAmount !== undefined && { minimumAmount: String(minimumAmount) }),
  };
}

/** In whole units, if the decimals are known. */
export function formatWholeUnits(
  { known }: Pick<PastAmount, "known">,
  amount: bigint,
): { readonly amountFormatted?: string } {
  return known === undefined ? {} : { amountFormatted: formatAmount(amount, known.decimals) };
}
