/** The interface of this room for other rooms; everything else is private. */
export { expireFastFills } from "./expire-fast-fills.ts";
