interface SharedCall<Value> {
  readonly value: Promise<Value>;
  readonly abort: AbortController;
  waiting: number;
}

/**
 * Lets concurrent callers with the same key share one call. Its result is not cached. It is aborted once all
 * its callers have left.
 * @returns a function whose promise rejects with the signal's reason when this caller leaves, while the call
 * continues for the others
 */
export function shareCalls<Value>(): (
  key: string,
  start: (signal: AbortSignal) => Promise<Value>,
  signal: AbortSignal,
) => Promise<Value> {
  const inFlight = new Map<string, SharedCall<Value>>();

  const begin = (key: string, start: (signal: AbortSignal) => Promise<Value>): SharedCall<Value> => {
    const abort = new AbortController();
    const call: SharedCall<Value> = { abort, value: start(abort.signal), waiting: 0 };
    const forget = (): void => {
      if (inFlight.get(key) === call) inFlight.delete(key);
    };
    abort.signal.addEventListener("abort", forget, { once: true });
    call.value.then(forget, forget);
    inFlight.set(key, call);
    return call;
  };

  return async (key, start, signal) => {
    signal.throwIfAborted();
    const call = inFlight.get(key) ?? begin(key, start);
    call.waiting++;
    const departure = Promise.withResolvers<never>();
    const leave = (): void => {
      call.waiting--;
      if (call.waiting === 0) call.abort.abort();
      departure.reject(signal.reason);
    };
    signal.addEventListener("abort", leave, { once: true });
    try {
      return await Promise.race([call.value, departure.promise]);
    } finally {
      signal.removeEventListener("abort", leave);
    }
  };
}
