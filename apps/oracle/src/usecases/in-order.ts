/**
 * All values, or the failure that stands first in the list, whichever came first in time: the same facts must fail the same way on every oracle.
 * @throws that failure, once everything has ended.
 */
export async function inOrder<T extends readonly unknown[]>(
  promises: readonly [...{ [I in keyof T]: Promise<T[I]> }],
): Promise<T> {
  const settled = await Promise.allSettled(promises);
  return settled.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  }) as unknown as T;
}
