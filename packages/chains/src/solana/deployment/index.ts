export {
  deployProgram,
  ProgramRefused,
  ProgramUnfinished,
  type DeployProgramOptions,
} from "./deploy-program.ts";
export {
  connectForProgram,
  PROGRAM_VM_TYPE,
  programDeployer,
  programElf,
  WrongCluster,
  type ProgramChain,
} from "./program-chain.ts";
export type { DepositoryRecord } from "./program-accounts.ts";
export { readDepository, type DepositoryFacts } from "./read-depository.ts";
export {
  canHaveKey,
  isSolanaAddress,
  NO_OWNER,
  planProgram,
  type DepositoryPlan,
  type ProgramLocation,
  type ProgramPlan,
} from "./program-plan.ts";
export { isComplete, readProgramState, remainingDifferences, type ProgramState } from "./program-state.ts";
export {
  costOf,
  feeOf,
  readRents,
  remainingSteps,
  type ProgramCost,
  type ProgramStep,
  type Rents,
} from "./program-steps.ts";
export type { Payer } from "../sign-payment.ts";
