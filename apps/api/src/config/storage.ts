import type { Secret, SettingValues } from "@causeway/config";
import { setting } from "@causeway/config";

const { integer, matching, secretUrl } = setting;

export const storageSettings = {
  databaseUrl: secretUrl({
    name: "DATABASE_URL",
    schemes: ["postgres", "postgresql"],
    describe: "Postgres database, which stores all state of the service.",
  }),
  databasePoolSize: integer({
    name: "DATABASE_POOL_SIZE",
    min: 1,
    max: 200,
    default: 16,
    describe: "Database connections per process. In measurements, more than 16 was slower.",
  }),
  redisUrl: secretUrl({
    name: "REDIS_URL",
    schemes: ["redis", "rediss"],
    describe:
      "Redis for the job queues and the journal of payments. It must run with `maxmemory-policy noeviction`. Losing its data alone is harmless; losing it together with the last commits of Postgres may hide payments (docs/operations/backups.md).",
  }),
  queuePrefix: matching({
    name: "QUEUE_PREFIX",
    form: "letters, digits and dashes",
    pattern: /^[A-Za-z0-9-]+$/,
    default: "causeway",
    describe: "Prefix of all queue names in Redis. Deployments that share a Redis need different prefixes.",
  }),
};

export const fixedStoragePolicy = {
  /** Postgres cancels a statement that takes longer. */
  statementTimeoutMs: 15_000,
};

export interface StorageConfig {
  readonly database: { readonly url: Secret; readonly poolSize: number; readonly statementTimeoutMs: number };
  readonly redis: { readonly url: Secret; readonly queuePrefix: string };
}

export function storageConfig(storage: SettingValues<typeof storageSettings>): StorageConfig {
  return {
    database: { url: storage.databaseUrl, poolSize: storage.databasePoolSize, ...fixedStoragePolicy },
    redis: { url: storage.redisUrl, queuePrefix: storage.queuePrefix },
  };
}
