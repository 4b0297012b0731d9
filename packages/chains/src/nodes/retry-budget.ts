/** Number of served calls per allowed retry. */
const CALLS_PER_RETRY = 3;
/** Maximum saved-up retries, in calls. */
const MAX_SAVED_RETRIES = 10;

/**
 * Limits the retries to an endpoint in proportion to the calls it serves, so that an outage does not multiply
 * calls.
 */
export interface RetryBudget {
  /** The endpoint served a request with this many calls. */
  recordServed(calls: number): void;
  /** Whether a failed request with this many calls may be sent again; if so, they are counted. */
  tryTake(calls: number): boolean;
}

export function createRetryBudget(): RetryBudget {
  let earned = 0;
  return {
    recordServed: (calls) => {
      earned = Math.min(MAX_SAVED_RETRIES * CALLS_PER_RETRY, earned + calls);
    },
    tryTake: (calls) => {
      if (earned < calls * CALLS_PER_RETRY) return false;
      earned -= calls * CALLS_PER_RETRY;
      return true;
    },
  };
}
