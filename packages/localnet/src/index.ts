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
