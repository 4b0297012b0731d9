import type { ClockReading, NamedReading } from "./clock-check.ts";
import type { Gathered } from "./finding.ts";
import { reasonOf } from "./reason.ts";

/** Timeout of each part. All parts run concurrently. */
export const PART_TIMEOUT_MS = 20_000;

/** Facts, or why there are none after at most {@link PART_TIMEOUT_MS}. */
export async function gatherFacts<T>(read: () => Promise<T>): Promise<Gathered<T>> {
  const timeout = Promise.withResolvers<Gathered<T>>();
  const timer = setTimeout(
    () =>
      timeout.resolve({ kind: "unreachable", reason: `no answer within ${PART_TIMEOUT_MS / 1000} seconds` }),
    PART_TIMEOUT_MS,
  );
  const gathered = read().then(
    (facts): Gathered<T> => ({ kind: "facts", facts }),
    (error: unknown): Gathered<T> => ({ kind: "unreachable", reason: reasonOf(error) }),
  );
  try {
    return await Promise.race([gathered, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Facts, and the clock of the server that reported them. */
interface Timed<T> {
  readonly facts: T;
  readonly clock: ClockReading | undefined;
}

/** Adds the clock of a server to the clocks that are compared. */
export function noteClock(clocks: NamedReading[], source: string, gathered: Gathered<Timed<unknown>>): void {
  if (gathered.kind === "facts" && gathered.facts.clock !== undefined)
    clocks.push({ source, ...gathered.facts.clock });
}

/** The facts without the clock. */
export function factsOnly<T>(gathered: Gathered<Timed<T>>): Gathered<T> {
  return gathered.kind === "facts" ? { kind: "facts", facts: gathered.facts.facts } : gathered;
}
