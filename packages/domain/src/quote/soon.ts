/** A value that is there, or will be. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Work that waits only where it must. A quote is worked out from facts in memory, some of which must now and
 * then be fetched first: written once as a generator, the same lines run through at once when everything is
 * there ({@link settle} gives the value itself, no promise) and wait where something is not.
 */
export type Soon<T> = Generator<Promise<unknown>, T, unknown>;

/** Takes a value inside of such work: `const price = yield* soon(book.usd(currency))`. */
export function* soon<T>(value: MaybePromise<T>): Soon<T> {
  return value instanceof Promise ? ((yield value) as T) : value;
}

/**
 * Does the work; a promise only when something had to be waited for. Throws, or rejects, as the work does.
 */
export function settle<T>(work: Soon<T>): MaybePromise<T> {
  const step = work.next();
  return step.done === true ? step.value : waitFor(work, step.value);
}

async function waitFor<T>(work: Soon<T>, first: Promise<unknown>): Promise<T> {
  let awaited = first;
  for (;;) {
    let step: IteratorResult<Promise<unknown>, T>;
    try {
      step = work.next(await awaited);
    } catch (error) {
      // What the work itself throws has ended it: thrown into it again, it comes out as it is.
      step = work.throw(error);
    }
    if (step.done === true) return step.value;
    awaited = step.value;
  }
}
