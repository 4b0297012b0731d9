import { formatAmount } from "@causeway/domain";

/** Formats amounts like Hyperliquid: at least one digit after the point. */
export function formatDecimal(amount: bigint, decimals: number): string {
  const text = formatAmount(amount, decimals);
  return text.includes(".") ? text : `${text}.0`;
}
