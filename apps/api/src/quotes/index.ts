/** The interface of this room for other rooms; everything else is private. */
export { permitCall } from "./permits/permit-call.ts";
export { fastFillObstacle } from "./sides/fast-fill-obstacle.ts";
export { hasPermit, type TermsWithPermit, typedDataOf } from "./permits/typed-data.ts";
