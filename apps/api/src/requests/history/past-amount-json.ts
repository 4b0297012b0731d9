import { formatAmount, formatUsd, NATIVE_CURRENCY } from "@causeway/domain";
import type { HistoryAmountJson, HistoryCurrencyJson } from "@causeway/wire";
import type { PastAmount } from "./past-requests.port.ts";
import type { AddressFormat } from "../../chains/address-format.port.ts";

/** A currency in the wire's words; one that is no longer configured has an address alone. */
export function currencyJson(
  { chainId, currency, known }: Pick<PastAmount, "chainId" | "currency" | "known">,
  spelling: AddressFormat,
): HistoryCurrencyJson {
  return {
    chainId,
    address: spelling.address(chainId, currency),
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

/** An amount in the wire's words, with its currency; without what is not known. */
export function amountJson(past: PastAmount, spelling: AddressFormat): HistoryAmountJson {
  const { amount, usd, minimumAmount } = past;
  return {
    currency: currencyJson(past, spelling),
    ...(amount !== undefined && { amount: String(amount), ...formatted(past, amount) }),
    ...(usd !== undefined && { amountUsd: formatUsd(usd) }),
    ...(minimumAmount !== undefined && { minimumAmount: String(minimumAmount) }),
  };
}

/** In whole units, if the decimals are known. */
export function formatted(
  { known }: Pick<PastAmount, "known">,
  amount: bigint,
): { readonly amountFormatted?: string } {
  return known === undefined ? {} : { amountFormatted: formatAmount(amount, known.decimals) };
}
