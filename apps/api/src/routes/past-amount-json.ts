import { formatAmount, formatUsd } from "@causeway/domain";
import type { HistoryAmountJson } from "@causeway/wire";
import type { PastAmount } from "../ports/request-history-routes.ts";
import type { Spelling } from "../ports/spelling.ts";
import { hexSpelling } from "../usecases/spelling.ts";

/** An amount in the wire's words, with its currency. */
export function amountJson(
  { chainId, currency, known: named, amount, usd, minimumAmount }: PastAmount,
  spelling: Spelling = hexSpelling,
): HistoryAmountJson {
  return {
    currency: {
      chainId,
      address: spelling.address(chainId, currency),
      symbol: named?.symbol ?? null,
      name: named?.name ?? null,
      decimals: named?.decimals ?? null,
    },
    amount: amount === undefined ? null : String(amount),
    amountFormatted:
      amount === undefined || named === undefined ? null : formatAmount(amount, named.decimals),
    amountUsd: usd === undefined ? null : formatUsd(usd),
    minimumAmount: minimumAmount === undefined ? null : String(minimumAmount),
  };
}
