import { isDockerAvailable } from "./docker-probe.ts";
import { newMemoryDir, newTempDir } from "./paths.ts";
import { startPostgres } from "./postgres.ts";
import { startRedis } from "./redis.ts";
import { startTogether, stopTogether, type Stoppable } from "./start-together.ts";

/** The Postgres and Redis servers used by tests, and where they come from. */
export interface ChosenServices {
  /** A server on which tests may create databases. */
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Describes the origin of each in one line. */
  readonly description: string;
  stop(): Promise<void>;
}

/** Several times the space that a test run's databases and log need. */
const MIN_MEMORY_BYTES = 4 * 2 ** 30;

interface Chosen extends Stoppable {
  readonly url: string;
  readonly origin: string;
}

/**
 * Chooses the servers of integration tests: `DATABASE_URL` and `REDIS_URL` if set, otherwise containers if a
 * Docker engine responds, otherwise servers started on this machine.
 *
 * @param options.isLarge the databases may exceed memory, so a started Postgres stores them on disk
 */
export async function chooseServices(
  env: Readonly<Record<string, string | undefined>>,
  { isLarge = false }: { readonly isLarge?: boolean } = {},
): Promise<ChosenServices> {
  const needsOwn = isUnset(env["DATABASE_URL"]) || isUnset(env["REDIS_URL"]);
  const useContainers = needsOwn && (await isDockerAvailable(env["DOCKER_HOST"]));
  const [postgres, redis] = await startTogether<[Chosen, Chosen]>([
    choosePostgres(env["DATABASE_URL"], useContainers, isLarge),
    chooseRedis(env, useContainers),
  ]);
  return {
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    description: `Postgres: ${postgres.origin}; Redis: ${redis.origin}`,
    stop: async () => await stopTogether([postgres, redis]),
  };
}

function isUnset(value: string | undefined): value is undefined | "" {
  return value === undefined || value === "";
}

async function choosePostgres(
  databaseUrl: string | undefined,
  useContainers: boolean,
  isLarge: boolean,
): Promise<Chosen> {
  if (!isUnset(databaseUrl)) return { url: databaseUrl, origin: "DATABASE_URL", stop: async () => undefined };
  if (useContainers) {
    const { PostgreSqlContainer } = await import("@testcontainers/postgresql");
    const container = await new PostgreSqlContainer("postgres:18-alpine").start();
    return {
      url: container.getConnectionUri(),
      origin: "container",
      stop: async () => {
        await container.stop();
      },
    };
  }
  // In memory, because each test database copies about a thousand files.
  const dataDir = isLarge ? newTempDir("postgres") : newMemoryDir("postgres", MIN_MEMORY_BYTES);
  const server = await startPostgres({ dataDir, durable: false, removeDataAtStop: true });
  return { url: server.url, origin: "embedded", stop: async () => await server.stop() };
}

async function chooseRedis(
  env: Readonly<Record<string, string | undefined>>,
  useContainers: boolean,
): Promise<Chosen> {
  if (useContainers && isUnset(env["REDIS_URL"])) {
    const { GenericContainer } = await import("testcontainers");
    const container = await new GenericContainer("redis:8-alpine").withExposedPorts(6379).start();
    return {
      url: `redis://${container.getHost()}:${container.getMappedPort(6379)}`,
      origin: "container",
      stop: async () => {
        await container.stop();
      },
    };
  }
  const server = await startRedis({ env });
  const origin = server.kind === "given" ? "REDIS_URL" : `embedded (${server.kind})`;
  return { url: server.url, origin, stop: async () => await server.stop() };
}
