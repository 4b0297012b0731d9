/** What other rooms may use of this room; everything else is its own. */
export { inBatches, KEPT_MS } from "./prune-history.ts";
