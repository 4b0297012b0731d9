import type { BlockRef } from "@causeway/chains";
import type { Chain } from "@causeway/domain";
import type { Events } from "../ports/events.ts";
import { scanLag } from "../usecases/scan-lag.ts";

/** Raises one alarm when the scan of a chain falls behind, and one line when it has caught up. */
export function watchScanLag(
  events: Pick<Events, "alarm" | "happened">,
  chain: Pick<Chain, "name" | "blockTimeSeconds">,
): (head: BlockRef | undefined, scanned: BlockRef | undefined) => void {
  let isBehind = false;
  return (head, scanned) => {
    const lag = scanLag(chain, head, scanned);
    if (lag === undefined || lag.isBehind === isBehind) return;
    isBehind = lag.isBehind;
    const facts = { chain: chain.name, blocks: lag.blocks, seconds: lag.seconds };
    if (isBehind) events.alarm("scan_behind", facts);
    else events.happened("scan_caught_up", facts);
  };
}
