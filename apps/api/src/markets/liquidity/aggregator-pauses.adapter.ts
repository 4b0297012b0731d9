import { ZodError } from "zod";
import type { Clock } from "../../db/clock.port.ts";
import { StatusFault } from "./bounded-json.adapter.ts";

/** Pause after a failure: an aggregator that is down must not delay each quote by its timeout. */
const PAUSE_MS = 3_000;
/** Statuses that refuse one question. Any other status means that the aggregator is down. */
const REFUSALS: ReadonlySet<number> = new Set([400, 404, 422]);
const MAX_PAUSED_PAIRS = 10_000;

/** Tracks after which failures an aggregator must not be queried for a while. */
export interface AggregatorPauses {
  isPaused(pair: string): boolean;
  /** Pauses the pair that the failure is about, or the whole aggregator. */
  noteFailure(error: unknown, pair: string): void;
}

export function aggregatorPauses(clock: Clock): AggregatorPauses {
  let pausedUntilMs = 0;
  /** Anyone may request any token, so a failing pair must not block other pairs. */
  const pausedPairs = new Map<string, number>();
  return {
    isPaused: (pair) => clock.nowMs() < Math.max(pausedUntilMs, pausedPairs.get(pair) ?? 0),
    noteFailure: (error, pair) => {
      const untilMs = clock.nowMs() + PAUSE_MS;
      if (!isAboutPair(error)) pausedUntilMs = untilMs;
      else {
        if (pausedPairs.size >= MAX_PAUSED_PAIRS) pausedPairs.clear();
        pausedPairs.set(pair, untilMs);
      }
    },
  };
}

/** Whether the aggregator works, but its answer about this pair is unusable. */
function isAboutPair(error: unknown): boolean {
  return error instanceof RangeError || error instanceof ZodError || isRefusal(error);
}

/** Whether the aggregator answered that it cannot serve the question. */
export function isRefusal(error: unknown): boolean {
  return error instanceof StatusFault && REFUSALS.has(error.status);
}
