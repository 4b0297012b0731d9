import { formatAmount, formatUsd, NATIVE_CURRENCY } from "@causeway/domain";
import type { HistoryAmountJson, HistoryCurrencyJson } from "@causeway/wire";
import type { PastAmount } from "./past-requests.port.ts";
import type { AddressFormat } from "../../chains/address-format.port.ts";

/** The wire form of a currency. A currency that is no longer configured has only an address. */
export function currencyJson(
  { chainId, currency, configured }: Pick<PastAmount, "chainId" | "currency" | "configured">,
  format: AddressFormat,
): HistoryCurrencyJson {
  return {
    chainId,
    address: format.address(chainId, currency),
    ...(configured && {
      symbol: configured.symbol,
      name: configured.name,
      decimals: configured.decimals,
      metadata: {
        logoURI: configured.logoUri ?? "",
        verified: configured.verified,
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

/** In whole units, if the currency is configured. */
export function formatWholeUnits(
  { configured }: Pick<PastAmount, "configured">,
  amount: bigint,
): { readonly amountFormatted?: string } {
  return configured === undefined ? {} : { amountFormatted: formatAmount(amount, configured.decimals) };
}
