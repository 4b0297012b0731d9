import { isHttpFault } from "@causeway/chains";

/** Pause before the first retry after a fault. */
const FIRST_PAUSE_MS = 500;
/** Public endpoints count requests by the minute, so a longer pause gains nothing. */
const MAX_PAUSE_MS = 60_000;

/** The pauses of one loop between a fault and its retry. */
export interface FaultPauses {
  /** How many ms to wait after this fault. */
  after(fault: unknown): number;
  /** The loop went through without a fault. */
  reset(): void;
}

/**
 * Doubles the pause while an endpoint answers with an HTTP error, which is how it enforces its rate limit:
 * retrying at a steady pace would spend the limit as fast as it refills, and never finish. Other faults keep
 * the first pause, so that work resumes at once.
 * @param random in [0, 1): shortens a doubled pause by up to a fifth, so that several loops do not retry
 * together
 */
export function createFaultPauses(random: () => number): FaultPauses {
  let pauseMs = FIRST_PAUSE_MS;
  return {
    after: (fault) => {
      if (!isHttpFault(fault)) return FIRST_PAUSE_MS;
      const current = pauseMs;
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
      return Math.max(FIRST_PAUSE_MS, Math.round(current * (1 - random() / 5)));
    },
    reset: () => {
      pauseMs = FIRST_PAUSE_MS;
    },
  };
}
