import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { ChainDirectory } from "../../ports/chains.ts";
import { scanLag, type ScanLag } from "../../usecases/scan-lag.ts";
import type { ScanProgress } from "../../usecases/scan-progress.ts";

/** How far the scan of each EVM chain is behind its newest block, whichever process scans it. */
export function scanGauges(
  registry: Registry,
  chains: Pick<ChainDirectory, "all">,
  scanned: ScanProgress,
): void {
  const shown = (name: string, help: string, value: (lag: ScanLag) => number): void =>
    void new Gauge({
      name,
      help,
      labelNames: ["chain"],
      registers: [registry],
      async collect(): Promise<void> {
        const blocks = await scanned().catch(() => undefined);
        // Unknown is not zero: what was last known stands.
        if (blocks === undefined) return;
        for (const { chain, pulse } of chains.all) {
          const lag = scanLag(chain, pulse.head(), blocks.get(chain.id));
          if (lag !== undefined) this.set({ chain: chain.name }, value(lag));
        }
      },
    });
  shown("causeway_scan_lag_blocks", "Blocks that were not scanned for deposits yet", ({ blocks }) =>
    Number(blocks),
  );
  shown(
    "causeway_scan_lag_seconds",
    "Between the newest scanned block and the newest block, by their timestamps",
    ({ seconds }) => seconds,
  );
}
