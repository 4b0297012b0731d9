/**
 * Shares the work of equal requests while the first is in progress. Caches nothing, because what is not final
 * now may be final a moment later.
 */
export function singleFlight<Value>(): (key: string, start: () => Promise<Value>) => Promise<Value> {
  const inFlight = new Map<string, Promise<Value>>();
  return (key, start) => {
    const shared = inFlight.get(key);
    if (shared !== undefined) return shared;
    const forget = (): void => void inFlight.delete(key);
    const started = start();
    inFlight.set(key, started);
    started.then(forget, forget);
    return started;
  };
}
