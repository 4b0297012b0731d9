export { localAccount, localAccounts, type LocalAccount } from "./accounts.ts";
export {
  deployAccountAbstraction,
  localAccountAbstraction,
  type AccountAbstractionContracts,
} from "./account-abstraction.ts";
export { readAppBalance, topUp, topUpCalldata, untilAppBalance, type TopUp } from "./app-balance.ts";
export { startAnvil, type AnvilOptions, type RunningAnvil } from "./anvil.ts";
export { freePort, isPortFree, PortInUse } from "./free-port.ts";
export { newTempDir, repositoryRoot, workspaceNode } from "./paths.ts";
export {
  databaseUrl,
  DataDirInUse,
  startPostgres,
  type PostgresOptions,
  type RunningPostgres,
} from "./postgres.ts";
export {
  ProcessStartFailed,
  readLogTail,
  startProcess,
  type ProcessSpec,
  type RunningProcess,
} from "./process.ts";
export { checkRedis, startRedis, type RedisKind, type RedisOptions, type RunningRedis } from "./redis.ts";
export { deployLocal, localDeployment, type LocalDeployment, type LocalToken } from "./deploy.ts";
export { localExchanges, oddToken, type ExchangeContracts } from "./deploy-exchanges.ts";
export { openPools } from "./open-pools.ts";
export {
  localPools,
  type LocalV2Pair,
  type LocalV3Pool,
  type PoolPosition,
  type PoolToken,
} from "./pools.ts";
export { permit2Address } from "@causeway/contracts";
export { dockerAnswers } from "./docker-probe.ts";
export { fundLocal, type Funding } from "./fund.ts";
export { deployHostileTokens, type HostileTokens } from "./hostile-tokens.ts";
export { defaultPortBase, nodeEnvironment, portsFrom, readLocalChains } from "./local-chains.ts";
export { emptyGivenDatabase, DatabaseNotOurs } from "./given-database.ts";
export {
  endpointsFile,
  readEndpoints,
  type ApiKeyEndpoint,
  type Endpoints,
  type HubEndpoint,
  type OracleEndpoint,
} from "./endpoints.ts";
export { deployHub, localHub, type HubContracts, type Quorum } from "./deploy-hub.ts";
export {
  arrangeSponsorship,
  localOperatorToken,
  type Sponsorship,
  type SponsorshipOptions,
} from "./sponsorship.ts";
export { startSystem, type System } from "./system.ts";
export { type SystemOptions } from "./system-plan.ts";
export { programCommand, type SystemProcess, type UnexpectedExit } from "./app-process.ts";
export { startTogether, stopTogether, type Stoppable } from "./start-together.ts";
export {
  createLocalClient,
  describeChain,
  LocalTransactionFailed,
  sendPipelined,
  type LocalClient,
  type NodeAddress,
  type PipelinedCall,
} from "./local-client.ts";
export { chooseServices, type ChosenServices } from "./services.ts";
export { ApiRefused, createApiClient, type ApiClient, type QuoteBody } from "./api-client.ts";
export { runBridgeDemo, type BridgeDemoOptions, type BridgeDemoResult } from "./bridge-demo.ts";
export { watchPosition, type HubPosition, type Settlement } from "./hub-position.ts";
export { createUserWallet, type StepDone, type UserWallet } from "./user-wallet.ts";
export { startBitcoin, type BitcoinOptions, type RunningBitcoin } from "./bitcoin/start.ts";
export {
  bitcoinAddress,
  bitcoinControls,
  BitcoinRefusal,
  type BitcoinCoin,
  type BitcoinControls,
} from "./bitcoin/controls.ts";
export { startKms, type KmsFault, type KmsOptions, type RunningKms } from "./kms/kms-server.ts";
export { type KeySpec, type KeyState, type KmsKey } from "./kms/kms-key.ts";
export { startExchange, type RunningExchange } from "./exchange/exchange-server.ts";
export { LOCAL_USDC, type ExchangeOptions, type ExchangeToken } from "./exchange/exchange-options.ts";
export { type ExchangeControl, type Lie } from "./exchange/exchange-control.ts";
