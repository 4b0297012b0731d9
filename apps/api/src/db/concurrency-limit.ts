/** Limits how many jobs of a queue this process runs at a time. */
export interface ConcurrencyLimit {
  /** Waits for room, in the order of the calls. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Returns undefined without calling `work` if the limit is reached. */
  tryRun<T>(work: () => Promise<T>): Promise<T> | undefined;
}

export function concurrencyLimit(max: number): ConcurrencyLimit {
  let running = 0;
  const waiting: (() => void)[] = [];
  const runInSlot = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
  const tryRun = <T>(work: () => Promise<T>): Promise<T> | undefined => {
    if (running >= max) return undefined;
    running++;
    return runInSlot(work);
  };
  return {
    tryRun,
    async run(work) {
      const begun = tryRun(work);
      if (begun !== undefined) return await begun;
      await new Promise<void>((resolve) => waiting.push(resolve));
      return await runInSlot(work);
    },
  };
}
