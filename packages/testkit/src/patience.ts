/**
 * Timeout for one step: a process that becomes ready, funds that arrive, a settlement. An idle machine needs
 * a tenth of it; the rest is for a busy machine.
 */
export const PATIENCE_MS = 180_000;

/** Timeout of one request to a local server. */
export const ANSWER_WITHIN_MS = 60_000;

/** What to do after a timeout. */
export const BUSY_MACHINE_HINT = "if the machine is busy, try again later; otherwise see the logs";
