/** After so long without a repetition a series has ended: longer than the longest pause between two tries. */
const QUIET_MS = 60_000;
/** A series that goes on is written again this often. */
const REMIND_MS = 300_000;
const SWEEP_MS = 10_000;
/** Series that are followed at a time; beyond that the oldest ends, so that made-up ids take no memory. */
const MAX_SERIES = 1_000;

export type Level = "info" | "warn" | "error";

/** What is written of a series: the first occurrence as it is, later ones by their number. */
export interface Occurrence {
  readonly level: Level;
  /** The same for all occurrences of a series. */
  readonly key: string;
  /** All of it, written once. */
  readonly line: object;
  /** Written while the series goes on. */
  readonly brief: object;
  /** Written when the series has ended. */
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
 * Writes one line when something begins that repeats, one every five minutes while it goes on, and one when
 * it has ended, with their number and the time from the first to the last. What happens once is one line.
 */
export function foldRepeats(
  write: (level: Level, line: object) => void,
  maxSeries = MAX_SERIES,
): (occurrence: Occurrence) => void {
  const open = new Map<string, Series>();
  let sweeper: NodeJS.Timeout | undefined;

  const numbers = ({ count, firstAtMs, lastAtMs }: Series): object => ({
    count,
    seconds: Math.round((lastAtMs - firstAtMs) / 1000),
  });
  const end = (key: string, series: Series): void => {
    open.delete(key);
    if (series.count > 1) write("info", { ...series.ended, ...numbers(series) });
  };
  const sweep = (): void => {
    const nowMs = performance.now();
    for (const [key, series] of open) if (nowMs - series.lastAtMs >= QUIET_MS) end(key, series);
    if (open.size > 0) return;
    clearInterval(sweeper);
    sweeper = undefined;
  };

  return ({ level, key, line, brief, ended }) => {
    const nowMs = performance.now();
    const series = open.get(key);
    if (series === undefined) {
      const [oldest] = open;
      if (oldest !== undefined && open.size >= maxSeries) end(...oldest);
      open.set(key, { ended, firstAtMs: nowMs, lastAtMs: nowMs, writtenAtMs: nowMs, count: 1 });
      write(level, line);
      // It must not keep a process alive that has nothing else to do.
      sweeper ??= setInterval(sweep, SWEEP_MS).unref();
      return;
    }
    series.count += 1;
    series.lastAtMs = nowMs;
    if (nowMs - series.writtenAtMs < REMIND_MS) return;
    series.writtenAtMs = nowMs;
    write(level, { ...brief, ...numbers(series) });
  };
}
