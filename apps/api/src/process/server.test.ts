import { NodeRefusal, RpcFault } from "@causeway/chains";
import { afterAll, expect, test } from "vitest";
import { anAnswer, KNOWN_REQUEST_ID } from "../../../../test/fakes/route-services.ts";
import { aQuoteBody, aServer } from "../../../../test/support/route-server.ts";

const { app } = await aServer({}, { interactiveDocumentation: true });
afterAll(() => app.close());

const json = { "content-type": "application/json" };

test.for([
  {
    what: "malformed JSON",
    headers: json,
    payload: "{",
    status: 400,
    code: "INVALID_REQUEST",
    message: "body is not valid JSON",
  },
  {
    what: "an empty body",
    headers: json,
    payload: "",
    status: 400,
    code: "INVALID_REQUEST",
    message: "body is required",
  },
  {
    what: "no body at all",
    headers: {},
    payload: undefined,
    status: 400,
    code: "INVALID_REQUEST",
    message: "body must be a JSON object",
  },
  {
    what: "null",
    headers: json,
    payload: "null",
    status: 400,
    code: "INVALID_REQUEST",
    message: "body must be a JSON object",
  },
  {
    what: "plain text",
    headers: { "content-type": "text/plain" },
    payload: "{}",
    status: 415,
    code: "UNSUPPORTED_MEDIA_TYPE",
    message: "content-type must be application/json",
  },
  {
    what: "a form",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    payload: "a=1",
    status: 415,
    code: "UNSUPPORTED_MEDIA_TYPE",
    message: "content-type must be application/json",
  },
  {
    what: "more than 256 KiB",
    headers: json,
    payload: JSON.stringify({ x: "y".repeat(257 * 1024) }),
    status: 413,
    code: "PAYLOAD_TOO_LARGE",
    message: "body is too large",
  },
])("$what answers $status in JSON", async ({ headers, payload, status, code, message }) => {
  const answer = await app.inject({
    method: "POST",
    url: "/quote/v2",
    headers: { ...headers },
    ...(payload === undefined ? {} : { payload }),
  });
  expect(answer.json()).toMatchObject({ message, errorCode: code, statusCode: status });
  expect(answer.statusCode).toBe(status);
});

test("unknown paths, wrong methods and broken URLs answer JSON with message and statusCode", async () => {
  const unknown = await app.inject({ url: "/nothing?x=1" });
  expect([unknown.statusCode, unknown.json()]).toMatchObject([
    404,
    { message: "route GET /nothing does not exist", errorCode: "NOT_FOUND", statusCode: 404 },
  ]);
  const wrongMethod = await app.inject({ url: "/quote/v2" });
  expect([wrongMethod.statusCode, wrongMethod.headers["allow"], wrongMethod.json()]).toMatchObject([
    405,
    "POST",
    { message: "/quote/v2 does not support GET, only POST", statusCode: 405, error: "Method Not Allowed" },
  ]);
  const broken = await app.inject({ url: "/%zz" });
  expect([broken.statusCode, broken.json()]).toMatchObject([
    400,
    { message: "URL is not valid", statusCode: 400 },
  ]);
});

test("browsers of every origin may call the API, with the headers that clients send", async () => {
  const preflight = await app.inject({
    method: "OPTIONS",
    url: "/quote/v2",
    headers: {
      origin: "https://app.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "x-api-key",
    },
  });
  expect([preflight.statusCode, preflight.body]).toEqual([204, ""]);
  expect(preflight.headers).toMatchObject({
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET, HEAD, POST",
    "access-control-allow-headers":
      "content-type, x-api-key, authorization, idempotency-key, relay-sdk-version, relay-kit-ui-version",
  });
  for (const url of ["/chains", "/nothing"]) {
    const { headers } = await app.inject({ url, headers: { origin: "https://app.example" } });
    expect(headers["access-control-allow-origin"]).toBe("*");
    expect(headers["access-control-expose-headers"]).toMatch(
      /Deprecation, Sunset, Link.*Retry-After.*RateLimit-Limit/,
    );
  }
});

test("serves the OpenAPI document and its page, and the document defines every schema that it references", async () => {
  const page = await app.inject({ url: "/documentation" });
  expect([page.statusCode, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  const answer = await app.inject({ url: "/documentation/json" });
  const document = answer.json();
  expect(document).toMatchObject({ openapi: "3.0.3", info: { version: "1.0.0" } });
  expect(Object.keys(document.paths)).toEqual(
    expect.arrayContaining([
      "/chains",
      "/quote/v2",
      "/quote",
      "/intents/status/v3",
      "/transactions/index",
      "/health/ready",
    ]),
  );
  const refs = [...answer.body.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name);
  const names = Object.keys(document.components.schemas);
  expect(new Set(refs)).toEqual(new Set(names));
  expect(names.filter((name) => name.endsWith("Input"))).toEqual([]);
});

test("an unknown fault answers 500 without its text, and is logged once with its cause", async () => {
  const fault = new Error("password is hunter2", {
    cause: new Error("at https://key:secret@node.example/v2/KEY"),
  });
  const { app: faulty, lines } = await aServer({ createQuote: () => Promise.reject(fault) });
  const answer = await faulty.inject({ method: "POST", url: "/quote/v2", payload: aQuoteBody });
  expect(answer.json()).toEqual({
    message: "internal error",
    errorCode: "UNKNOWN_ERROR",
    statusCode: 500,
    error: "Internal Server Error",
  });
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    event: "requestFailed",
    route: "/quote/v2",
    err: { message: "password is hunter2", cause: { message: "at https://node.example/[secret]" } },
  });
  expect(lines[0]).not.toMatch(/KEY|key:secret/);
  await faulty.close();
});

test("logs a failed request with the id that the proxy set, otherwise with a new id", async () => {
  const { app: failing, lines } = await aServer({
    readiness: async () => {
      throw new Error("broken");
    },
  });
  const requestIdAfter = async (headers: Readonly<Record<string, string>>): Promise<unknown> => {
    const answer = await failing.inject({ method: "GET", url: "/health/ready", headers });
    expect(answer.statusCode).toBe(500);
    return (JSON.parse(lines.at(-1) ?? "") as { reqId: unknown }).reqId;
  };
  expect(await requestIdAfter({ "x-request-id": "edge-1:4f/2" })).toBe("edge-1:4f/2");
  const generatedId = await requestIdAfter({});
  expect(generatedId).toMatch(/^[0-9a-f]{8}-\d+$/);
  for (const invalidId of ["two words", "x".repeat(129), '"}'])
    expect(await requestIdAfter({ "x-request-id": invalidId })).toMatch(/^[0-9a-f]{8}-\d+$/);
  expect(await requestIdAfter({})).not.toBe(generatedId);
  await failing.close();
});

test.each([
  ["a fault of", new RpcFault({ kind: "http", method: "eth_call", reason: "https://node.example/KEY" })],
  [
    "a refusal by",
    new NodeRefusal({
      method: "eth_call",
      nodeCode: 429,
      nodeText: "https://node.example/KEY",
      nodeData: {},
    }),
  ],
])("%s a chain node returns 503, is never blamed on the caller, and names no URL", async (_, cause) => {
  const { app: faulty } = await aServer({
    createQuote: () => Promise.reject(new Error("wrapped", { cause })),
  });
  const answer = await faulty.inject({ method: "POST", url: "/quote/v2", payload: aQuoteBody });
  expect([answer.statusCode, answer.headers["retry-after"], answer.json()]).toMatchObject([
    503,
    "1",
    {
      errorCode: "RPC_HTTP_ERROR",
      statusCode: 503,
      message: "a chain node returned no usable response; try again",
    },
  ]);
  await faulty.close();
});

test("a route that hangs returns 503 at its deadline, and its late answer has no effect", async () => {
  const late = Promise.withResolvers<typeof anAnswer>();
  const { app: slow } = await aServer(
    { createQuote: async (_input, tell) => tell(await late.promise) },
    { handlerTimeoutMs: 40 },
  );
  const answer = await slow.inject({ method: "POST", url: "/quote/v2", payload: aQuoteBody });
  expect([answer.statusCode, answer.json().errorCode]).toEqual([503, "REQUEST_TIMED_OUT"]);
  late.resolve(anAnswer);
  await late.promise;
  const next = await slow.inject({ url: `/intents/status/v3?requestId=${KNOWN_REQUEST_ID}` });
  expect(next.statusCode).toBe(200);
  await slow.close();
});

test("a quote returns 503 after five seconds, even though other routes may take longer", async () => {
  const { app: slow } = await aServer({ createQuote: async () => await new Promise(() => undefined) });
  const startedAtMs = performance.now();
  const answer = await slow.inject({ method: "POST", url: "/quote/v2", payload: aQuoteBody });
  expect([answer.statusCode, answer.json().errorCode]).toEqual([503, "REQUEST_TIMED_OUT"]);
  expect(performance.now() - startedAtMs).toBeGreaterThan(4_900);
  await slow.close();
}, 30_000);

test("returns 500 for an answer that does not match its schema, where answers are validated", async () => {
  const { app: validating, lines } = await aServer({
    createQuote: async (_input, tell) => tell({ ...anAnswer, requestId: "1" }),
    readiness: async () => ({ ready: true, chains: {}, checks: {}, secretField: 1 }) as never,
  });
  for (const request of [
    { method: "POST", url: "/quote/v2", payload: aQuoteBody },
    { method: "GET", url: "/health/ready" },
  ] as const) {
    const answer = await validating.inject(request);
    expect([answer.statusCode, answer.json().message]).toEqual([500, "internal error"]);
    expect(lines.splice(0).join()).toContain("does not match its schema");
  }
  await validating.close();
});

test("serves metrics only to the bearer of the configured token, or not at all", async () => {
  const token = "0123456789abcdef0123456789abcdef";
  const { app: guarded } = await aServer({}, { metrics: { token } });
  const statusWith = async (authorization?: string) =>
    (await guarded.inject({ url: "/metrics", headers: authorization === undefined ? {} : { authorization } }))
      .statusCode;
  expect([await statusWith(), await statusWith("Bearer wrong"), await statusWith(`Bearer ${token}`)]).toEqual(
    [401, 401, 200],
  );
  await guarded.close();
  const { app: closed } = await aServer({}, { metrics: "closed" });
  const disabled = await closed.inject({ url: "/metrics" });
  expect(disabled.statusCode).toBe(404);
  expect(disabled.json()).toMatchObject({
    errorCode: "NOT_FOUND",
    message: "GET /metrics is disabled; the operator enables it with METRICS_TOKEN",
  });
  await closed.close();
});

test("answers are counted by route pattern and status", async () => {
  const { app: counted } = await aServer();
  await counted.inject({ url: `/intents/status/v3?requestId=${KNOWN_REQUEST_ID}` });
  await counted.inject({ url: "/intents/status/v3?requestId=1" });
  const { body } = await counted.inject({ url: "/metrics" });
  for (const status of ["200", "400"]) {
    expect(body).toMatch(
      new RegExp(
        `http_request_duration_seconds_count\\{method="GET",route="/intents/status/v3",status="${status}",service="test"\\} 1`,
      ),
    );
  }
  expect(body).toContain('le="+Inf"');
  expect(body).toContain("process_cpu_seconds_total");
  await counted.close();
});
