/** The interface of this room for other rooms; everything else is private. */
export { inBatches, KEPT_MS } from "./prune-history.ts";
