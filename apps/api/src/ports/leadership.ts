/** Held while this process leads; `lost` aborts when another process may lead. */
export interface Leadership {
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/**
 * Waits to become the one process that does `name`; undefined when `stop` aborted first. Leading saves work; it is never what keeps data right:
 * every write is guarded by row locks and unique keys, so two leaders for a moment do no harm.
 */
export type Lead = (name: string, stop: AbortSignal) => Promise<Leadership | undefined>;
