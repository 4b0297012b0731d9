/** The interface of this room for other rooms; everything else is private. */
export { pauseAfter } from "./webhook-retries.ts";
