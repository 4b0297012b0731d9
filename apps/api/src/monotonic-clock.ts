import type { Clock } from "./ports/clock.ts";

/** For ages and pauses within a process: unlike the time of day it never jumps. Means nothing outside the process. */
export const monotonicClock: Clock = { nowMs: () => performance.now() };
