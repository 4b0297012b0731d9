/** The interface of this room for other rooms; everything else is private. */
export { attributeRecordedDeposits as attributeKnown } from "./attribute-recorded-deposits.ts";
export { acceptsExecution } from "./executions/awaits-execution.ts";
export { callTerms } from "./executions/call-terms.ts";
export { refuseOwnContracts } from "./executions/own-contracts.ts";
export { priceDestination } from "./executions/price-destination.ts";
export { dataFeeCap, GAS_HEADROOM_BPS, priceCap, withHeadroom } from "./executions/price-execution.ts";
export {
  type ParsedExecution as ExecutionQuestion,
  readExecution,
  refusal,
  sponsoredCall,
} from "./executions/read-execution.ts";
export { refusePaused, type KnownPauses } from "./policy/refuse-paused.ts";
export { advanceCalls, advanceCallsOf, sendContractCall, sendSolverCall } from "./contract-calls.ts";
export { settleEndedExecutions } from "./executions/settle-ended.ts";
export { type SimulatedExecution, simulateExecution } from "./executions/simulate-execution.ts";
export { countSale, payingCurrencies, salePriceOf, type ValueSale } from "./executions/value-sale.ts";
export { honorBpsOf as honorOf, payoutOf } from "./fill-amount.ts";
export { LEG_KINDS } from "./legs/index.ts";
export { maintainLane } from "./maintain-lane.ts";
export { quotedCostOfPaying } from "./non-evm/cost-of-paying.ts";
export { openNonEvmLane } from "./non-evm/open-lane.ts";
export { trackNonEvm } from "./non-evm/track-payments.ts";
export { openLane } from "./open-lane.ts";
export { gasAllowance, isNativeToContract } from "./payment-plan.ts";
export { maxGasOfCalls, valueOf } from "./plan/gas-of-calls.ts";
export type { TransactionPlanned } from "./plan/fill-planned.ts";
export { type FillPlanServices, planTransaction } from "./plan/plan-transaction.ts";
export type { CallsOfFill } from "./plan/routed-fill.ts";
export { requeueLost } from "./requeue-lost.ts";
export { topupGas } from "./gas-units-of-topup.ts";
export { trackLane } from "./track-lane.ts";
export { trackSends } from "./track-sends.ts";
