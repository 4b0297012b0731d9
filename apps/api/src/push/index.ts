/** What other rooms may use of this room; everything else is its own. */
export { pauseAfter } from "./webhook-retries.ts";
