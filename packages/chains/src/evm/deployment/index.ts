export { deployPlan, type DeployOptions, type DeployStep } from "./deploy.ts";
export { connectForDeployment, DEPLOYABLE_VM_TYPE, type DeploymentChain } from "./deployment-chain.ts";
export { estimateDeployment, type DeploymentEstimate, type EstimatedCreation } from "./estimate.ts";
export { maxGasPrice, readFees, type DeploymentFees } from "./fees.ts";
export { inspectDeployment, inspectOnEach, readDifferences, type InspectedContract } from "./inspect.ts";
export { DeploymentUnfinished } from "./sender.ts";
