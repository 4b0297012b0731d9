/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Work that waits only where it must. A quote is computed from facts in memory, some of which must
 * occasionally be fetched first. Written as a generator, the same code runs synchronously when everything is
 * in memory ({@link settle} returns the value itself, not a promise) and waits otherwise.
 */
export type Soon<T> = Generator<Promise<unknown>, T, unknown>;

/** Reads a value inside such work: `const price = yield* soon(book.usd(currency))`. */
export function* soon<T>(value: MaybePromise<T>): Soon<T> {
  return value instanceof Promise ? ((yield value) as T) : value;
}

/**
 * Runs the work; returns a promise only if something had to be waited for. Throws, or rejects, as the work
 * does.
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
      // An error of the work itself has ended it: thrown into it again, it comes out unchanged.
      step = work.throw(error);
    }
    if (step.done === true) return step.value;
    awaited = step.value;
  }
}
