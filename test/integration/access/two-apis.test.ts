import { localPrivateKey } from "@causeway/config";
import { createLifecycle, createLogger, createMetrics } from "@causeway/service-kit";
import type { FastifyInstance } from "fastify";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readApiConfig } from "../../../apps/api/src/config/config.ts";
import { startApi } from "../../../apps/api/src/process/api.ts";
import { createContext } from "../../../apps/api/src/process/context.ts";
import { buildServer } from "../../../apps/api/src/process/server.ts";
import { createTestDatabase, testRedis, type TestDatabase } from "../../support/database.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
const { url: redisUrl, prefix } = testRedis();
let database: TestDatabase;
let lines = "";

/** An API as `main.ts` builds it, but without a reachable node. */
interface Api {
  readonly app: FastifyInstance;
  /** Stops the API. Returns whether every part stopped in time. */
  stop(): Promise<boolean>;
}
const apis: Api[] = [];

async function anApi(): Promise<Api> {
  const config = readApiConfig({
    ENVIRONMENT: "local",
    CONFIGS_DIR: join(resolve(import.meta.dirname, "../../.."), "configs"),
    VAULT_SECRETS_DIR: "/nonexistent",
    DATABASE_URL: database.url,
    REDIS_URL: redisUrl,
    QUEUE_PREFIX: prefix,
    SOLVER_PRIVATE_KEY: localPrivateKey("solver", 0),
    PRICE_SOURCE: "fixed",
    LOCAL_A_RPC_URL: "http://127.0.0.1:1",
    LOCAL_B_RPC_URL: "http://127.0.0.1:1",
    OPERATOR_TOKEN: TOKEN,
    RATE_LIMIT_IP_OTHER_PER_MINUTE: "60",
  });
  const log = createLogger({ name: "test", level: "info" }, { write: (line) => void (lines += line) });
  const services = { log, metrics: createMetrics("test") };
  const lifecycle = createLifecycle(log, 10_000);
  const context = await createContext(config, { ...services, answersClients: true }, lifecycle);
  const app = await buildServer(
    { ...services, ...(await startApi(context)) },
    { interactiveDocumentation: false },
  );
  const api = {
    app,
    stop: async () => {
      await app.close();
      return await lifecycle.close();
    },
  };
  apis.push(api);
  return api;
}

let [first, second]: [Api, Api] = [undefined, undefined] as never;
beforeAll(async () => {
  database = await createTestDatabase();
  [first, second] = await Promise.all([anApi(), anApi()]);
});
afterAll(async () => {
  await Promise.all(apis.map(({ stop }) => stop()));
  await database.drop();
});

const admin = async ({ app }: Api, method: "POST" | "DELETE", url: string, payload?: object) =>
  await app.inject({
    method,
    url,
    headers: { authorization: `Bearer ${TOKEN}` },
    remoteAddress: "192.0.2.1",
    ...(payload === undefined ? {} : { payload }),
  });
const usage = async ({ app }: Api, key: string) =>
  await app.inject({ url: "/metrics/usage", headers: { "x-api-key": key } });
const newKey = async (api: Api): Promise<{ readonly key: string; readonly id: string }> => {
  const { key, apiKey } = (
    await admin(api, "POST", "/admin/keys", { label: "test", scopes: ["read"] })
  ).json();
  return { key, id: apiKey.id };
};

test("a key created through one API is valid at the other immediately, and a revoked one is invalid at both within a second", async () => {
  const { key, id } = await newKey(first);
  for (const api of [second, first]) expect((await usage(api, key)).statusCode).toBe(200);
  expect((await admin(second, "DELETE", `/admin/keys/${id}`)).statusCode).toBe(200);
  const status = async (api: Api): Promise<number> => (await usage(api, key)).statusCode;
  for (const api of [first, second])
    await expect.poll(() => status(api), { timeout: 1_000, interval: 10 }).toBe(401);
});

test("two APIs together allow a caller nearly the whole limit, and never more", async () => {
  let passed = 0;
  for (let call = 0; call < 120; call++) {
    const { app } = call % 2 === 0 ? first : second;
    const answer = await app.inject({ url: "/chains", remoteAddress: "192.0.2.9" });
    expect([200, 429]).toContain(answer.statusCode);
    if (answer.statusCode === 200) passed++;
  }
  expect(passed).toBeLessThanOrEqual(60);
  expect(passed).toBeGreaterThanOrEqual(60 - 2 * 6);
  expect(lines).not.toContain("rate_limits_alone");
});

test("an unavailable node is never treated as a wrong signature", async () => {
  const { id } = await newKey(first);
  const address = `0x${"c0".repeat(20)}`;
  await admin(first, "POST", `/admin/keys/${id}/funding-address/challenge`, { address });
  const answer = await admin(second, "POST", `/admin/keys/${id}/funding-address`, {
    address,
    signature: "0x1234",
  });
  expect([answer.statusCode, answer.json().errorCode]).toEqual([503, "RPC_HTTP_ERROR"]);
});

test("an API stores its usage counts when it stops", async () => {
  const third = await anApi();
  const { key } = await newKey(third);
  for (let call = 0; call < 3; call++) await usage(third, key);
  expect(await third.stop()).toBe(true);
  const { metrics } = (await usage(second, key)).json();
  expect(metrics).toMatchObject([{ endpoint: "GET /metrics/usage", statusCode: 200, count: 3 }]);
});

test("the APIs logged no secret", () => {
  expect(lines).not.toBe("");
  expect(lines).not.toContain(TOKEN);
  expect(lines).not.toMatch(/cwk_[0-9a-f]{16}_/);
});
