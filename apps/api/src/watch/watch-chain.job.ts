import type { BlockRef, ChainReader, Head, HeadSource } from "@causeway/chains";
import type { ConnectedChain } from "../chains/chains.port.ts";
import { watchOf, type Lead, type Leadership } from "../db/leadership.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import type { SendRecord } from "../db/records.port.ts";
import { createScanPace } from "./scan-pace.ts";
import { watchScanLag } from "./watch-scan-lag.job.ts";
import {
  followReports,
  loadTrail,
  recheckFinalBlocks,
  returnUnattributed,
  scanChain,
  scanLag,
  TrailMoved,
} from "../deposits/index.ts";
import {
  attributeRecordedDeposits,
  maintainLane,
  openLane,
  trackLane,
  trackSends,
} from "../payments/index.ts";

export interface Watcher {
  close(): Promise<void>;
}

/** Pause after leadership was lost or could not be acquired; it doubles while the chain cannot be led. */
const STAND_BY_MS = 500;
const MAX_STAND_BY_MS = 15_000;

/** Pause between reads of an endpoint that is behind the announced head. */
const SERVED_PAUSE_MS = 500;

/** How long work that no payment waits for is postponed while the fills of a block are being sent. */
const FILLS_FIRST_MS = 250;

/** Work for each new head that deposits and payments do not wait for, at a scanned block. */
export type HeadWork = (atBlock: bigint) => Promise<void>;

/**
 * Watches one chain while this process leads it: scans each new head for deposits, compares it with the
 * lanes, and maintains the lanes on a timer.
 */
export function watchChain(
  services: WorkerServices,
  connected: ConnectedChain,
  acquireLead: Lead,
  headWork: HeadWork = async () => undefined,
): Watcher {
  const closing = new AbortController();
  const loop = standBy(services, connected, { acquireLead, headWork }, closing.signal);
  return {
    async close(): Promise<void> {
      closing.abort();
      await loop;
    },
  };
}

async function standBy(
  services: WorkerServices,
  connected: ConnectedChain,
  { acquireLead, headWork }: { readonly acquireLead: Lead; readonly headWork: HeadWork },
  closing: AbortSignal,
): Promise<void> {
  const facts = { chain: connected.chain.name };
  let pauseMs = STAND_BY_MS;
  while (!closing.aborted) {
    let leadership: Leadership | undefined;
    try {
      leadership = await acquireLead(watchOf(connected.chain.id), closing);
      if (leadership) {
        const stop = AbortSignal.any([closing, leadership.lost]);
        await lead(services, connected, { headWork, reportWork: leadership.reportWork }, stop);
      }
      pauseMs = STAND_BY_MS;
    } catch (error) {
      pauseMs = leadership === undefined ? STAND_BY_MS : Math.min(pauseMs * 2, MAX_STAND_BY_MS);
      services.events.fault("chain_fault", error, facts);
    } finally {
      await leadership?.release().catch(() => undefined);
    }
    await pause(STAND_BY_MS, closing);
    // A new block shows that the node is back.
    await untilHead(connected.connection.heads, pauseMs - STAND_BY_MS, closing);
  }
}

async function lead(
  services: WorkerServices,
  connected: ConnectedChain,
  { headWork, reportWork }: { readonly headWork: HeadWork; readonly reportWork: () => void },
  stop: AbortSignal,
): Promise<void> {
  const { chain, connection } = connected;
  const { laneIntervalMs, reconcileIntervalMs } = services.enginePolicy;
  await openLane(services, connected);
  let trail: readonly BlockRef[] = await loadTrail(services, connected);
  services.events.happened("chain_leads", { chain: chain.name });

  let newest: Head | undefined = connection.heads.latest;
  let scannedHead: Head | undefined;
  let wake: () => void = () => {};
  const unsubscribe = connection.heads.onHead((head) => {
    newest = head;
    wake();
  });
  const onStop = (): void => wake();
  stop.addEventListener("abort", onStop);
  const maintenance = createLaneMaintenance(services, connected);
  const onFault = (error: unknown): void =>
    services.events.fault("chain_fault", error, { chain: chain.name });
  const fillsFirst = async (): Promise<void> => await services.newJobs?.waitForRunning(FILLS_FIRST_MS);
  const headWorker = oneAtATime(async (atBlock) => {
    await fillsFirst();
    await headWork(atBlock);
  }, onFault);
  let recheckedBlock: bigint | undefined;
  const recheckWorker = oneAtATime(async () => {
    await fillsFirst();
    recheckedBlock = await recheckFinalBlocks(services, connected, trail, recheckedBlock);
  }, onFault);
  let lastReport: SendRecord | undefined;
  const unattributedWorker = oneAtATime(async (tip) => {
    await attributeRecordedDeposits(services, connected);
    await returnUnattributed(services, connected, tip);
  }, onFault);
  const reportWorker = oneAtATime(async () => {
    await fillsFirst();
    lastReport = await followReports(services, connected, trail, lastReport);
  }, onFault);
  const pace = createScanPace(services.enginePolicy.maxScanBlocks, Math.random);
  const reportLag = watchScanLag(services.events, chain);
  // Set after a failed scan: the endpoint may be behind the announced head.
  let hasFailed = false;
  // Blocks of the trail were replaced since the lanes were last compared.
  let isReorged = false;
  const follow = (next: readonly BlockRef[]): void => {
    const tip = trail.at(-1);
    isReorged ||= tip !== undefined && !next.some(({ hash }) => hash === tip.hash);
    trail = next;
  };
  let nextOpenAtMs = performance.now() + reconcileIntervalMs;
  try {
    while (!stop.aborted) {
      try {
        const announced = newest;
        const head: Head | undefined =
          announced !== undefined && hasFailed
            ? await servedHead(connection.reader, announced, trail.at(-1))
            : announced;
        if (head !== undefined && head.hash !== scannedHead?.hash) {
          follow(await scanChain(services, connected, trail, head, pace));
          const [hasOpenSlots] = await Promise.all([
            trackLane(services, connected, trail, { reorged: isReorged }),
            trackSends(services, connected, trail),
          ]);
          if (!hasOpenSlots) maintenance.noteIdle();
          scannedHead = head;
          reportWork();
          const scanned = trail.at(-1);
          if (scanned !== undefined) headWorker.trigger(scanned.number);
          if (scanned !== undefined) reportWorker.trigger(scanned.number);
          if (scanned !== undefined) recheckWorker.trigger(scanned.number);
          // Transactions dropped by a reorg are sent again immediately.
          if (isReorged) maintenance.makeDue();
          isReorged = false;
          hasFailed = head !== announced;
        }
        reportLag(scanLag(chain, newest, trail.at(-1)));
        maintenance.trigger();
        const nowMs = performance.now();
        if (nowMs >= nextOpenAtMs) {
          nextOpenAtMs = nowMs + reconcileIntervalMs;
          await openLane(services, connected);
          const tip = trail.at(-1);
          if (tip !== undefined) unattributedWorker.trigger(tip.number);
        }
      } catch (error) {
        if (!(error instanceof TrailMoved))
          services.events.fault("chain_fault", error, { chain: chain.name });
        // Steps before the failed one are committed.
        const stored = await loadTrail(services, connected).catch(() => undefined);
        if (stored !== undefined) follow(stored);
        reportLag(scanLag(chain, newest, trail.at(-1)));
        hasFailed = true;
        scannedHead = undefined;
        await pause(pace.noteFailure(), stop);
        continue;
      }
      if (hasFailed) await pause(SERVED_PAUSE_MS, stop);
      if (newest?.hash === scannedHead?.hash)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, laneIntervalMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
          if (stop.aborted || newest?.hash !== scannedHead?.hash) wake();
        });
    }
  } finally {
    stop.removeEventListener("abort", onStop);
    unsubscribe();
    await Promise.all([
      maintenance.idle(),
      headWorker.idle(),
      reportWorker.idle(),
      recheckWorker.idle(),
      unattributedWorker.idle(),
    ]);
  }
}

/** Starts the work unless it is still running: the next head triggers it again. */
function oneAtATime(
  work: HeadWork,
  onFault: (error: unknown) => void,
): { trigger(atBlock: bigint): void; idle(): Promise<void> } {
  let round: Promise<void> | undefined;
  return {
    trigger(atBlock) {
      round ??= work(atBlock)
        .catch(onFault)
        .finally(() => {
          round = undefined;
        });
    },
    idle: async () => round,
  };
}

/** Maintains the lanes alongside the scan, one round at a time: slow broadcasts must not delay deposits. */
function createLaneMaintenance(
  services: WorkerServices,
  connected: ConnectedChain,
): { trigger(): void; makeDue(): void; noteIdle(): void; idle(): Promise<void> } {
  let nextAtMs = 0;
  let round: Promise<void> | undefined;
  return {
    trigger() {
      const nowMs = performance.now();
      if (round !== undefined || nowMs < nextAtMs) return;
      nextAtMs = nowMs + services.enginePolicy.laneIntervalMs;
      round = maintainLane(services, connected)
        .catch((error: unknown) =>
          services.events.fault("chain_fault", error, { chain: connected.chain.name }),
        )
        .finally(() => {
          round = undefined;
        });
    },
    makeDue() {
      nextAtMs = 0;
    },
    noteIdle() {
      // Slots reserved from now on belong to their processes for that long.
      nextAtMs = performance.now() + services.enginePolicy.orphanedAfterMs;
    },
    idle: async () => round,
  };
}

/** Waits for a new head, up to this many ms. */
async function untilHead(heads: HeadSource, ms: number, closing: AbortSignal): Promise<void> {
  if (ms <= 0) return;
  const headSeen = new AbortController();
  const unsubscribe = heads.onHead(() => headSeen.abort());
  await pause(ms, AbortSignal.any([closing, headSeen.signal]));
  unsubscribe();
}

function pause(ms: number, until: AbortSignal): Promise<void> {
  if (until.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      until.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    until.addEventListener("abort", done);
  });
}

/**
 * The newest head that the endpoint serves: the announcement may come from another node, which is ahead.
 * Never below what is scanned: a lagging node is not a reorg, and a real reorg is announced.
 */
async function servedHead(
  reader: ChainReader,
  announced: Head,
  scanned: BlockRef | undefined,
): Promise<Head> {
  const served = await reader.head();
  if (served.number >= announced.number) return announced;
  const newest = scanned !== undefined && served.number <= scanned.number ? scanned : served;
  return { ...newest, seenAtMs: announced.seenAtMs };
}
