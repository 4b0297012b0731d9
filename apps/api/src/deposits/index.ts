/** The interface of this room for other rooms; everything else is private. */
export type { AddressServices } from "./addresses/address-services.ts";
export { createAddressWatch } from "./addresses/address-watch.ts";
export {
  type AddressOptions,
  readAddressOptions,
  newDepositAddress,
  refuseUnmovable,
  withAddress,
} from "./addresses/issue-address.ts";
export { awaitsSweep } from "./addresses/awaiting-request.ts";
export { factoryProblem } from "./addresses/check-factory.ts";
export { addressesOn } from "./addresses/addresses-on.ts";
export { sweepsUnderWay } from "./addresses/transfer-addresses.ts";
export { readSweepData } from "./addresses/sweep-data.ts";
export { sweepGasOf, transferSweepCost } from "./addresses/sweep-gas.ts";
export { refusal, refuseBeyondCaps, ruleOf, standingOf } from "./fast-fill-refusals.ts";
export { followReports } from "./follow-reports.ts";
export { indexTransaction } from "./index-transaction.ts";
export { recheckReports } from "./recheck-reports.ts";
export { attributeLate } from "./non-evm/attribute-late.ts";
export { CursorMoved, readArrivals } from "./non-evm/read-arrivals.ts";
export type { WalletNonces } from "./non-evm/wallet-nonces.ts";
export { refuseDoubtfulOrigin } from "./origin-in-doubt.ts";
export { NOT_STORED } from "./plan-likely-fills.ts";
export { recheckFinalBlocks } from "./recheck-final-blocks.ts";
export { actOnDeposits } from "./record-deposits.ts";
export type { RecordingServices } from "./apply-deposit.ts";
export { returnUnattributed } from "./return-unattributed.ts";
export { loadTrail, scanChain, TrailMoved } from "./scan-chain.ts";
export { type Lag, scanLag, type ScanLag, unreadLag } from "./scan-lag.ts";
export { createScanProgress, scanLags } from "./scan-progress.ts";
export { frontLeadMs, leadWarnings, waitBeyondLead } from "./fast-fill-deposit-deadline.ts";
export { tooSmallOn } from "./too-small-deposits.ts";
