export { localAccount, localAccounts, type LocalAccount } from "./accounts.ts";
export {
  deployAccountAbstraction,
  localAccountAbstraction,
  type AccountAbstractionContracts,
} from "./account-abstraction.ts";
export { readAppBalance, topUp, topUpCalldata, waitForAppBalance, type TopUp } from "./app-balance.ts";
export { deployLocal, localDeployment, type LocalDeployment, type LocalToken } from "./deploy.ts";
export { localDexContracts, oddToken, type DexContracts } from "./deploy-dex.ts";
export { openPools } from "./open-pools.ts";
export {
  localPools,
  type LocalV2Pair,
  type LocalV3Pool,
  type PoolPosition,
  type PoolToken,
} from "./pools.ts";
export { permit2Address } from "@causeway/contracts";
export { fundLocal, type Funding } from "./fund.ts";
export { deployHostileTokens, type HostileTokens } from "./hostile-tokens.ts";
export { defaultPortBase, nodeEnvironment, portsFrom, readLocalChains } from "./local-chains.ts";
export {
  endpointsFile,
  readEndpoints,
  type ApiKeyEndpoint,
  type Endpoints,
  type HubEndpoint,
  type OracleEndpoint,
} from "./endpoints.ts";
export { deployHub, hubContracts, localHub, type HubContracts, type Quorum } from "./deploy-hub.ts";
export {
  arrangeSponsorship,
  localOperatorToken,
  type Sponsorship,
  type SponsorshipOptions,
} from "./sponsorship.ts";
export { startSystem, type System } from "./system.ts";
export { type SystemOptions } from "./system-plan.ts";
export { ApiError, createApiClient, type ApiClient, type QuoteBody } from "./api-client.ts";
export { runBridgeDemo, type BridgeDemoOptions, type BridgeDemoResult } from "./bridge-demo.ts";
export { watchPosition, type HubPosition, type Settlement } from "./hub-position.ts";
export { createUserWallet, type CompletedStep, type UserWallet } from "./user-wallet.ts";
