import { formatFixed } from "@causeway/domain";
import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { CurrencyAmount } from "../balances/currency-amount.port.ts";

/**
 * A gauge of amounts by chain and currency, in whole tokens. Amounts of a chain that is not read again keep
 * their last value.
 */
export function heldGauge(
  registry: Registry,
  facts: { readonly name: string; readonly help: string },
): (amounts: readonly CurrencyAmount[]) => void {
  const gauge = new Gauge({ ...facts, labelNames: ["chain", "currency"], registers: [registry] });
  return (amounts) => {
    for (const { chain, currency, amount } of amounts)
      gauge.set(
        { chain, currency: currency.id },
        Number(formatFixed(amount, currency.decimals, Math.min(currency.decimals, 9))),
      );
  };
}
