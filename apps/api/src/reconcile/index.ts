/** The interface of this room for other rooms; everything else is private. */
export { inBatches } from "./prune-history.ts";
export { RETENTION_MS } from "./retention-times.ts";
