import { ServiceError } from "@causeway/domain";
import { afterAll, expect, test } from "vitest";
import { anApiKey, fakeApiKeys } from "../../../../test/fakes/api-keys.ts";
import { failing, KNOWN_REQUEST_ID } from "../../../../test/fakes/route-services.ts";
import { aServer } from "../../../../test/support/route-server.ts";
import type { FastFillRequest } from "../balances/fast-fill.port.ts";
import { refusal } from "../deposits/fast-fill-refusals.ts";
import type { FastFillRule } from "../deposits/fast-fill-refusals.ts";

const WALLET = `0x${"c3".repeat(20)}` as const;
const key = anApiKey({ id: "a".repeat(16), fundingAddress: WALLET });
const apiKeys = fakeApiKeys({
  usual: key,
  narrow: anApiKey({ id: "b".repeat(16), scopes: ["quote", "execute", "read"] }),
  published: anApiKey({ id: "c".repeat(16), origins: ["https://app.example"] }),
});

type Overrides = NonNullable<Parameters<typeof aServer>[0]>;
const servers: { close(): Promise<void> }[] = [];
afterAll(async () => void (await Promise.all(servers.map(async (app) => await app.close()))));

/** Posts a body as the default app, to a server with the test's use case. */
async function post(
  payload: unknown,
  {
    requestFastFill,
    headers = {},
  }: Pick<Overrides, "requestFastFill"> & { headers?: Record<string, string> } = {},
) {
  const { app } = await aServer({ apiKeys, ...(requestFastFill && { requestFastFill }) });
  servers.push(app);
  return await app.inject({
    method: "POST",
    url: "/fast-fill",
    headers: { "x-api-key": "usual", ...headers },
    payload: payload as object,
  });
}

const errorBody = (status: number, errorCode: string, message: string, more: object = {}) => ({
  message,
  errorCode,
  code: errorCode,
  statusCode: status,
  error: expect.any(String) as string,
  ...more,
});

test.for([
  ["queued", "Fast fill queued"],
  ["filled", "Request already filled"],
] as const)("answers a fast fill that is %s with 200 and a message", async ([outcome, message]) => {
  const answer = await post({ requestId: KNOWN_REQUEST_ID }, { requestFastFill: async () => outcome });
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual({ message });
});

test("passes a fast fill to the use case in internal units, with the calling key", async () => {
  let seen: FastFillRequest | undefined;
  const answer = await post(
    {
      requestId: `0x${KNOWN_REQUEST_ID.slice(2).toUpperCase()}`,
      solverInputCurrencyAmount: "123456789012345678901234567890",
      maxFillAmountUsd: 12.5,
      txHash: `0x${"D4".repeat(32)}`,
      surprise: true,
    },
    {
      requestFastFill: async (request) => {
        seen = request;
        return "queued";
      },
    },
  );
  expect(answer.statusCode).toBe(200);
  expect(seen).toEqual({
    key,
    requestId: KNOWN_REQUEST_ID,
    inputAmount: 123456789012345678901234567890n,
    maxUsd: 12_500_000_000_000_000_000n,
    txHash: `0x${"D4".repeat(32)}`,
    finish: undefined,
  });
});

test.for([
  [0, 0n],
  ["0", 0n],
  ["100.000000000000000001", 100_000_000_000_000_000_001n],
  [1e-7, 100_000_000_000n],
  [250, 250_000_000_000_000_000_000n],
] as const)("reads maxFillAmountUsd %s as US dollars", async ([maxFillAmountUsd, maxUsd]) => {
  let seen: FastFillRequest | undefined;
  await post(
    { requestId: KNOWN_REQUEST_ID, maxFillAmountUsd },
    { requestFastFill: async (request) => ((seen = request), "queued") },
  );
  expect(seen?.maxUsd).toBe(maxUsd);
});

test.for([
  [{}, "requestId is required"],
  [{ requestId: "0x12" }, "requestId must be 0x followed by 64 hex digits"],
  [{ requestId: 7 }, "requestId must be 0x followed by 64 hex digits"],
  [
    { requestId: KNOWN_REQUEST_ID, solverInputCurrencyAmount: "1.5" },
    "solverInputCurrencyAmount must be a string of decimal digits (base units)",
  ],
  [
    { requestId: KNOWN_REQUEST_ID, solverInputCurrencyAmount: 15 },
    "solverInputCurrencyAmount must be a string of decimal digits (base units)",
  ],
  ...[-1, "-1", "1e3", "", "12.", null, [], { usd: 1 }].map(
    (maxFillAmountUsd) =>
      [
        { requestId: KNOWN_REQUEST_ID, maxFillAmountUsd },
        'maxFillAmountUsd must be an amount of USD: a number of at least 0, or a decimal string such as "12.5"',
      ] as const,
  ),
  [
    { requestId: KNOWN_REQUEST_ID, txHash: "0x" },
    "txHash must be a transaction id of its chain: 0x followed by 64 hex digits, 64 hex digits, or base58",
  ],
] as const)("refuses an invalid body and says what is wrong: %j", async ([body, message]) => {
  const answer = await post(body);
  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toEqual(
    errorBody(400, "INVALID_REQUEST", message, { errorData: expect.any(Object) as object }),
  );
});

test.for([
  ["no key", { "x-api-key": "" }, 401, "UNAUTHORIZED"],
  ["an unknown key", { "x-api-key": "other" }, 401, "UNAUTHORIZED"],
  ["two different keys", { authorization: "Bearer narrow" }, 401, "UNAUTHORIZED"],
  ["a key without the scope", { "x-api-key": "narrow" }, 403, "FORBIDDEN"],
  ["a published key", { "x-api-key": "published", origin: "https://app.example" }, 403, "FORBIDDEN"],
] as const)("refuses %s", async ([, headers, status, code]) => {
  const answer = await post({ requestId: KNOWN_REQUEST_ID }, { headers });
  expect(answer.statusCode).toBe(status);
  expect(answer.json()).toEqual(errorBody(status, code, expect.any(String) as string));
});

test("accepts the key as a bearer token", async () => {
  const answer = await post(
    { requestId: KNOWN_REQUEST_ID },
    { headers: { "x-api-key": "", authorization: "Bearer usual" } },
  );
  expect(answer.statusCode).toBe(200);
});

test.for([
  ["noSponsoringWallet", 403, "FORBIDDEN"],
  ["appBalance", 403, "INSUFFICIENT_APP_BALANCE"],
  ["underWay", 409, "REQUEST_IN_PROGRESS"],
  ["notABridge", 400, "FAST_FILL_REFUSED"],
  ["markedForRefund", 400, "FAST_FILL_REFUSED"],
  ["expired", 400, "FAST_FILL_REFUSED"],
  ["refunded", 400, "FAST_FILL_REFUSED"],
  ["failed", 400, "FAST_FILL_REFUSED"],
  ["fastFillFailed", 400, "FAST_FILL_REFUSED"],
  ["inputAboveQuote", 400, "FAST_FILL_REFUSED"],
  ["inputOfOthersQuote", 400, "FAST_FILL_REFUSED"],
  ["belowMinimum", 400, "FAST_FILL_REFUSED"],
  ["maxFillAmountUsd", 400, "FAST_FILL_REFUSED"],
  ["maxFastFillUsd", 400, "FAST_FILL_REFUSED"],
  ["maxHoldsUsd", 400, "FAST_FILL_REFUSED"],
  ["originNonceUsed", 400, "FAST_FILL_REFUSED"],
] as const satisfies readonly (readonly [FastFillRule, number, string])[])(
  "answers a refusal by the rule %s with %i %s and the rule",
  async ([rule, status, code]) => {
    const answer = await post(
      { requestId: KNOWN_REQUEST_ID },
      { requestFastFill: () => Promise.reject(refusal(rule, KNOWN_REQUEST_ID, "because", { fact: "1" })) },
    );
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toEqual(
      errorBody(status, code, "because", { requestId: KNOWN_REQUEST_ID, errorData: { rule, fact: "1" } }),
    );
  },
);

test("answers an unknown request with 404", async () => {
  const answer = await post(
    { requestId: KNOWN_REQUEST_ID },
    { requestFastFill: () => Promise.reject(refusal("unknownRequest", KNOWN_REQUEST_ID, "none")) },
  );
  expect(answer.statusCode).toBe(404);
  expect(answer.json()).toEqual(
    errorBody(404, "REQUEST_NOT_FOUND", "none", {
      status: "unknown",
      requestId: KNOWN_REQUEST_ID,
      errorData: { rule: "unknownRequest" },
    }),
  );
});

test("answers a temporary failure with 503 and Retry-After, and a defect without details", async () => {
  const later = await post(
    { requestId: KNOWN_REQUEST_ID },
    { requestFastFill: failing("PRICE_FETCH_FAILED", "no fresh price") },
  );
  expect(later.statusCode).toBe(503);
  expect(later.headers["retry-after"]).toBe("1");
  expect(later.json()).toEqual(errorBody(503, "PRICE_FETCH_FAILED", "no fresh price"));
  const defect = await post(
    { requestId: KNOWN_REQUEST_ID },
    { requestFastFill: () => Promise.reject(new Error("secret")) },
  );
  expect(defect.statusCode).toBe(500);
  expect(defect.json()).toEqual(errorBody(500, "UNKNOWN_ERROR", "internal error"));
});

test("passes the idempotency lease and the answer to the use case, and replays the first answer", async () => {
  const requests: FastFillRequest[] = [];
  const { app } = await aServer({
    apiKeys,
    requestFastFill: async (request) => {
      requests.push(request);
      if (requests.length > 1) throw new ServiceError("REQUEST_IN_PROGRESS", "twice");
      return "queued";
    },
  });
  servers.push(app);
  const call = async () =>
    await app.inject({
      method: "POST",
      url: "/fast-fill",
      headers: { "x-api-key": "usual", "idempotency-key": "one" },
      payload: { requestId: KNOWN_REQUEST_ID },
    });
  const first = await call();
  const second = await call();
  expect([first.statusCode, second.statusCode]).toEqual([200, 200]);
  expect(second.json()).toEqual(first.json());
  expect(second.headers["idempotency-replayed"]).toBe("true");
  expect(requests).toHaveLength(1);
  expect(requests[0]?.finish).toEqual({
    lease: expect.objectContaining({ scope: key.id, endpoint: "POST /fast-fill", key: "one" }) as object,
    answer: { status: 200, body: JSON.stringify({ message: "Fast fill queued" }) },
  });
});

test("stores the answer of a refusal in the format of the endpoint", async () => {
  const { app } = await aServer({
    apiKeys,
    requestFastFill: () => Promise.reject(refusal("belowMinimum", KNOWN_REQUEST_ID, "too little")),
  });
  servers.push(app);
  const call = async () =>
    await app.inject({
      method: "POST",
      url: "/fast-fill",
      headers: { "x-api-key": "usual", "idempotency-key": "two" },
      payload: { requestId: KNOWN_REQUEST_ID },
    });
  const first = await call();
  const second = await call();
  expect(second.headers["idempotency-replayed"]).toBe("true");
  expect(second.json()).toEqual(first.json());
  expect(second.json()).toHaveProperty("code", "FAST_FILL_REFUSED");
});
