import type { Chain, NonEvmChain } from "@causeway/domain";
import type { Events } from "../db/events.port.ts";
import type { Lag, ScanLag } from "../deposits/index.ts";

/** Raises one alarm when the scan of a chain falls behind, and logs once when it has caught up. */
export function watchScanLag(
  events: Pick<Events, "alarm" | "happened">,
  chain: Pick<Chain | NonEvmChain, "name">,
): (lag: Lag | ScanLag | undefined) => void {
  let isBehind = false;
  return (lag) => {
    if (lag === undefined || lag.isBehind === isBehind) return;
    isBehind = lag.isBehind;
    const facts = { chain: chain.name, seconds: lag.seconds, ...("blocks" in lag && { blocks: lag.blocks }) };
    if (isBehind) events.alarm("scan_behind", facts);
    else events.happened("scan_caught_up", facts);
  };
}
