/** Held while this process leads; `lost` aborts when the database no longer vouches for it. */
export interface Leadership {
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/** Tries to become the one process that does `name`; undefined when another one does it. It saves work; it is never what keeps data right. */
export type TryLead = (name: string) => Promise<Leadership | undefined>;
