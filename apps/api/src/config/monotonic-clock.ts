import type { Clock } from "../db/clock.port.ts";

/** Measures ages and pauses within one process. Unlike the system clock, it never jumps. */
export const monotonicClock: Clock = { nowMs: () => performance.now() };
