/** The cost of a fill: CPU time in ms, the others as counts. */
export const counters = [
  "workerMs",
  "apiMs",
  "postgresMs",
  "benchMs",
  "commits",
  "statements",
  "rpcCalls",
  "rpcRequests",
] as const;
export type Counter = (typeof counters)[number];

/** Per fill or per second. */
export type Cost = Readonly<Record<Counter, number>>;

/** The value of each counter, and when it was read: not all are up to date at the same moment. */
export type Readings = Readonly<Record<Counter, { readonly atMs: number; readonly total: number }>>;

/** Pure. The usage per second between two readings. */
export function costPerSecond(before: Readings, after: Readings): Cost {
  return eachCounter((counter) => {
    const { used, seconds } = between(before, after, counter);
    return used / seconds;
  });
}

/**
 * Pure. The usage per fill, without what the idle system would have used in the same time. May
 * be slightly negative for a process that fills do not involve. NaN where a counter could not be read.
 */
export function costPerFill(before: Readings, after: Readings, idlePerSecond: Cost, fills: number): Cost {
  return eachCounter((counter) => {
    const { used, seconds } = between(before, after, counter);
    return (used - idlePerSecond[counter] * seconds) / fills;
  });
}

/** Pure. The mean of two costs. */
export function meanCost(first: Cost, second: Cost): Cost {
  return eachCounter((counter) => (first[counter] + second[counter]) / 2);
}

function eachCounter<T>(valueOf: (counter: Counter) => T): Readonly<Record<Counter, T>> {
  return Object.fromEntries(counters.map((counter) => [counter, valueOf(counter)])) as Record<Counter, T>;
}

function between(
  before: Readings,
  after: Readings,
  counter: Counter,
): { readonly used: number; readonly seconds: number } {
  return {
    used: after[counter].total - before[counter].total,
    seconds: (after[counter].atMs - before[counter].atMs) / 1_000,
  };
}
