import { ServiceError } from "@causeway/domain";

/** Maximum number of waiting look-ups per chain; further searches are refused. */
const MAX_WAITING_SEARCHES = 50;
const MAX_WAITING = 500;
/** Callers have given up by then. */
const MAX_WAIT_MS = 20_000;

interface Waiting {
  isSearch: boolean;
  readonly sinceMs: number;
  readonly begin: () => void;
  readonly refuse: () => void;
}

/** One look-up: its answer, and a way to raise its priority to that of a quote. */
export interface LookUp<T> {
  readonly answer: Promise<T>;
  prioritize(): void;
}

/** Limits concurrent look-ups. Those of quotes come first; a bounded number of searches wait behind them. */
export function lookUpTurns(
  maxConcurrent: number,
  nowMs: () => number,
): <T>(work: () => Promise<T>, isSearch: boolean) => LookUp<T> {
  const waiting: Waiting[] = [];
  let underWay = 0;

  function next(): void {
    for (;;) {
      const at = waiting.findIndex(({ isSearch }) => !isSearch);
      const [one] = waiting.splice(Math.max(at, 0), 1);
      if (one === undefined) {
        underWay -= 1;
        return;
      }
      if (nowMs() - one.sinceMs <= MAX_WAIT_MS) return one.begin();
      one.refuse();
    }
  }

  return (work, isSearch) => {
    let place: Waiting | undefined;
    const turn = async (): Promise<void> => {
      if (underWay < maxConcurrent) {
        underWay += 1;
        return;
      }
      const searches = waiting.filter((one) => one.isSearch).length;
      if (waiting.length >= MAX_WAITING || (isSearch && searches >= MAX_WAITING_SEARCHES)) throw crowded();
      await new Promise<void>((resolve, reject) => {
        place = { isSearch, sinceMs: nowMs(), begin: resolve, refuse: () => reject(crowded()) };
        waiting.push(place);
      });
    };
    const run = async () => {
      await turn();
      try {
        return await work();
      } finally {
        next();
      }
    };
    return {
      answer: run(),
      prioritize: () => {
        if (place !== undefined) place.isSearch = false;
      },
    };
  };
}

const crowded = (): ServiceError =>
  new ServiceError("SERVICE_UNAVAILABLE", "Too many token look-ups are waiting; try again in a moment");
