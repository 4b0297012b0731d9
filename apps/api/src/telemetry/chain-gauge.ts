import { Gauge } from "prom-client";
import type { Registry } from "prom-client";

/** A gauge with one value per chain, read with each scrape. */
export function chainGauge(
  registry: Registry,
  { name, help }: { readonly name: string; readonly help: string },
  read: () => Promise<Iterable<readonly [chain: string, value: number]>>,
): void {
  void new Gauge({
    name,
    help,
    labelNames: ["chain"],
    registers: [registry],
    async collect(): Promise<void> {
      // Unknown is not zero: the last known value stays.
      for (const [chain, value] of await read().catch(() => [])) this.set({ chain }, value);
    },
  });
}
