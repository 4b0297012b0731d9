import { ServiceError } from "@causeway/domain";

/** Maximum number of waiting look-ups per chain; further searches are refused. */
const MAX_WAITING_SEARCHES = 50;
const MAX_WAITING = 500;
/** A look-up that waited longer is refused, because its caller has given up. */
const MAX_WAIT_MS = 20_000;

interface Waiting {
  isSearch: boolean;
  readonly sinceMs: number;
  readonly begin: () => void;
  readonly refuse: () => void;
}

/** A look-up. `prioritize` raises its priority to that of quotes. */
export interface LookUp<T> {
  readonly answer: Promise<T>;
  prioritize(): void;
}

/**
 * Limits concurrent look-ups. Look-ups for quotes come first; a limited number of look-ups for searches wait
 * behind them.
 */
export function lookUpTurns(
  maxConcurrent: number,
  nowMs: () => number,
): <T>(work: () => Promise<T>, isSearch: boolean) => LookUp<T> {
  const waiting: Waiting[] = [];
  let running = 0;

  function next(): void {
    for (;;) {
      const quoteIndex = waiting.findIndex(({ isSearch }) => !isSearch);
      const [first] = waiting.splice(Math.max(quoteIndex, 0), 1);
      if (first === undefined) {
        running -= 1;
        return;
      }
      if (nowMs() - first.sinceMs <= MAX_WAIT_MS) return first.begin();
      first.refuse();
    }
  }

  return (work, isSearch) => {
    let waiter: Waiting | undefined;
    const waitForTurn = async (): Promise<void> => {
      if (running < maxConcurrent) {
        running += 1;
        return;
      }
      const searches = waiting.filter((lookUp) => lookUp.isSearch).length;
      if (waiting.length >= MAX_WAITING || (isSearch && searches >= MAX_WAITING_SEARCHES))
        throw tooManyWaiting();
      await new Promise<void>((resolve, reject) => {
        waiter = { isSearch, sinceMs: nowMs(), begin: resolve, refuse: () => reject(tooManyWaiting()) };
        waiting.push(waiter);
      });
    };
    const run = async () => {
      await waitForTurn();
      try {
        return await work();
      } finally {
        next();
      }
    };
    return {
      answer: run(),
      prioritize: () => {
        if (waiter !== undefined) waiter.isSearch = false;
      },
    };
  };
}

const tooManyWaiting = (): ServiceError =>
  new ServiceError("SERVICE_UNAVAILABLE", "Too many token look-ups are waiting; try again in a moment");
