import { expect, test } from "vitest";
import { freePort } from "./free-port.ts";
import { emptyExternalDatabase } from "./external-database.ts";
import { tryExternal, type ExternalService } from "./external-service.ts";
import { checkRedis } from "./redis.ts";

async function errorMessageOf(
  variable: ExternalService,
  url: string,
  attempt: (url: string) => Promise<void>,
): Promise<string> {
  return await tryExternal(variable, url, attempt).then(
    () => "none",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

test("refuses a URL with an unexpected scheme before it connects, and does not quote it", async () => {
  let attempts = 0;
  const attempt = async (): Promise<void> => void attempts++;
  for (const url of ["mysql://u:hunter2@127.0.0.1/x", "127.0.0.1:5432", "redis://127.0.0.1"])
    expect(await errorMessageOf("DATABASE_URL", url, attempt)).toBe(
      "DATABASE_URL: must be a URL like postgres://… or postgresql://…",
    );
  expect(await errorMessageOf("REDIS_URL", "postgres://127.0.0.1", attempt)).toContain("REDIS_URL: must be");
  expect(attempts).toBe(0);
  expect(await errorMessageOf("REDIS_URL", "rediss://127.0.0.1", attempt)).toBe("none");
});

test("names the variable and the reason if a server does not respond", async () => {
  const port = await freePort();
  expect(
    await errorMessageOf("DATABASE_URL", `postgres://u:hunter2@localhost:${port}/x`, emptyExternalDatabase),
  ).toMatch(/^DATABASE_URL: connect ECONNREFUSED /);
  expect(await errorMessageOf("REDIS_URL", `redis://:hunter2@127.0.0.1:${port}`, checkRedis)).toMatch(
    /^REDIS_URL: connect ECONNREFUSED /,
  );
});
