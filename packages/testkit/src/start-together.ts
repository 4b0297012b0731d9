/** Anything that was started and can be stopped. */
export interface Stoppable {
  stop(): Promise<void>;
}

/**
 * Waits for parts that are being started at the same time. When one of them fails, those that did start are
 * stopped before its error is thrown.
 */
export async function startTogether<Parts extends readonly Stoppable[]>(starts: {
  readonly [Index in keyof Parts]: Promise<Parts[Index]>;
}): Promise<Parts> {
  const results = await Promise.allSettled<Stoppable>(starts);
  const failure = results.find((result) => result.status === "rejected");
  if (failure === undefined) return await Promise.all(starts);
  await stopTogether(results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : [])));
  throw failure.reason;
}

/** Stops all parts at the same time; a failure is thrown when every other part has stopped. */
export async function stopTogether(parts: readonly Stoppable[]): Promise<void> {
  const results = await Promise.allSettled(parts.map(async (part) => await part.stop()));
  const failure = results.find((result) => result.status === "rejected");
  if (failure !== undefined) throw failure.reason;
}
