import type { AnswerSource } from "../aggregate/examine.ts";

/** How one of several things that were started together ended. */
export type Settled<Value> =
  | { readonly source: AnswerSource; readonly ok: true; readonly value: Value; readonly tookMs: number }
  | { readonly source: AnswerSource; readonly ok: false; readonly error: unknown; readonly tookMs: number };

/**
 * Starts everything at once and gives what settles, in that order. Leaving the loop aborts what is still
 * under way; nobody waits for it then, and how it ends is nobody's concern.
 * @throws `signal`'s reason as soon as it is aborted, even when what was started does not listen.
 */
export async function* fanOut<Value>(
  starts: ReadonlyMap<AnswerSource, (signal: AbortSignal) => Promise<Value>>,
  signal: AbortSignal,
): AsyncGenerator<Settled<Value>, void> {
  signal.throwIfAborted();
  const rest = new AbortController();
  const gone = Promise.withResolvers<never>();
  // Without this an abort between two answers would be an unhandled rejection.
  gone.promise.catch(() => undefined);
  const onAbort = (): void => gone.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const underWay = new Map(
    [...starts].map(([source, start]) => [source, settle(source, start, rest.signal)]),
  );
  try {
    while (underWay.size > 0) {
      const settled = await Promise.race([gone.promise, ...underWay.values()]);
      underWay.delete(settled.source);
      yield settled;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    rest.abort();
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
