/** Held while this process leads; `lost` aborts when another process may lead. */
export interface Leadership {
  readonly lost: AbortSignal;
  /** Reports a completed round of the task: a scan of the chain, or a round of settlement. */
  reportWork(): void;
  release(): Promise<void>;
}

/**
 * Waits until this process is the one that does `name`; undefined if `stop` aborted first. Leadership saves
 * work; correctness never depends on it: every write is guarded by row locks and unique keys, so two
 * concurrent leaders do no harm.
 */
export type Lead = (name: string, stop: AbortSignal) => Promise<Leadership | undefined>;

/**
 * How long ago this process last worked on a task that it leads, ms; before the first round, since it began
 * to lead. Undefined while it does not lead.
 */
export type WorkedAgo = (name: string) => number | undefined;

/** Leadership name of a chain's watcher. */
export const watchOf = (chainId: number): string => `watch:${chainId}`;
/** Leadership name of settlement. */
export const SETTLEMENT = "settlement";

/** A task that one worker does at a time. */
export interface LedTask {
  /** Name of the chain, or `settlement`. */
  readonly label: string;
  /** Name of its leadership. */
  readonly lock: string;
}
