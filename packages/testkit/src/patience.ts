/**
 * Longest wait for one thing: a process that gets ready, money that arrives, a settlement. A quiet machine
 * needs a tenth of it; the rest is for one whose cores are busy with something else.
 */
export const PATIENCE_MS = 180_000;

/** Longest wait for one answer of a local server. */
export const ANSWER_WITHIN_MS = 60_000;

/** What to do when a wait was in vain. */
export const BUSY_MACHINE_HINT = "if the machine is busy, try again later; otherwise see the logs";
