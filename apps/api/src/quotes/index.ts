/** What other rooms may use of this room; everything else is its own. */
export { permitCall } from "./permits/permit-call.ts";
export { fastFillObstacle } from "./sides/fast-fill-obstacle.ts";
export { isSigned, type SignedTerms, typedDataOf } from "./permits/typed-data.ts";
