/** Time as an argument, so that rules about deadlines can be tested. */
export interface Clock {
  nowMs(): number;
}

/** For ages and pauses within a process: unlike the time of day it never jumps. Means nothing outside the process. */
export const monotonicClock: Clock = { nowMs: () => performance.now() };
