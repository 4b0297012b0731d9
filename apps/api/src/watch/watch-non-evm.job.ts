import { RpcFault } from "@causeway/chains";
import type { TransferChain } from "../chains/chains.port.ts";
import { watchOf, type Lead, type Leadership } from "../db/leadership.port.ts";
import type { WorkerServices } from "../db/services.port.ts";
import { attributeLate, CursorMoved, readArrivals, unreadLag } from "../deposits/index.ts";
import { openNonEvmLane, trackNonEvm } from "../payments/index.ts";
import { createFaultPauses } from "../db/fault-pause.job.ts";
import type { Watcher } from "./watch-chain.job.ts";
import { watchScanLag } from "./watch-scan-lag.job.ts";

/** Pause after leadership was lost or could not be acquired; it doubles while the chain cannot be led. */
const STAND_BY_MS = 500;
const MAX_STAND_BY_MS = 5_000;
/**
 * How often the stored cursor is read again, ms. A failover may have lost the last commits, and a watcher
 * that finds nothing new does not write, so it would not notice.
 */
const REREAD_CURSOR_MS = 60_000;

/**
 * Watches one non-EVM chain while this process leads it: reads final deposits, attributes deposits that were
 * mapped late, tracks open payments, opens the lane, and scans deposit addresses, at any news and at least
 * once per interval. None of these waits for the others.
 * @param scanAddresses scans deposit addresses. Absent: there are none.
 */
export function watchNonEvm(
  services: WorkerServices,
  connected: TransferChain,
  acquireLead: Lead,
  scanAddresses: () => Promise<void> = async () => {},
): Watcher {
  const closing = new AbortController();
  const loop = standBy(services, connected, acquireLead, { scanAddresses, closing: closing.signal });
  return {
    async close(): Promise<void> {
      closing.abort();
      await loop;
    },
  };
}

async function standBy(
  services: WorkerServices,
  connected: TransferChain,
  acquireLead: Lead,
  { scanAddresses, closing }: { readonly scanAddresses: () => Promise<void>; readonly closing: AbortSignal },
): Promise<void> {
  const facts = { chain: connected.chain.name };
  let pauseMs = STAND_BY_MS;
  while (!closing.aborted) {
    let leadership: Leadership | undefined;
    try {
      leadership = await acquireLead(watchOf(connected.chain.id), closing);
      if (leadership) {
        const stop = AbortSignal.any([closing, leadership.lost]);
        await lead(services, connected, leadership.reportWork, { scanAddresses, stop });
      }
      pauseMs = STAND_BY_MS;
    } catch (error) {
      pauseMs = leadership === undefined ? STAND_BY_MS : Math.min(pauseMs * 2, MAX_STAND_BY_MS);
      services.events.fault("chain_fault", error, facts);
    } finally {
      await leadership?.release().catch(() => undefined);
    }
    await pause(pauseMs, closing);
  }
}

async function lead(
  services: WorkerServices,
  connected: TransferChain,
  reportWork: () => void,
  { scanAddresses, stop }: { readonly scanAddresses: () => Promise<void>; readonly stop: AbortSignal },
): Promise<void> {
  const { chain, connection } = connected;
  await openNonEvmLane(services, connected);
  let cursor = await services.reads.nonEvmCursor(chain.id);
  const checked = await services.reads.nonEvmChecked(chain.id);
  services.events.happened("chain_leads", { chain: chain.name });
  let unreadSince: bigint | undefined;
  const recorded = new Set<string>();
  const reportLag = watchScanLag(services.events, chain);
  let cursorReadAtMs = services.clock.nowMs();
  const read = async (): Promise<void> => {
    try {
      // The clock may be set back.
      if (Math.abs(services.clock.nowMs() - cursorReadAtMs) >= REREAD_CURSOR_MS) {
        recorded.clear();
        cursor = await services.reads.nonEvmCursor(chain.id);
        cursorReadAtMs = services.clock.nowMs();
      }
      ({ cursor, unreadSince } = await readArrivals(services, connected, cursor, { recorded, checked }));
    } catch (error) {
      // Part of the deposits may have been recorded, or lost with a former primary. A fault of an endpoint is
      // thrown once what was read is committed.
      if (!(error instanceof RpcFault)) recorded.clear();
      cursor = await services.reads.nonEvmCursor(chain.id);
      if (!(error instanceof CursorMoved)) throw error;
    } finally {
      reportLag(unreadLag(services.clock.nowMs(), unreadSince));
    }
    reportWork();
  };
  await Promise.all([
    repeat(services, connected, connection, stop, read),
    repeat(services, connected, connection, stop, () => attributeLate(services, connected)),
    repeat(services, connected, connection, stop, () => trackNonEvm(services, connected)),
    repeat(services, connected, connection, stop, scanAddresses),
    // A held lane is opened when its lost payments are restored.
    repeat(services, connected, connection, stop, () => openNonEvmLane(services, connected)),
  ]);
}

/** Runs at any news of the chain and at least once per interval, one run at a time. */
async function repeat(
  { events, enginePolicy }: Pick<WorkerServices, "events" | "enginePolicy">,
  { chain }: Pick<TransferChain, "chain">,
  connection: TransferChain["connection"],
  stop: AbortSignal,
  act: () => Promise<void>,
): Promise<void> {
  const pauses = createFaultPauses(Math.random);
  let hasNews = false;
  let wake: () => void = () => {};
  const unsubscribe = connection.onNews(() => {
    hasNews = true;
    wake();
  });
  const onStop = (): void => wake();
  stop.addEventListener("abort", onStop);
  try {
    while (!stop.aborted) {
      hasNews = false;
      try {
        await act();
        pauses.reset();
      } catch (error) {
        events.fault("chain_fault", error, { chain: chain.name });
        await pause(pauses.after(error), stop);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, enginePolicy.laneIntervalMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
        if (stop.aborted || hasNews) wake();
      });
    }
  } finally {
    stop.removeEventListener("abort", onStop);
    unsubscribe();
  }
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
