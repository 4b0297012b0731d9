import type { Secret, SettingValues } from "@causeway/config";
import { setting } from "@causeway/config";
import { keyPrefix } from "../db/redis-endpoint.ts";
import type { RedisEndpoint } from "../db/redis-endpoint.port.ts";
import { redisSettings } from "./redis-endpoint.ts";

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
  ...redisSettings,
  queuePrefix: matching({
    name: "QUEUE_PREFIX",
    form: "letters, digits and dashes",
    pattern: /^[A-Za-z0-9-]+$/,
    default: "causeway",
    describe:
      "Prefix of all keys in Redis; in a cluster, it is also their hash tag. Deployments that share a Redis need different prefixes.",
  }),
};

export const fixedStoragePolicy = {
  /** Postgres cancels statements that take longer. */
  statementTimeoutMs: 15_000,
};

export interface StorageConfig {
  readonly database: { readonly url: Secret; readonly poolSize: number; readonly statementTimeoutMs: number };
  readonly redis: {
    readonly endpoint: RedisEndpoint;
    /** Prefix of all keys. */
    readonly keyPrefix: string;
  };
}

export function storageConfig(
  storage: SettingValues<typeof storageSettings>,
  endpoint: RedisEndpoint,
): StorageConfig {
  return {
    database: { url: storage.databaseUrl, poolSize: storage.databasePoolSize, ...fixedStoragePolicy },
    redis: { endpoint, keyPrefix: keyPrefix(endpoint, storage.queuePrefix) },
  };
}
