import type { Clock } from "../../apps/api/src/db/clock.port.ts";

/** A clock that runs like the system's and can be moved forward. */
export interface AdjustableClock extends Clock {
  forward(ms: number): void;
}

export function adjustableClock(): AdjustableClock {
  let aheadMs = 0;
  return {
    nowMs: () => Date.now() + aheadMs,
    forward: (ms) => {
      aheadMs += ms;
    },
  };
}
