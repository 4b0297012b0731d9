import { expect, test } from "vitest";
import { freePort } from "./free-port.ts";
import { emptyGivenDatabase } from "./given-database.ts";
import { tryGiven, type GivenService } from "./given-service.ts";
import { checkRedis } from "./redis.ts";

async function complaint(
  variable: GivenService,
  url: string,
  attempt: (url: string) => Promise<void>,
): Promise<string> {
  return await tryGiven(variable, url, attempt).then(
    () => "none",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

test("refuses a URL with an unexpected scheme before it connects, and does not quote it", async () => {
  let attempts = 0;
  const attempt = async (): Promise<void> => void attempts++;
  for (const url of ["mysql://u:hunter2@127.0.0.1/x", "127.0.0.1:5432", "redis://127.0.0.1"])
    expect(await complaint("DATABASE_URL", url, attempt)).toBe(
      "DATABASE_URL: must be a URL like postgres://… or postgresql://…",
    );
  expect(await complaint("REDIS_URL", "postgres://127.0.0.1", attempt)).toContain("REDIS_URL: must be");
  expect(attempts).toBe(0);
  expect(await complaint("REDIS_URL", "rediss://127.0.0.1", attempt)).toBe("none");
});

test("reports a server that does not respond with the name of its variable and the reason", async () => {
  const port = await freePort();
  expect(
    await complaint("DATABASE_URL", `postgres://u:hunter2@localhost:${port}/x`, emptyGivenDatabase),
  ).toMatch(/^DATABASE_URL: connect ECONNREFUSED /);
  expect(await complaint("REDIS_URL", `redis://:hunter2@127.0.0.1:${port}`, checkRedis)).toMatch(
    /^REDIS_URL: connect ECONNREFUSED /,
  );
});
