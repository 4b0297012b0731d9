import type { BitcoinNetwork } from "@causeway/domain";
import { decodeBitcoinAddress, RpcFault } from "@causeway/families";
import { addressBytesOfScript, type ReportedOutput } from "@causeway/families/bitcoin";
import type { Explorer } from "./explorer.ts";
import type { BitcoinReads } from "./rpc.ts";

/** Minimum time between the starts of two scans. */
const SCAN_EVERY_MS = 10 * 60_000;
/** Maximum scripts whose last list is kept, and maximum scripts per scan. */
const MAX_LISTS = 1_000;

/** Outputs of deposit addresses, as hints: the node confirms each of them. */
export interface AddressListing {
  /** At most `maxOutputs` confirmed outputs, the largest first. @throws RpcFault */
  outputsOf(script: string): Promise<readonly ReportedOutput[]>;
}

/**
 * Explorers refuse to list an address with more than a few hundred outputs, and anyone can send that many to
 * an address. Then the last list remains in use, and the node scans its set of unspent outputs: for all such
 * addresses in one scan, at most every 10 minutes. Without a list, the explorer's fault is thrown until the
 * scan ends.
 * @param onFault called with the faults of scans, and with refusals for which the last list is used
 */
export function createAddressListing(
  network: BitcoinNetwork,
  maxOutputs: number,
  {
    explorer,
    reads,
    now,
    onFault,
  }: {
    readonly explorer: Pick<Explorer, "outputsOf">;
    readonly reads: Pick<BitcoinReads, "scan">;
    now(): number;
    onFault(error: unknown): void;
  },
): AddressListing {
  const lists = new Map<string, readonly ReportedOutput[]>();
  const refused = new Set<string>();
  let isScanning = false;
  let scannedAtMs: number | undefined;

  const storeList = (script: string, outputs: readonly ReportedOutput[]): readonly ReportedOutput[] => {
    const list = outputs
      .filter(({ isConfirmed }) => isConfirmed)
      .toSorted((a, b) => (a.amount === b.amount ? 0 : a.amount > b.amount ? -1 : 1))
      .slice(0, maxOutputs);
    lists.delete(script);
    if (list.length > 0) lists.set(script, list);
    const oldest = lists.size > MAX_LISTS ? lists.keys().next().value : undefined;
    if (oldest !== undefined) lists.delete(oldest);
    return list;
  };

  const scan = async (): Promise<void> => {
    const scripts = [...refused].slice(0, MAX_LISTS);
    isScanning = true;
    scannedAtMs = now();
    for (const script of scripts) refused.delete(script);
    try {
      const outputsByScript = Map.groupBy(await reads.scan(scripts), ({ script }) => script);
      for (const script of scripts) storeList(script, outputsByScript.get(script) ?? []);
    } catch (error) {
      onFault(error);
    } finally {
      isScanning = false;
    }
  };

  return {
    outputsOf: async (script) => {
      const bytes = addressBytesOfScript(script);
      const address = bytes === undefined ? undefined : decodeBitcoinAddress(network, bytes);
      if (address === undefined) throw new RangeError("invariant violated: deposit script has no address");
      try {
        const list = storeList(script, await explorer.outputsOf(address));
        refused.delete(script);
        return list;
      } catch (error) {
        // Any other fault is temporary.
        if (!(error instanceof RpcFault) || error.kind !== "http" || error.isPause) throw error;
        refused.add(script);
        const isScanDue = scannedAtMs === undefined || now() - scannedAtMs >= SCAN_EVERY_MS;
        if (isScanDue && !isScanning) void scan();
        const list = lists.get(script);
        if (list === undefined) throw error;
        onFault(error);
        return list;
      }
    },
  };
}
