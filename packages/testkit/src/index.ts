export { startAnvil, type AnvilOptions, type RunningAnvil } from "./anvil.ts";
export { programCommand, startAppProcess, type SystemProcess, type UnexpectedExit } from "./app-process.ts";
export { isDockerAvailable } from "./docker-probe.ts";
export { freePort, isPortFree, onPort, PortInUse } from "./free-port.ts";
export { DatabaseNotOurs, emptyExternalDatabase } from "./external-database.ts";
export {
  checkExternalUrls,
  ExternalServiceUnusable,
  externalUrl,
  tryExternal,
  type ExternalService,
} from "./external-service.ts";
export {
  createLocalClient,
  describeChain,
  LocalTransactionFailed,
  sendAndWait,
  sendPipelined,
  type LocalClient,
  type NodeAddress,
  type PipelinedCall,
} from "./local-client.ts";
export { localnetDir, newTempDir, repositoryRoot, systemPath, workspaceNode } from "./paths.ts";
export { ANSWER_WITHIN_MS, BUSY_MACHINE_HINT, PATIENCE_MS } from "./patience.ts";
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
  runToCompletion,
  startProcess,
  type ProcessSpec,
  type RunningProcess,
} from "./process.ts";
export { checkRedis, startRedis, type RedisKind, type RedisOptions, type RunningRedis } from "./redis.ts";
export { chooseServices, type ChosenServices } from "./services.ts";
export { startTogether, stopTogether, type Stoppable } from "./start-together.ts";
