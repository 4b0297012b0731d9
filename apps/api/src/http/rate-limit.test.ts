import { Secret } from "@causeway/config";
import {
  answerFor,
  createHttpServer,
  createLogger,
  createMetrics,
  type HttpOptions,
} from "@causeway/service-kit";
import { expect, test } from "vitest";
import { anApiKey, fakeApiKeys } from "../../../../test/fakes/api-keys.ts";
import { aQuoteBody, aServer } from "../../../../test/support/route-server.ts";
import type { RateLimits } from "./rate-limits.port.ts";
import { checkKeys, requireKey, requireReferrer } from "./access.route.ts";
import { limitRates } from "./rate-limit.route.ts";

const PAGE = "https://app.example";
const PLAIN_ADDRESS = `0x${"12".repeat(20)}`;

/** In-memory limits that never reset. */
function fakeLimits(): RateLimits & { readonly buckets: Map<string, number> } {
  const buckets = new Map<string, number>();
  return {
    policy: {
      key: { quote: 3, status: 5, other: 4 },
      address: { quote: 2, status: 3, other: 2 },
      callBytesPerDay: 10_000,
    },
    takeCallBytes(caller, bytes) {
      const used = (buckets.get(`${caller} bytes`) ?? 0) + bytes;
      buckets.set(`${caller} bytes`, used);
      return { used, endsInMs: 41_500 };
    },
    buckets,
    take(bucket) {
      const used = (buckets.get(bucket) ?? 0) + 1;
      buckets.set(bucket, used);
      return { used, endsInMs: 41_500 };
    },
  };
}

async function aLimitedServer(options: HttpOptions = {}) {
  const limits = fakeLimits();
  const { app } = await aServer(
    {
      limits,
      apiKeys: fakeApiKeys({
        usual: anApiKey({ id: "a".repeat(16) }),
        large: anApiKey({ id: "b".repeat(16), limits: { quotePerMinute: 6, otherPerMinute: 7 } }),
        page: anApiKey({ id: "c".repeat(16), scopes: ["quote"], origins: [PAGE] }),
        otherPage: anApiKey({ id: "d".repeat(16), scopes: ["quote"], origins: [PAGE] }),
        largePage: anApiKey({
          id: "e".repeat(16),
          scopes: ["quote"],
          origins: [PAGE],
          limits: { quotePerMinute: 6, otherPerMinute: 7 },
        }),
      }),
    },
    options,
  );
  const quote = async (headers: Record<string, string> = {}, remoteAddress = "192.0.2.1") =>
    await app.inject({ method: "POST", url: "/quote/v2", headers, payload: aQuoteBody, remoteAddress });
  const get = async (url: string, headers: Record<string, string> = {}, remoteAddress = "192.0.2.1") =>
    await app.inject({ url, headers, remoteAddress });
  return { app, limits, quote, get };
}

/** Number of the next calls that are allowed, up to 50. */
async function countPassing(call: () => Promise<{ statusCode: number }>): Promise<number> {
  for (let passed = 0; passed < 50; passed++) if ((await call()).statusCode === 429) return passed;
  return 50;
}

test("responses have the limit, the remaining calls and the reset time; refusals also have Retry-After", async () => {
  const { app, quote } = await aLimitedServer();
  expect((await quote()).headers).toMatchObject({
    "ratelimit-limit": "2",
    "ratelimit-remaining": "1",
    "ratelimit-reset": "42",
  });
  await quote();
  const refused = await quote({ origin: PAGE });
  expect(refused.headers).toMatchObject({
    "ratelimit-limit": "2",
    "ratelimit-remaining": "0",
    "ratelimit-reset": "42",
    "retry-after": "42",
  });
  expect([refused.statusCode, refused.json()]).toEqual([
    429,
    {
      message: "Rate limit exceeded; retry in 42 s",
      errorCode: "RATE_LIMITED",
      statusCode: 429,
      error: "Too Many Requests",
    },
  ]);
  expect(refused.headers["access-control-expose-headers"]).toMatch(
    /Retry-After.*RateLimit-Limit.*RateLimit-Remaining.*RateLimit-Reset/,
  );
  await app.close();
});

test("a forged X-Forwarded-For entry gives a caller no further quotes", async () => {
  const { app, quote } = await aLimitedServer({ trustProxy: 1 });
  let forged = 0;
  const limit = await countPassing(() =>
    // The trusted proxy wrote the last entry.
    quote({ "x-forwarded-for": `203.0.113.${forged++}, 198.51.100.7` }, "10.0.0.1"),
  );
  expect(limit).toBe(2);
  await app.close();
});

test("counts quotes, status reads and other calls separately, by key and by address", async () => {
  const { app, quote, get } = await aLimitedServer();
  const status = `/intents/status/v3?requestId=0x${"a1".repeat(32)}`;
  const usual = { "x-api-key": "usual" };
  const large = { authorization: "Bearer large" };
  expect([
    await countPassing(() => quote()),
    await countPassing(() => get(status)),
    await countPassing(() => get("/chains")),
    await countPassing(() => quote(usual)),
    await countPassing(() => get(status, usual)),
    await countPassing(() => get("/chains", usual)),
    await countPassing(() => quote(large)),
    await countPassing(() => get(status, large)),
    await countPassing(() => get("/chains", large)),
  ]).toEqual([2, 3, 2, 3, 5, 4, 6, 7, 7]);
  // With a key, the address does not matter. Without a key, another address is another caller.
  expect((await quote(usual, "192.0.2.2")).statusCode).toBe(429);
  expect((await quote({}, "192.0.2.2")).statusCode).toBe(200);
  await app.close();
});

test("addresses of one IPv6 network count as one caller", async () => {
  const { app, quote } = await aLimitedServer();
  expect(await countPassing(() => quote({}, "2001:db8:1:2::1"))).toBe(2);
  expect((await quote({}, "2001:db8:1:2:ffff::9")).statusCode).toBe(429);
  expect((await quote({}, "2001:db8:1:3::1")).statusCode).toBe(200);
  await app.close();
});

test("one visitor of a page does not use up the limit of the page's key for other visitors", async () => {
  const { app, quote } = await aLimitedServer();
  const page = { "x-api-key": "page", origin: PAGE };
  expect(await countPassing(() => quote(page, "192.0.2.1"))).toBe(3);
  expect((await quote(page, "192.0.2.2")).statusCode).toBe(200);
  await app.close();
});

test("a second publishable key gives a visitor no further quotes, unless it has its own limit", async () => {
  const { app, quote } = await aLimitedServer();
  const page = (key: string) => ({ "x-api-key": key, origin: PAGE });
  expect(await countPassing(() => quote(page("page")))).toBe(3);
  expect((await quote(page("otherPage"))).statusCode).toBe(429);
  expect(await countPassing(() => quote(page("largePage")))).toBe(6);
  expect((await quote(page("otherPage"), "192.0.2.2")).statusCode).toBe(200);
  await app.close();
});

test("limits key guessing without blocking valid keys of the same address", async () => {
  const { app, get } = await aLimitedServer();
  const statuses = [];
  for (let index = 0; index < 4; index++)
    statuses.push((await get("/chains", { "x-api-key": `guess-${index}` })).statusCode);
  expect(statuses).toEqual([401, 401, 429, 429]);
  expect((await get("/chains", { "x-api-key": "usual" })).statusCode).toBe(200);
  await app.close();
});

test("does not look up unknown keys once an address has reached the limit on key guesses", async () => {
  const lookups: string[] = [];
  const { app } = await aServer({
    limits: fakeLimits(),
    apiKeys: {
      find: async (text) => {
        lookups.push(text);
        return undefined;
      },
      isKnown: (text) => text === "guess-5",
    },
  });
  const get = async (key: string, remoteAddress = "192.0.2.1") =>
    (await app.inject({ url: "/chains", headers: { "x-api-key": key }, remoteAddress })).statusCode;
  const statuses = [];
  for (let index = 0; index < 6; index++) statuses.push(await get(`guess-${index}`));
  expect(statuses).toEqual([401, 401, 429, 429, 429, 429]);
  expect(lookups).toEqual(["guess-0", "guess-1", "guess-2", "guess-5"]);
  expect(await get("guess-6", "192.0.2.9"), "another address").toBe(401);
  await app.close();
});

test("limits guessing of the operator token", async () => {
  const limits = fakeLimits();
  const { app } = await aServer({ limits, operatorToken: new Secret("0123456789abcdef0123456789abcdef") });
  const statuses = [];
  for (let index = 0; index < 4; index++) {
    const headers = { authorization: `Bearer guess-${index}` };
    statuses.push((await app.inject({ url: "/admin/keys", headers })).statusCode);
  }
  expect(statuses).toEqual([401, 401, 429, 429]);
  await app.close();
});

test("never limits health checks", async () => {
  const { app, limits, get } = await aLimitedServer();
  for (let call = 0; call < 10; call++) expect((await get("/health/ready")).statusCode).toBe(200);
  expect(limits.buckets.size).toBe(0);
  await app.close();
});

test("sends no rate-limit headers without limits", async () => {
  const { app } = await aServer();
  const { headers } = await app.inject({ url: "/chains" });
  expect(Object.keys(headers).filter((name) => name.includes("ratelimit"))).toEqual([]);
  await app.close();
});

test("an endpoint with its own error format uses it for key, referrer and limit errors too", async () => {
  const app = await createHttpServer(
    { log: createLogger({ name: "test", level: "silent" }), metrics: createMetrics("test") },
    { title: "", version: "", description: "", tags: [] },
    { interactiveDocumentation: false },
  );
  const limits = fakeLimits();
  const apiKeys = fakeApiKeys({
    usual: anApiKey({ referrers: ["mine"] }),
    reader: anApiKey({ scopes: ["read"] }),
    page: anApiKey({ scopes: ["quote", "execute"], origins: [PAGE] }),
  });
  const usage = { note: () => undefined, read: async () => [] };
  checkKeys(app, { apiKeys, limits, usage });
  await limitRates(app, limits);
  app.post(
    "/execute",
    {
      config: { access: { kind: "key", scope: "execute", strict: true } },
      errorHandler: (error, _request, reply) => {
        const { status } = answerFor(error);
        return reply.code(status).send({ error: error instanceof Error ? error.message : "" });
      },
    },
    (request, reply) => {
      requireReferrer(requireKey(request, "execute"), (request.body as { referrer?: string }).referrer);
      reply.send({});
    },
  );
  const execute = async (headers: Record<string, string>, referrer?: string) => {
    const answer = await app.inject({ method: "POST", url: "/execute", headers, payload: { referrer } });
    return [answer.statusCode, answer.json()] as const;
  };
  expect(await execute({})).toEqual([
    401,
    { error: "API key missing; send it in the x-api-key header or as Authorization: Bearer" },
  ]);
  expect(await execute({ "x-api-key": "wrong" })).toEqual([401, { error: "API key is not valid" }]);
  expect(await execute({ "x-api-key": "reader" })).toEqual([401, { error: "API key lacks scope execute" }]);
  // Such a key cannot be created; if it existed, it could still not spend.
  expect(await execute({ "x-api-key": "page", origin: PAGE })).toEqual([
    401,
    { error: "API key lacks scope execute" },
  ]);
  for (const referrer of [undefined, "", "other"])
    expect(await execute({ "x-api-key": "usual" }, referrer)).toEqual([
      401,
      { error: "referrer is missing or not allowed for this API key" },
    ]);
  expect((await execute({ "x-api-key": "usual" }, "mine"))[0]).toBe(200);
  expect(await execute({ "x-api-key": "usual" }, "mine")).toEqual([
    429,
    { error: "Rate limit exceeded; retry in 42 s" },
  ]);
  await app.close();
});

test("limits destination calls of callers without a secret key, per quote and in 24 hours", async () => {
  const limits = { ...fakeLimits(), take: () => ({ used: 1, endsInMs: 1 }) };
  const { app } = await aServer({
    limits,
    apiKeys: fakeApiKeys({ secret: anApiKey(), page: anApiKey({ scopes: ["quote"], origins: [PAGE] }) }),
  });
  const withCalls = async (
    bytes: number,
    headers: Record<string, string> = {},
    url = "/quote/v2",
    remoteAddress = "192.0.2.1",
  ) => {
    const payload = {
      ...aQuoteBody,
      txs: [{ to: PLAIN_ADDRESS, value: "0", data: `0x${"ab".repeat(bytes)}` }],
    };
    const answer = await app.inject({ method: "POST", url, headers, payload, remoteAddress });
    return { status: answer.statusCode, ...answer.json<object>() };
  };
  const page = { "x-api-key": "page", origin: PAGE };
  for (const [headers, url] of [
    [{}, "/quote/v2"],
    [page, "/quote"],
    [{}, "/price"],
  ] as const)
    expect(await withCalls(4_097, headers, url)).toMatchObject({
      status: 400,
      errorCode: "INVALID_EXTRA_TXS",
      message: "txs may carry at most 4096 bytes of data in total without a secret API key, got 4097",
    });
  for (let quotes = 0; quotes < 2; quotes++) expect(await withCalls(4_096)).toMatchObject({ status: 200 });
  expect(await withCalls(4_096)).toMatchObject({
    status: 429,
    errorCode: "RATE_LIMITED",
    message:
      "txs exceed the limit of 10000 bytes in 24 hours without a secret API key; retry in 42 s or send x-api-key",
  });
  // With a publishable key, each address still has only its own quota.
  expect(await withCalls(4_096, page)).toMatchObject({ status: 429 });
  expect(await withCalls(4_096, page, "/quote/v2", "192.0.2.2")).toMatchObject({ status: 200 });
  for (let quotes = 0; quotes < 5; quotes++)
    expect(await withCalls(30_000, { "x-api-key": "secret" })).toMatchObject({ status: 200 });
  await app.close();
});

test("limits searches that read tokens from chains to 5 per minute for an address without a secret key", async () => {
  const limits = { ...fakeLimits(), policy: { ...fakeLimits().policy } };
  const highLimits = { quote: 100, status: 100, other: 100 };
  const { app } = await aServer({
    limits: { ...limits, policy: { ...limits.policy, key: highLimits, address: highLimits } },
    apiKeys: fakeApiKeys({
      usual: anApiKey({ id: "a".repeat(16) }),
      page: anApiKey({ id: "c".repeat(16), scopes: ["quote"], origins: [PAGE] }),
    }),
  });
  const search = async (
    useExternalSearch: boolean,
    headers: Record<string, string> = {},
    url = "/currencies/v2",
    remoteAddress = "192.0.2.1",
  ) => await app.inject({ method: "POST", url, headers, payload: { useExternalSearch }, remoteAddress });
  const page = { "x-api-key": "page", origin: PAGE };
  for (const [headers, url] of [
    [{}, "/currencies/v2"],
    [{}, "/currencies/v1"],
    [page, "/currencies/v2"],
    [{}, "/currencies/v2"],
    [page, "/currencies/v1"],
  ] as const)
    expect((await search(true, headers, url)).statusCode).toBe(200);
  for (const headers of [{}, page]) {
    const refused = await search(true, headers);
    expect([refused.statusCode, refused.json().errorCode]).toEqual([429, "RATE_LIMITED"]);
    expect(refused.headers["retry-after"]).toBe("42");
  }
  expect((await search(false)).statusCode).toBe(200);
  expect((await search(true, {}, "/currencies/v2", "192.0.2.2")).statusCode).toBe(200);
  for (let n = 0; n < 8; n++) expect((await search(true, { "x-api-key": "usual" })).statusCode).toBe(200);
  await app.close();
});
