import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { foldRepeats } from "./fold-repeats.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function aLog(maxSeries?: number) {
  const lines: unknown[] = [];
  const fold = foldRepeats((level, line) => lines.push({ level, ...line }), maxSeries);
  return {
    lines,
    happen: (what: string, n = 0) =>
      fold({
        level: "error",
        key: what,
        line: { event: what, n, stack: "at …" },
        brief: { event: what },
        ended: { event: "repeats_ended", of: what },
      }),
  };
}

test("logs the start of a series, and its end with count and duration, and nothing in between", () => {
  const { lines, happen } = aLog();
  for (let n = 1; n <= 120; n++) {
    happen("chain_fault", n);
    vi.advanceTimersByTime(500);
  }
  const first = { level: "error", event: "chain_fault", n: 1, stack: "at …" };
  expect(lines).toEqual([first]);
  vi.advanceTimersByTime(70_000);
  expect(lines).toEqual([
    first,
    { level: "info", event: "repeats_ended", of: "chain_fault", count: 120, seconds: 60 },
  ]);
});

test("writes a single occurrence as one line, and starts a new series with a whole line again", () => {
  const { lines, happen } = aLog();
  happen("chain_fault", 1);
  vi.advanceTimersByTime(120_000);
  happen("chain_fault", 2);
  expect(lines).toEqual([
    { level: "error", event: "chain_fault", n: 1, stack: "at …" },
    { level: "error", event: "chain_fault", n: 2, stack: "at …" },
  ]);
});

test("repeats a continuing series every five minutes, without its stack", () => {
  const { lines, happen } = aLog();
  for (let second = 0; second <= 900; second += 10) {
    happen("chain_fault");
    vi.advanceTimersByTime(10_000);
  }
  expect(lines.slice(1)).toEqual([
    { level: "error", event: "chain_fault", count: 31, seconds: 300 },
    { level: "error", event: "chain_fault", count: 61, seconds: 600 },
    { level: "error", event: "chain_fault", count: 91, seconds: 900 },
  ]);
});

test("a series does not hide another series", () => {
  const { lines, happen } = aLog();
  for (const what of ["base", "solana", "base", "solana"]) happen(what);
  expect(lines).toHaveLength(2);
});

test("ends the oldest series beyond the maximum number of series", () => {
  const { lines, happen } = aLog(2);
  for (const what of ["a", "a", "b", "c", "a"]) happen(what);
  expect(lines.map((line) => (line as { event: string }).event)).toEqual([
    "a",
    "b",
    "repeats_ended",
    "c",
    "a",
  ]);
});
