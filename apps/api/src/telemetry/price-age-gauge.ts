import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { OwnedPriceBook } from "../markets/prices/price-book.adapter.ts";

export function priceAgeGauge(registry: Registry, prices: Pick<OwnedPriceBook, "agesMs">): void {
  void new Gauge({
    name: "causeway_price_age_seconds",
    help: "Age of the price in memory by its source's own timestamp; 0 for configured prices",
    labelNames: ["price_id"],
    registers: [registry],
    collect() {
      for (const [priceId, ageMs] of prices.agesMs()) this.set({ price_id: priceId }, ageMs / 1000);
    },
  });
}
