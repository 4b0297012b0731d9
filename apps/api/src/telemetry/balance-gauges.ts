import { USD_DECIMALS, formatFixed } from "@causeway/domain";
import type { Currency } from "@causeway/domain";
import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { BalanceReads, BalanceTotals } from "../balances/balance-reads.port.ts";
import type { Clock } from "../db/clock.port.ts";

/** Holds, debts and pending claims of apps, read from the database with each scrape. */
export function balanceGauges(
  registry: Registry,
  reads: Pick<BalanceReads, "totals">,
  currencies: readonly Currency[],
  clock: Clock,
): void {
  const addGauge = (
    name: string,
    help: string,
    labelNames: readonly string[],
    publish: (gauge: Gauge, totals: BalanceTotals) => void,
  ): void =>
    void new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      // Each gauge reads the database itself, because gauges are collected concurrently.
      async collect(): Promise<void> {
        const totals = await reads.totals().catch(() => undefined);
        // Unknown is not zero: the last known value stays.
        if (totals !== undefined) publish(this, totals);
      },
    });
  addGauge(
    "causeway_app_balance_holds",
    "Active holds: fast fills whose deposit is not confirmed",
    [],
    (gauge, { activeHolds }) => gauge.set(activeHolds),
  );
  addGauge("causeway_app_balance_exposure_usd", "Sum of the active holds in USD", [], (gauge, { heldUsd }) =>
    gauge.set(Number(formatFixed(heldUsd, USD_DECIMALS, 6))),
  );
  addGauge(
    "causeway_app_balance_owed",
    "Debts of wallets, in whole units",
    ["currency"],
    (gauge, { owed }) => {
      // Publish every currency, even at zero: an alert cannot fire on a missing series.
      for (const { address, symbol, decimals } of currencies) {
        const amount = owed.find(({ currency }) => currency === address)?.amount ?? 0n;
        gauge.set({ currency: symbol }, Number(formatFixed(amount, decimals, Math.min(decimals, 9))));
      }
    },
  );
  addGauge(
    "causeway_app_balance_top_ups",
    "Top-ups that are not credited: seen (waiting for confirmations), unattributed (the marker names no wallet, or the amount is too low)",
    ["state"],
    (gauge, { topUpsSeen, topUpsUnattributed }) => {
      gauge.set({ state: "seen" }, topUpsSeen);
      gauge.set({ state: "unattributed" }, topUpsUnattributed);
    },
  );
  addGauge(
    "causeway_app_balance_claims_paying",
    "Signed claims whose payout is not final",
    [],
    (gauge, { claimsPaying }) => gauge.set(claimsPaying),
  );
  addGauge(
    "causeway_app_balance_oldest_claim_seconds",
    "Age of the oldest signed claim that is not paid",
    [],
    (gauge, { oldestClaimMs }) =>
      gauge.set(oldestClaimMs === undefined ? 0 : (clock.nowMs() - oldestClaimMs) / 1000),
  );
}
