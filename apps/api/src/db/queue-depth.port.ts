/** Jobs of one queue in one state. */
export interface QueueDepth {
  readonly queue: string;
  readonly state: string;
  readonly jobs: number;
}

/** Committed jobs that are not in a queue yet. */
export interface OutboxDepth {
  readonly waiting: number;
  /** When the oldest one was committed, ms since the epoch; undefined if none waits. */
  readonly oldestMs: number | undefined;
}
