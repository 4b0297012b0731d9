import type { Address } from "@causeway/domain";
import type { Events } from "./events.port.ts";
import type { Reads } from "./reads.port.ts";

type Pauses = Awaited<ReturnType<Reads["pauses"]>>;

/** Route times are averages of many payments: one round of this many reads them. */
const ROUNDS_PER_TIMINGS = 10;

/** Facts that many quotes share and that may be slightly old: read on a timer, not per quote. */
export interface PolledFacts {
  /** Outflows of a chain's open payments in this currency, base units, as of the last read. */
  reserved(chainId: number, currency: Address): bigint;
  /** Measured ms from deposit seen to fill mined on this route. Undefined before the first one. */
  routeMs(originChainId: number, destinationChainId: number): number | undefined;
  /** The operator's pauses, as of the last read. */
  pauses(): Pauses;
  close(): void;
}

/**
 * Reads at once, then every `everyMs`, route times less often. A failed read keeps the last values: the fill
 * checks inventory again under a lock.
 * @param reads what is not among them is not polled
 */
export async function pollFacts(
  reads: Pick<Reads, "reserved"> & Partial<Pick<Reads, "routeTimings" | "pauses">>,
  events: Events,
  everyMs: number,
): Promise<PolledFacts> {
  let reserved: Awaited<ReturnType<Reads["reserved"]>> = new Map();
  const msByRoute = new Map<string, number>();
  let paused: Pauses = [];
  let rounds = 0;
  const refresh = async (): Promise<void> => {
    // First: the others may be slow.
    paused = (await reads.pauses?.()) ?? paused;
    reserved = await reads.reserved();
    if (rounds++ % ROUNDS_PER_TIMINGS !== 0) return;
    for (const row of (await reads.routeTimings?.()) ?? [])
      msByRoute.set(`${row.originChainId}>${row.destinationChainId}`, row.averageMs);
  };
  await refresh();
  let isRefreshing = false;
  const timer = setInterval(() => {
    if (isRefreshing) return;
    isRefreshing = true;
    refresh()
      .catch((error: unknown) => events.fault("chain_fault", error, { part: "polled facts" }))
      .finally(() => {
        isRefreshing = false;
      });
  }, everyMs);
  return {
    reserved: (chainId, currency) => reserved.get(chainId)?.get(currency) ?? 0n,
    routeMs: (originChainId, destinationChainId) => msByRoute.get(`${originChainId}>${destinationChainId}`),
    pauses: () => paused,
    close: () => clearInterval(timer),
  };
}
