/** Held while this process leads; `lost` aborts when another process may lead. */
export interface Leadership {
  readonly lost: AbortSignal;
  /** Reports that a round of the task is done: a scan of the chain, or a round of settlement. */
  worked(): void;
  release(): Promise<void>;
}

/**
 * Waits to become the one process that does `name`; undefined when `stop` aborted first. Leading saves work;
 * it is never what keeps data right: every write is guarded by row locks and unique keys, so two leaders for
 * a moment do no harm.
 */
export type Lead = (name: string, stop: AbortSignal) => Promise<Leadership | undefined>;

/**
 * How long ago this process last worked on something that it leads, ms: since it began to lead, if it has not
 * worked yet. Undefined while it does not lead.
 */
export type WorkedAgo = (name: string) => number | undefined;

/** Name of the leadership of a chain. */
export const watchOf = (chainId: number): string => `watch:${chainId}`;
/** Name of the leadership of settlement. */
export const SETTLEMENT = "settlement";

/** Something that one worker does at a time. */
export interface LedTask {
  /** Name of the chain, or `settlement`. */
  readonly label: string;
  /** Name of its leadership. */
  readonly lock: string;
}
