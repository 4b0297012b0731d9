import { findingsOf, type Finding } from "./finding.ts";

/** The time of another clock, and of this machine's clock at the same moment. */
export interface ClockReading {
  /** ms since epoch, by the other clock. */
  readonly theirsMs: number;
  /** ms since epoch, by this machine, halfway between request and response. */
  readonly oursMs: number;
}

export interface NamedReading extends ClockReading {
  /** Such as `Postgres`, or a host. */
  readonly source: string;
}

/** Larger than the errors of the method: an HTTP date has whole seconds. */
const MAX_OFFSET_MS = 5_000;

/**
 * Compares clocks. If most other clocks disagree with this machine in the same direction, this machine's
 * clock is wrong.
 */
export function judgeClock(readings: readonly NamedReading[]): readonly Finding[] {
  const here = findingsOf("clock", "this machine");
  if (readings.length === 0) return [here.skipped("no other clock answered")];
  const offsets = readings.map(({ source, theirsMs, oursMs }) => ({ source, ms: theirsMs - oursMs }));
  const [ahead, behind] = [
    offsets.filter(({ ms }) => ms < -MAX_OFFSET_MS),
    offsets.filter(({ ms }) => ms > MAX_OFFSET_MS),
  ];
  const worst = ahead.length > behind.length ? ahead : behind;
  if (worst.length === 0) return [here.ok(`within 5 seconds of ${readings.length} other clocks`)];
  const isOurs = worst.length * 2 > offsets.length;
  const wrongClocks = isOurs ? [] : [...ahead, ...behind];
  return [
    isOurs
      ? here.problem({
          found: `this clock is ${wholeSeconds(worst[0]?.ms ?? 0)} seconds ${worst === ahead ? "ahead" : "behind"}, by ${worst.map(({ source }) => source).join(", ")}`,
          why: "deadlines, expiry and the age of prices are judged wrongly: deposits may be refunded too early",
          remedy: "synchronize the clock: timedatectl set-ntp true",
        })
      : here.ok(`agrees with ${offsets.length - wrongClocks.length} of ${offsets.length} other clocks`),
    ...wrongClocks.map(({ source, ms }) =>
      findingsOf("clock", source).warning({
        found: `the clock of ${source} is ${wholeSeconds(ms)} seconds ${ms > 0 ? "ahead" : "behind"}`,
        why: "what it reports as new may be old, or its times cannot be compared with those of the service",
        remedy: "synchronize the clock of that server (timedatectl set-ntp true), or use another one",
      }),
    ),
  ];
}

function wholeSeconds(ms: number): number {
  return Math.round(Math.abs(ms) / 1000);
}
