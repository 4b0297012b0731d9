/** The interface of this room for other rooms; everything else is private. */
export { acceptClaim, type AnswerToStore, claimJob } from "./accept-claim.ts";
export { accrueAppFees } from "./accrue-app-fees.ts";
export { applyHold, type HoldEffect, type HoldServices, releaseUnpaid } from "./apply-hold.ts";
export { appraise, gasUnitInMemory, unitInMemory, warmPrices } from "./appraise.ts";
export { coverFastFill } from "./cover-fast-fill.ts";
export { closePaidClaim, returnClaim } from "./end-claim.ts";
export { payFees } from "./pay-fees.ts";
export { type PlacedHold, placeHold } from "./place-hold.ts";
export { actOnTopUps, creditDueTopUps, findTopUps, type FoundTopUps, storeTopUps } from "./record-top-ups.ts";
export { releaseFees } from "./release-fees.ts";
export { planCharge, reserveFees, type Shortfall } from "./reserve-fees.ts";
export { chargeSponsorship, settleSponsorship, reserveSponsorship } from "./sponsor-fees.ts";
export { shortfallText } from "./sponsorship-shortfall.ts";
