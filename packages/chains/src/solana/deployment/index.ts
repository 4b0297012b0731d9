export {
  deployProgram,
  ProgramRefused,
  ProgramUnfinished,
  type DeployProgramOptions,
} from "./deploy-program.ts";
export {
  connectForProgram,
  depositoryElf,
  PROGRAM_VM_TYPE,
  programDeployer,
  WrongCluster,
  type ProgramChain,
} from "./program-chain.ts";
export { canHaveKey, isProgramAddress, LOADER_BYTES, planProgram, type ProgramPlan } from "./program-plan.ts";
export {
  isComplete,
  readProgramState,
  unfinished,
  type DepositoryRecord,
  type ProgramState,
} from "./program-state.ts";
export {
  costOf,
  feeOf,
  readRents,
  remainingSteps,
  type ProgramCost,
  type ProgramStep,
  type Rents,
} from "./program-steps.ts";
