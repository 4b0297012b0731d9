/** Served requests that earn one retry, and how many retries are kept at most. */
const COST = 3;
const MAX_RETRIES = 10;

/** Bounds the retries to an endpoint by the requests it serves, so that an outage does not multiply requests. */
export interface RetryBudget {
  /** The endpoint served a request. */
  served(): void;
  /** Whether a failed request may be sent again, which is then counted. */
  take(): boolean;
}

export function createRetryBudget(): RetryBudget {
  let earned = 0;
  return {
    served: () => {
      earned = Math.min(MAX_RETRIES * COST, earned + 1);
    },
    take: () => {
      if (earned < COST) return false;
      earned -= COST;
      return true;
    },
  };
}
