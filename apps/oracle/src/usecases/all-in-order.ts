/**
 * All values, or the first failure in list order, not in time, because equal facts must fail in the same way
 * on every oracle.
 * @throws that failure, after all have settled
 */
export async function allInOrder<const P extends readonly Promise<unknown>[]>(
  promises: P,
): Promise<{ -readonly [I in keyof P]: Awaited<P[I]> }> {
  const settled = await Promise.allSettled(promises);
  return settled.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  }) as { -readonly [I in keyof P]: Awaited<P[I]> };
}
