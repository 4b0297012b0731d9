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

test("both headers carry a key, in any case of the scheme, on every endpoint", async () => {
  for (const url of ["/chains", statusPath, "/metrics/usage"])
    for (const headers of [
      { "x-api-key": "full" },
      { authorization: "Bearer full" },
      { authorization: "bearer   full  " },
      { "x-api-key": "full", authorization: "Bearer full" },
    ] as Record<string, string>[])
      expect([url, headers, (await get(url, headers)).statusCode]).toEqual([url, headers, 200]);
});

test("a key that is not valid is refused wherever it is given, also where none is needed", async () => {
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

test("two different keys at once are refused, even when both are valid", async () => {
  const answer = await get("/chains", { "x-api-key": "full", authorization: "Bearer reader" });
  expect([answer.statusCode, answer.json().message]).toEqual([
    401,
    "x-api-key and Authorization contain different API keys; send one of them",
  ]);
});

test("without a key everything works that needs none; an empty header and another scheme are no key", async () => {
  const none: Record<string, string>[] = [
    {},
    { "x-api-key": "" },
    { "x-api-key": "  " },
    { authorization: "" },
    { authorization: "Bearer " },
    { authorization: "Basic d3Jvbmc6d3Jvbmc=" },
  ];
  for (const headers of none) {
    expect([headers, (await get("/chains", headers)).statusCode]).toEqual([headers, 200]);
    expect([headers, (await quote(headers)).statusCode]).toEqual([headers, 200]);
    const answer = await get("/metrics/usage", headers);
    expect([headers, answer.statusCode, answer.json().errorCode]).toEqual([headers, 401, "UNAUTHORIZED"]);
  }
});

test("a time of usage that is too large is refused by its own name", async () => {
  for (const field of ["startTimestamp", "endTimestamp"]) {
    const answer = await get(`/metrics/usage?${field}=100000000001`, { "x-api-key": "reader" });
    expect([answer.statusCode, answer.json().message]).toEqual([
      400,
      `${field} must be a Unix time in seconds, at most 1e11`,
    ]);
  }
});

test("a key does only what its scopes say", async () => {
  expect((await get("/metrics/usage", { "x-api-key": "reader" })).statusCode).toBe(200);
  const other = await get("/metrics/usage", { "x-api-key": "executor" });
  expect([other.statusCode, other.json()]).toEqual([
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
  // What needs no key needs no scope.
  expect((await get(statusPath, { "x-api-key": "executor" })).statusCode).toBe(200);
});

test("a publishable key is worth something only with one of its own origins, to the letter", async () => {
  expect((await quote({ "x-api-key": "page", origin: PAGE })).statusCode).toBe(200);
  const others = [
    undefined,
    "null",
    "https://app.example.evil",
    "http://app.example",
    "https://APP.example",
    "https://app.example/",
    `${PAGE}, ${PAGE}`,
  ];
  for (const origin of others) {
    const answer = await quote({ "x-api-key": "page", ...(origin === undefined ? {} : { origin }) });
    expect([origin, answer.statusCode, answer.json().errorCode]).toEqual([origin, 403, "FORBIDDEN"]);
    expect(
      (await get("/chains", { "x-api-key": "page", ...(origin === undefined ? {} : { origin }) })).statusCode,
    ).toBe(403);
  }
});

test("health is not a matter of keys", async () => {
  expect((await get("/health/live", { authorization: "Bearer probe" })).statusCode).toBe(200);
});

test("whoever keeps keys being away is told as such", async () => {
  const away = await aServer({
    apiKeys: {
      find: failing("SERVICE_UNAVAILABLE", "API keys could not be read; try again"),
      isFamiliar: () => false,
    },
  });
  const answer = await away.app.inject({ url: "/chains", headers: { "x-api-key": "full" } });
  expect([answer.statusCode, answer.headers["retry-after"]]).toEqual([503, "1"]);
  await away.app.close();
});

test("each answered call of a key is counted, refusals with their code, and nobody else's", async () => {
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

test("whatever stands in the two headers, the answer is 200 or 401 and comes at once", async () => {
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
      async (own, bearer) => {
        const startedAtMs = performance.now();
        const answer = await get("/chains", {
          ...(own === undefined ? {} : { "x-api-key": own }),
          ...(bearer === undefined ? {} : { authorization: bearer }),
        });
        expect([200, 401]).toContain(answer.statusCode);
        expect(performance.now() - startedAtMs).toBeLessThan(250);
      },
    ),
    { numRuns: 500 },
  );
});

test("no key is ever in a log line, whatever was logged of a request", () => {
  let text = lines.join("");
  const log = createLogger({ name: "test", level: "info" }, { write: (line) => void (text += line) });
  const headers = { "x-api-key": "s3cret-key", authorization: "Bearer s3cret-key" };
  log.info({ headers });
  log.info({ req: { headers } });
  log.error({ request: { headers }, err: Object.assign(new Error("no"), { headers }) });
  log.info(headers);
  expect(text).not.toContain("s3cret-key");
});
