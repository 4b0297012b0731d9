import type { Clock } from "../db/clock.port.ts";
import type { ChainDirectory } from "../chains/chains.port.ts";
import type { Reads, ScannedBlock } from "../db/reads.port.ts";
import { scanLag } from "./scan-lag.ts";
import type { ScanLag } from "./scan-lag.ts";

/** The newest scanned block of each chain, scanned by any process. */
export type ScanProgress = () => Promise<ReadonlyMap<number, ScannedBlock>>;

/** How long a reading is reused (ms): public routes must not query the database on every call. */
const KEPT_MS = 1_000;

/** Reads the progress at most once a second. */
export function createScanProgress(reads: Pick<Reads, "scannedBlocks">, clock: Clock): ScanProgress {
  let latest: { readonly atMs: number; readonly blocks: ReturnType<ScanProgress> } | undefined;
  return async () => {
    const nowMs = clock.nowMs();
    if (latest === undefined || Math.abs(nowMs - latest.atMs) >= KEPT_MS)
      latest = { atMs: nowMs, blocks: reads.scannedBlocks() };
    return await latest.blocks;
  };
}

/** How far the scan of each EVM chain is behind, where known. */
export async function scanLags(
  chains: Pick<ChainDirectory, "evmChains">,
  scanned: ScanProgress,
): Promise<Array<ScanLag & { readonly chain: string }>> {
  const blocks = await scanned();
  return chains.evmChains.flatMap(({ chain, pulse }) => {
    const lag = scanLag(chain, pulse.head(), blocks.get(chain.id));
    return lag === undefined ? [] : [{ ...lag, chain: chain.name }];
  });
}
