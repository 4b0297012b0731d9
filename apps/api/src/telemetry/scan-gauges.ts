import type { Registry } from "prom-client";
import { chainGauge } from "./chain-gauge.ts";

/** How far the scan of a chain is behind its newest block. */
interface Lag {
  readonly chain: string;
  readonly blocks: bigint;
  readonly seconds: number;
}

/** How far the scan of each EVM chain is behind its newest block, regardless of which process scans it. */
export function scanGauges(registry: Registry, lags: () => Promise<readonly Lag[]>): void {
  const addGauge = (name: string, help: string, value: (lag: Lag) => number): void =>
    chainGauge(registry, { name, help }, async () =>
      (await lags()).map((lag) => [lag.chain, value(lag)] as const),
    );
  addGauge("causeway_scan_lag_blocks", "Blocks not scanned for deposits yet", ({ blocks }) => Number(blocks));
  addGauge(
    "causeway_scan_lag_seconds",
    "Time between the newest scanned block and the newest block, by block timestamps",
    ({ seconds }) => seconds,
  );
}
