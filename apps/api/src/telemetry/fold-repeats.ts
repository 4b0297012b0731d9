/**
 * A series ends after this long without a repetition, which is longer than the longest pause between two
 * tries.
 */
const QUIET_MS = 60_000;
/** How often a continuing series is logged again. */
const REMIND_MS = 300_000;
const SWEEP_MS = 10_000;
/** Maximum number of series; beyond it the oldest ends, so that random ids cannot exhaust memory. */
const MAX_SERIES = 1_000;

export type Level = "info" | "warn" | "error";

/** One occurrence of a series. The first occurrence is logged in full; later ones are only counted. */
export interface Occurrence {
  readonly level: Level;
  /** The same for all occurrences of a series. */
  readonly key: string;
  /** Logged for the first occurrence. */
  readonly line: object;
  /** Logged while the series continues. */
  readonly brief: object;
  /** Logged when the series has ended. */
  readonly ended: object;
}

interface Series {
  readonly ended: object;
  readonly firstAtMs: number;
  lastAtMs: number;
  writtenAtMs: number;
  count: number;
}

/**
 * Folds repeated log lines: one when a series begins, one every five minutes while it continues, and one when
 * it ends, with count and duration. A single occurrence is one line.
 */
export function foldRepeats(
  write: (level: Level, line: object) => void,
  maxSeries = MAX_SERIES,
): (occurrence: Occurrence) => void {
  const openSeries = new Map<string, Series>();
  let sweeper: NodeJS.Timeout | undefined;

  const countAndDuration = ({ count, firstAtMs, lastAtMs }: Series): object => ({
    count,
    seconds: Math.round((lastAtMs - firstAtMs) / 1000),
  });
  const end = (key: string, series: Series): void => {
    openSeries.delete(key);
    if (series.count > 1) write("info", { ...series.ended, ...countAndDuration(series) });
  };
  const sweep = (): void => {
    const nowMs = performance.now();
    for (const [key, series] of openSeries) if (nowMs - series.lastAtMs >= QUIET_MS) end(key, series);
    if (openSeries.size > 0) return;
    clearInterval(sweeper);
    sweeper = undefined;
  };

  return ({ level, key, line, brief, ended }) => {
    const nowMs = performance.now();
    const series = openSeries.get(key);
    if (series === undefined) {
      const [oldest] = openSeries;
      if (oldest !== undefined && openSeries.size >= maxSeries) end(...oldest);
      openSeries.set(key, { ended, firstAtMs: nowMs, lastAtMs: nowMs, writtenAtMs: nowMs, count: 1 });
      write(level, line);
      // The timer must not keep an idle process alive.
      sweeper ??= setInterval(sweep, SWEEP_MS).unref();
      return;
    }
    series.count += 1;
    series.lastAtMs = nowMs;
    if (nowMs - series.writtenAtMs < REMIND_MS) return;
    series.writtenAtMs = nowMs;
    write(level, { ...brief, ...countAndDuration(series) });
  };
}
