/**
 * Awaits all values. If several fail, throws the first failure in list order, not in time: the same facts
 * must give the same error on every oracle.
 * @throws that failure, after all promises have settled
 */
export async function allInOrder<const P extends readonly Promise<unknown>[]>(
  promises: P,
): Promise<{ -readonly [I in keyof P]: Awaited<P[I]> }> {
  const settled = await Promise.allSettled(promises);
  return settled.map((result) => {
    if (result.status === "rejected") throw result.reason;
    return result.value;
  }) as { -readonly [I in keyof P]: Awaited<P[I]> };
}
