/**
 * Shares the work of equal requests while the first is in progress. Caches nothing, because what is not final
 * now may be final a moment later.
 */
export function singleFlight<Value>(): (key: string, start: () => Promise<Value>) => Promise<Value> {
  const underWay = new Map<string, Promise<Value>>();
  return (key, start) => {
    const shared = underWay.get(key);
    if (shared !== undefined) return shared;
    const forget = (): void => void underWay.delete(key);
    const started = start();
    underWay.set(key, started);
    started.then(forget, forget);
    return started;
  };
}
