import type { AnswerSource } from "../aggregate/examine.ts";

/** The result of one of several concurrent tasks. */
export type Settled<Value> =
  | { readonly source: AnswerSource; readonly ok: true; readonly value: Value; readonly tookMs: number }
  | { readonly source: AnswerSource; readonly ok: false; readonly error: unknown; readonly tookMs: number };

/**
 * Starts all tasks concurrently and yields results as they settle. Leaving the loop aborts pending tasks and
 * ignores their results.
 * @throws `signal`'s reason as soon as it aborts, even if the tasks do not listen
 */
export async function* fanOut<Value>(
  starts: ReadonlyMap<AnswerSource, (signal: AbortSignal) => Promise<Value>>,
  signal: AbortSignal,
): AsyncGenerator<Settled<Value>, void> {
  signal.throwIfAborted();
  const pendingTasks = new AbortController();
  const aborted = Promise.withResolvers<never>();
  // Otherwise an abort between two answers would be an unhandled rejection.
  aborted.promise.catch(() => undefined);
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const inFlight = new Map(
    [...starts].map(([source, start]) => [source, settle(source, start, pendingTasks.signal)]),
  );
  try {
    while (inFlight.size > 0) {
      const settled = await Promise.race([aborted.promise, ...inFlight.values()]);
      inFlight.delete(settled.source);
      yield settled;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    pendingTasks.abort();
  }
}

async function settle<Value>(
  source: AnswerSource,
  start: (signal: AbortSignal) => Promise<Value>,
  signal: AbortSignal,
): Promise<Settled<Value>> {
  const startedAtMs = performance.now();
  try {
    const value = await start(signal);
    return { source, ok: true, value, tookMs: performance.now() - startedAtMs };
  } catch (error) {
    return { source, ok: false, error, tookMs: performance.now() - startedAtMs };
  }
}
