import { SETTLEMENT, type Lead, type Leadership } from "../db/leadership.port.ts";
import type { SettlementServices } from "./settlement-services.port.ts";
import { attestDue } from "./attest-due.ts";
import { submitExecutions } from "./submit-executions.ts";

/** Pause after losing leadership or failing to acquire it. */
const LEADERSHIP_RETRY_MS = 500;

/** A repeated task with its usual pause between rounds. May throw: the next round continues. */
export type Task = (stop: AbortSignal) => Promise<void>;

/**
 * Settles payments while this process leads. Oracles and hub have separate loops, so that neither waits for
 * the other; nothing else waits for either.
 * @param extraTasks tasks that also run while this process leads
 */
export function settlePayments(
  services: SettlementServices,
  leadOf: Lead,
  extraTasks: readonly Task[] = [],
): { close(): Promise<void> } {
  const closing = new AbortController();
  const tasks: readonly Task[] = [
    (stop) => attestDue(services, stop),
    () => submitExecutions(services),
    ...extraTasks,
  ];
  const loop = runWhileLeading(services, leadOf, tasks, closing.signal);
  return {
    async close(): Promise<void> {
      closing.abort();
      await loop;
    },
  };
}

async function runWhileLeading(
  services: SettlementServices,
  leadOf: Lead,
  tasks: readonly Task[],
  closing: AbortSignal,
): Promise<void> {
  while (!closing.aborted) {
    let leadership: Leadership | undefined;
    try {
      leadership = await leadOf(SETTLEMENT, closing);
      if (leadership) {
        services.events.happened("settlement_leads", {});
        const stop = AbortSignal.any([closing, leadership.lost]);
        const { reportWork } = leadership;
        const rounds = tasks.map((task) => async () => {
          await task(stop);
          reportWork();
        });
        await Promise.all(rounds.map((round) => repeatRounds(services, stop, round)));
      }
    } catch (error) {
      services.events.fault("settlement_fault", error, {});
    } finally {
      await leadership?.release().catch(() => undefined);
    }
    await pause(LEADERSHIP_RETRY_MS, closing);
  }
}

async function repeatRounds(
  { events, settlementPolicy }: SettlementServices,
  stop: AbortSignal,
  round: () => Promise<void>,
): Promise<void> {
  let failures = 0;
  while (!stop.aborted) {
    try {
      await round();
      failures = 0;
    } catch (error) {
      failures++;
      if (!stop.aborted) events.fault("settlement_fault", error, { failures });
    }
    await pause(Math.min(settlementPolicy.intervalMs * 2 ** Math.min(failures, 5), 30_000), stop);
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
