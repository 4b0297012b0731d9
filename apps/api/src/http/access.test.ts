import { createLogger } from "@causeway/service-kit";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { anApiKey, fakeApiKeys } from "../../../../test/fakes/api-keys.ts";
import { failing } from "../../../../test/fakes/route-services.ts";
import { aQuoteBody, aServer } from "../../../../test/support/route-server.ts";
import type { UsageNote } from "./usage.port.ts";

const PAGE = "https://app.example";
const keys = {
  full: anApiKey({ id: "f".repeat(16) }),
  reader: anApiKey({ id: "a".repeat(16), scopes: ["read"] }),
  executor: anApiKey({ id: "b".repeat(16), scopes: ["execute"] }),
  page: anApiKey({ id: "c".repeat(16), scopes: ["quote", "read"], origins: [PAGE] }),
};
const used: UsageNote[] = [];
const { app, lines } = await aServer({
  apiKeys: fakeApiKeys(keys),
  usage: { note: (call) => void used.push(call), read: async () => [] },
});
afterAll(() => app.close());

const statusPath = `/intents/status/v3?requestId=0x${"a1".repeat(32)}`;
const get = async (url: string, headers: Record<string, string> = {}) =>
  await app.inject({ method: "GET", url, headers });
const quote = async (headers: Record<string, string>) =>
  await app.inject({ method: "POST", url: "/quote/v2", headers, payload: aQuoteBody });

test("accepts a key in either header, with the scheme in any case, on every endpoint", async () => {
  for (const url of ["/chains", statusPath, "/metrics/usage"])
    for (const headers of [
      { "x-api-key": "full" },
      { authorization: "Bearer full" },
      { authorization: "bearer   full  " },
      { "x-api-key": "full", authorization: "Bearer full" },
    ] as Record<string, string>[])
      expect([url, headers, (await get(url, headers)).statusCode]).toEqual([url, headers, 200]);
});

test("refuses an invalid key everywhere, even where no key is needed", async () => {
  for (const url of ["/chains", statusPath, "/metrics/usage"])
    for (const headers of [{ "x-api-key": "wrong" }, { authorization: "Bearer wrong" }] as Record<
      string,
      string
    >[]) {
      const answer = await get(url, headers);
      expect([url, answer.statusCode]).toEqual([url, 401]);
      expect(answer.json()).toEqual({
        message: "API key is not valid",
        errorCode: "UNAUTHORIZED",
        statusCode: 401,
        error: "Unauthorized",
      });
    }
  expect((await quote({ "x-api-key": "wrong" })).statusCode).toBe(401);
});

test("refuses two different keys at once, even when both are valid", async () => {
  const answer = await get("/chains", { "x-api-key": "full", authorization: "Bearer reader" });
  expect([answer.statusCode, answer.json().message]).toEqual([
    401,
    "x-api-key and Authorization contain different API keys; send one of them",
  ]);
});

test("endpoints that need no key work without one; an empty header or another scheme counts as no key", async () => {
  const keylessHeaders: Record<string, string>[] = [
    {},
    { "x-api-key": "" },
    { "x-api-key": "  " },
    { authorization: "" },
    { authorization: "Bearer " },
    { authorization: "Basic d3Jvbmc6d3Jvbmc=" },
  ];
  for (const headers of keylessHeaders) {
    expect([headers, (await get("/chains", headers)).statusCode]).toEqual([headers, 200]);
    expect([headers, (await quote(headers)).statusCode]).toEqual([headers, 200]);
    const answer = await get("/metrics/usage", headers);
    expect([headers, answer.statusCode, answer.json().errorCode]).toEqual([headers, 401, "UNAUTHORIZED"]);
  }
});

test("refuses a usage time that is too large, naming its field", async () => {
  for (const field of ["startTimestamp", "endTimestamp"]) {
    const answer = await get(`/metrics/usage?${field}=100000000001`, { "x-api-key": "reader" });
    expect([answer.statusCode, answer.json().message]).toEqual([
      400,
      `${field} must be a Unix time in seconds, at most 1e11`,
    ]);
  }
});

test("a key is limited to its scopes", async () => {
  expect((await get("/metrics/usage", { "x-api-key": "reader" })).statusCode).toBe(200);
  const refused = await get("/metrics/usage", { "x-api-key": "executor" });
  expect([refused.statusCode, refused.json()]).toEqual([
    403,
    {
      message: "API key lacks scope read",
      errorCode: "FORBIDDEN",
      statusCode: 403,
      error: "Forbidden",
    },
  ]);
  expect((await quote({ "x-api-key": "full" })).statusCode).toBe(200);
  expect((await quote({ "x-api-key": "reader" })).statusCode).toBe(403);
  // A route without a key needs no scope.
  expect((await get(statusPath, { "x-api-key": "executor" })).statusCode).toBe(200);
});

test("a publishable key works only with one of its own origins, matched exactly", async () => {
  expect((await quote({ "x-api-key": "page", origin: PAGE })).statusCode).toBe(200);
  const otherOrigins = [
    undefined,
    "null",
    "https://app.example.evil",
    "http://app.example",
    "https://APP.example",
    "https://app.example/",
    `${PAGE}, ${PAGE}`,
  ];
  for (const origin of otherOrigins) {
    const answer = await quote({ "x-api-key": "page", ...(origin === undefined ? {} : { origin }) });
    expect([origin, answer.statusCode, answer.json().errorCode]).toEqual([origin, 403, "FORBIDDEN"]);
    expect(
      (await get("/chains", { "x-api-key": "page", ...(origin === undefined ? {} : { origin }) })).statusCode,
    ).toBe(403);
  }
});

test("health needs no key", async () => {
  expect((await get("/health/live", { authorization: "Bearer probe" })).statusCode).toBe(200);
});

test("reports an unavailable key store as unavailable, not as an invalid key", async () => {
  const unavailable = await aServer({
    apiKeys: {
      find: failing("SERVICE_UNAVAILABLE", "API keys could not be read; try again"),
      isKnown: () => false,
    },
  });
  const answer = await unavailable.app.inject({ url: "/chains", headers: { "x-api-key": "full" } });
  expect([answer.statusCode, answer.headers["retry-after"]]).toEqual([503, "1"]);
  await unavailable.app.close();
});

test("counts each answered call of a key, refusals with their code, and no other calls", async () => {
  used.length = 0;
  await get(statusPath, { "x-api-key": "reader" });
  await get("/metrics/usage", { "x-api-key": "executor" });
  await app.inject({ method: "POST", url: "/quote/v2", headers: { "x-api-key": "full" }, payload: {} });
  await get("/chains");
  await get("/chains", { "x-api-key": "wrong" });
  expect(used).toEqual([
    { keyId: keys.reader.id, endpoint: "GET /intents/status/v3", status: 200, errorCode: "" },
    { keyId: keys.executor.id, endpoint: "GET /metrics/usage", status: 403, errorCode: "FORBIDDEN" },
    { keyId: keys.full.id, endpoint: "POST /quote/v2", status: 400, errorCode: "INVALID_REQUEST" },
  ]);
});

test("always returns 200 or 401 immediately, regardless of the content of the two headers", async () => {
  const header = fc.oneof(
    fc.constantFrom(
      "full",
      "Bearer full",
      "Bearer",
      "bearer  ",
      " ".repeat(8_000),
      `Bearer ${" ".repeat(7_000)}x`,
    ),
    fc.string({
      unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
      maxLength: 200,
    }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.option(header, { nil: undefined }),
      fc.option(header, { nil: undefined }),
      async (apiKeyHeader, authorizationHeader) => {
        const startedAtMs = performance.now();
        const answer = await get("/chains", {
          ...(apiKeyHeader === undefined ? {} : { "x-api-key": apiKeyHeader }),
          ...(authorizationHeader === undefined ? {} : { authorization: authorizationHeader }),
        });
        expect([200, 401]).toContain(answer.statusCode);
        expect(performance.now() - startedAtMs).toBeLessThan(250);
      },
    ),
    { numRuns: 500 },
  );
});

test("never logs a key, regardless of which part of a request is logged", () => {
  let text = lines.join("");
  const log = createLogger({ name: "test", level: "info" }, { write: (line) => void (text += line) });
  const headers = { "x-api-key": "s3cret-key", authorization: "Bearer s3cret-key" };
  log.info({ headers });
  log.info({ req: { headers } });
  log.error({ request: { headers }, err: Object.assign(new Error("no"), { headers }) });
  log.info(headers);
  expect(text).not.toContain("s3cret-key");
});
