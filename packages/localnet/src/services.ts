import { join } from "node:path";
import { dockerAnswers } from "./docker-probe.ts";
import { newTempDir } from "./paths.ts";
import { startPostgres } from "./postgres.ts";
import { startRedis } from "./redis.ts";

/** A Postgres and a Redis for tests, and where they come from. */
export interface ChosenServices {
  /** A server on which databases may be created. */
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** One line for people: what was chosen for each and why. */
  readonly description: string;
  stop(): Promise<void>;
}

interface Chosen {
  readonly url: string;
  readonly origin: string;
  stop(): Promise<void>;
}

/**
 * Finds what integration tests run against: `DATABASE_URL` and `REDIS_URL` when given, else containers when a Docker
 * engine answers, else servers started on this machine.
 */
export async function chooseServices(env: Readonly<Record<string, string | undefined>>): Promise<ChosenServices> {
  const needsOwn = isUnset(env["DATABASE_URL"]) || isUnset(env["REDIS_URL"]);
  const useContainers = needsOwn && (await dockerAnswers(env["DOCKER_HOST"]));
  const [postgres, redis] = await Promise.allSettled([
    choosePostgres(env["DATABASE_URL"], useContainers),
    chooseRedis(env, useContainers),
  ]);
  if (postgres.status === "rejected" || redis.status === "rejected") {
    const started = [postgres, redis].flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    await Promise.all(started.map(async (one) => await one.stop()));
    throw postgres.status === "rejected" ? postgres.reason : (redis as PromiseRejectedResult).reason;
  }
  return {
    databaseUrl: postgres.value.url,
    redisUrl: redis.value.url,
    description: `Postgres: ${postgres.value.origin}; Redis: ${redis.value.origin}`,
    stop: async () => {
      await Promise.all([postgres.value.stop(), redis.value.stop()]);
    },
  };
}

function isUnset(value: string | undefined): value is undefined | "" {
  return value === undefined || value === "";
}

async function choosePostgres(given: string | undefined, useContainers: boolean): Promise<Chosen> {
  if (!isUnset(given)) return { url: given, origin: "DATABASE_URL", stop: async () => undefined };
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
  const dataDir = join(newTempDir("test"), "postgres");
  const server = await startPostgres({ dataDir, durable: false, removeDataAtStop: true });
  return { url: server.url, origin: "embedded", stop: server.stop };
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
  return { url: server.url, origin, stop: server.stop };
}
