/** What other rooms may use of this room; everything else is its own. */
export { expireFastFills } from "./expire-fast-fills.ts";
