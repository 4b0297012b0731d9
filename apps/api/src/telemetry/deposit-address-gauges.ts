import { formatFixed } from "@causeway/domain";
import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { ChainDirectory } from "../chains/chains.port.ts";
import type { Clock } from "../db/clock.port.ts";
import type { DepositAddressReads } from "../deposits/addresses/deposit-addresses.port.ts";

/** Funds at deposit addresses that are not being swept, read from the database with each scrape. */
export function depositAddressGauges(
  registry: Registry,
  reads: Pick<DepositAddressReads, "unswept">,
  chains: Pick<ChainDirectory, "get" | "currency">,
  clock: Clock,
): void {
  const labelNames = ["chain", "currency", "held"];
  const addGauge = (
    name: string,
    help: string,
    valueOf: (total: Awaited<ReturnType<typeof reads.unswept>>[number], decimals: number) => number,
  ): void =>
    void new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      // Each gauge reads the database itself, because gauges are collected concurrently.
      async collect(): Promise<void> {
        const totals = await reads.unswept().catch(() => undefined);
        // Unknown is not zero: the last known value stays.
        if (totals === undefined) return;
        this.reset();
        for (const total of totals) {
          const currency = chains.currency(total.chainId, total.currency);
          this.set(
            {
              chain: chains.get(total.chainId)?.chain.name ?? String(total.chainId),
              currency: currency?.symbol ?? total.currency,
              held: total.held ?? "",
            },
            valueOf(total, currency?.decimals ?? 0),
          );
        }
      },
    });
  addGauge(
    "causeway_deposit_addresses_unswept",
    "Number of balances at deposit addresses that are not being moved; `held` is the reason, or empty if not decided yet",
    ({ places }) => places,
  );
  addGauge(
    "causeway_deposit_addresses_unswept_amount",
    "Total of funds at deposit addresses that are not being moved, in whole units",
    ({ amount }, decimals) => Number(formatFixed(amount, decimals, Math.min(decimals, 9))),
  );
  addGauge(
    "causeway_deposit_addresses_oldest_unswept_seconds",
    "Age of the oldest funds at deposit addresses that are not being moved",
    ({ oldestSeenAtMs }) => (clock.nowMs() - oldestSeenAtMs) / 1000,
  );
}
