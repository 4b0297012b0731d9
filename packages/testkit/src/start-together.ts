/** Anything that was started and can be stopped. */
export interface Stoppable {
  stop(): Promise<void>;
}

/**
 * Waits for parts that start concurrently. If one of them fails, the started ones are stopped before its
 * error is thrown.
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

/** Stops all parts concurrently. Throws a failure only after every other part has stopped. */
export async function stopTogether(parts: readonly Stoppable[]): Promise<void> {
  const results = await Promise.allSettled(parts.map(async (part) => await part.stop()));
  const failure = results.find((result) => result.status === "rejected");
  if (failure !== undefined) throw failure.reason;
}
