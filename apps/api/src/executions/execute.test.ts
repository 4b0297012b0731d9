import { ServiceError } from "@causeway/domain";
import { RpcFault } from "@causeway/chains";
import { expect, test } from "vitest";
import { aServer } from "../../../../test/support/route-server.ts";
import { anApiKey, fakeApiKeys } from "../../../../test/fakes/api-keys.ts";
import { KNOWN_REQUEST_ID, type RouteFakes } from "../../../../test/fakes/route-services.ts";
import type { ApiKeyIdentity } from "../http/api-keys.port.ts";

const TO = `0x${"c3".repeat(20)}`;
const aBody = {
  executionKind: "rawCalls",
  data: { chainId: 11, to: TO, data: "0x12345678", value: "0" },
  executionOptions: { referrer: "", subsidizeFees: true },
};
const anAuthorization = {
  chainId: 11,
  address: TO,
  nonce: 0,
  yParity: 1,
  r: "0x1",
  s: `0x${"2".repeat(64)}`,
};

const keys: Readonly<Record<string, ApiKeyIdentity>> = {
  good: anApiKey(),
  reader: anApiKey({ id: "reader", scopes: ["read", "quote"] }),
  named: anApiKey({ id: "named", referrers: ["shop"] }),
};

async function post(
  body: unknown,
  {
    key = "good",
    services = {},
    headers = {},
  }: { key?: string | undefined; services?: Partial<RouteFakes>; headers?: Record<string, string> } = {},
) {
  const { app } = await aServer({ apiKeys: fakeApiKeys(keys), ...services });
  const response = await app.inject({
    method: "POST",
    url: "/execute",
    headers: { "content-type": "application/json", ...(key !== "" && { "x-api-key": key }), ...headers },
    payload: typeof body === "string" ? body : JSON.stringify(body),
  });
  await app.close();
  return { status: response.statusCode, body: response.json<unknown>(), headers: response.headers };
}

const failing = (error: Error): Partial<RouteFakes> => ({
  executeCalls: async () => {
    throw error;
  },
});
const withData = (change: object): object => ({ ...aBody, data: { ...aBody.data, ...change } });
const withOptions = (change: object): object => ({
  ...aBody,
  executionOptions: { ...aBody.executionOptions, ...change },
});
const withDestinationCalls = (change: object): object =>
  withOptions({ destinationChainExecutionData: { calls: [{ to: TO, value: "0", data: "0x" }], ...change } });

test("answers an accepted call with its request id", async () => {
  expect(await post(aBody)).toMatchObject({
    status: 200,
    body: { message: "Transaction submitted", requestId: KNOWN_REQUEST_ID },
  });
});

test.each<[string, object]>([
  ["unknown fields", { ...aBody, other: 1, data: { ...aBody.data, gas: "1" } }],
  ["originGasOverhead as a number", { ...aBody, originGasOverhead: 80_000 }],
  ["originGasOverhead as a text", { ...aBody, originGasOverhead: "80000" }],
  ["value in hex", withData({ value: "0x10" })],
  ["value as a number", withData({ value: 16 })],
  ["chainId as a text", withData({ chainId: "11" })],
  ["authorizations", withData({ authorizationList: [anAuthorization] })],
  ["calls with the fill", withDestinationCalls({ authorizationList: [anAuthorization] })],
  ["a request id", { ...aBody, requestId: KNOWN_REQUEST_ID }],
])("accepts %s", async (_what, body) => {
  expect((await post(body)).status).toBe(200);
});

test("passes the key, the body and no lease to the use case without an Idempotency-Key", async () => {
  const seen: unknown[] = [];
  const executeCalls: RouteFakes["executeCalls"] = async (...args) => {
    seen.push(args);
    return { kind: "accepted", answer: { message: "Transaction submitted", requestId: KNOWN_REQUEST_ID } };
  };
  await post(aBody, { services: { executeCalls } });
  expect(seen).toEqual([[keys["good"], aBody, undefined]]);
});

test.each<[string, unknown, string]>([
  ["no body", "", "body is required"],
  ["invalid JSON", "{", "body is not valid JSON"],
  ["an array", [], "body must be a JSON object"],
  ["no executionKind", { ...aBody, executionKind: undefined }, "executionKind is required"],
  ["another executionKind", { ...aBody, executionKind: "permits" }, "executionKind must be rawCalls"],
  ["no data at all", { ...aBody, data: undefined }, "data is required"],
  ["no to", withData({ to: undefined }), "to is required"],
  ["no data", withData({ data: undefined }), "data is required"],
  ["no value", withData({ value: undefined }), "value is required"],
  ["no chainId", withData({ chainId: undefined }), "chainId is required"],
  ["an invalid to", withData({ to: "0x12" }), "to must be a 20-byte address"],
  ["odd data", withData({ data: "0x1" }), "data must be 0x followed by an even number of hex digits"],
  [
    "a negative value",
    withData({ value: "-1" }),
    "value must be a whole number of wei: decimal digits, or 0x and hex digits",
  ],
  [
    "a value above uint256",
    withData({ value: (2n ** 256n).toString() }),
    "value must be a whole number of wei: decimal digits, or 0x and hex digits",
  ],
  ["chain id zero", withData({ chainId: 0 }), "chainId must be an integer chain id"],
  ["an empty authorizationList", withData({ authorizationList: [] }), "authorizationList cannot be empty"],
  [
    "half an authorization",
    withData({ authorizationList: [{ ...anAuthorization, r: undefined }] }),
    "authorizationList[0].r is required",
  ],
  [
    "an authorization with an invalid address",
    withData({ authorizationList: [{ ...anAuthorization, address: "0x" }] }),
    "authorizationList[0].address must be a 20-byte address",
  ],
  ["no executionOptions", { ...aBody, executionOptions: undefined }, "executionOptions is required"],
  ["no referrer", withOptions({ referrer: undefined }), "referrer is required"],
  ["no subsidizeFees", withOptions({ subsidizeFees: undefined }), "subsidizeFees is required"],
  ["a text for subsidizeFees", withOptions({ subsidizeFees: "yes" }), "subsidizeFees must be true or false"],
  ["no calls", withDestinationCalls({ calls: undefined }), "destinationChainExecutionData.calls is required"],
  [
    "empty calls",
    withDestinationCalls({ calls: [] }),
    "destinationChainExecutionData.calls must have at least 1 element",
  ],
  [
    "a call to an invalid address",
    withDestinationCalls({ calls: [{ to: "0x", value: "0", data: "0x" }] }),
    "destinationChainExecutionData.calls[0].to must be a 20-byte address",
  ],
  [
    "an empty authorizationList with the fill",
    withDestinationCalls({ authorizationList: [] }),
    "destinationChainExecutionData.authorizationList cannot be empty",
  ],
  [
    "an invalid request id",
    { ...aBody, requestId: "0x12" },
    "requestId must be 0x followed by 64 hex digits",
  ],
])("answers %s with 400 and an error that names the field", async (_what, body, error) => {
  const answer = await post(body);
  expect({ status: answer.status, body: answer.body }).toEqual({ status: 400, body: { error } });
});

test.each<[string, string | undefined, string]>([
  ["no key", "", "API key missing; send it in the x-api-key header or as Authorization: Bearer"],
  ["a wrong key", "wrong", "API key is not valid"],
  ["a key without the scope", "reader", "API key lacks scope execute"],
  ["a key for other referrers", "named", "referrer is missing or not allowed for this API key"],
])("answers %s with 401", async (_what, key, error) => {
  expect(await post(aBody, { key })).toMatchObject({ status: 401, body: { error } });
});

test("accepts a key that is restricted to referrers, for one of these referrers", async () => {
  expect((await post(withOptions({ referrer: "shop" }), { key: "named" })).status).toBe(200);
});

test("accepts a bearer token like x-api-key", async () => {
  expect((await post(aBody, { key: "", headers: { authorization: "Bearer good" } })).status).toBe(200);
});

test("answers a failed simulation with its label, message, id and details", async () => {
  const frame = { type: "CALL", address: TO, function: "Multicall3.aggregate3Value" };
  const failure = {
    label: "INVALID_SIGNATURE",
    message: "Invalid signature",
    details: {
      topLevel: frame,
      innermost: frame,
      path: [frame],
      revert: {
        type: "customError",
        label: "INVALID_SIGNATURE",
        message: "Invalid signature",
        selector: "0x8baa579f",
        name: "InvalidSignature",
      },
    },
  } as const;
  const services: Partial<RouteFakes> = {
    executeCalls: async () => ({ kind: "reverts", requestId: KNOWN_REQUEST_ID, failure }),
  };
  const answer = await post(aBody, { services });
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: 400,
    body: {
      error: "INVALID_SIGNATURE",
      message: "Invalid signature",
      requestId: KNOWN_REQUEST_ID,
      details: failure.details,
    },
  });
});

test.each<[string, Error, number, string]>([
  [
    "a chain that is not served",
    new ServiceError(
      "UNSUPPORTED_CHAIN",
      "data.chainId must be a supported EVM chain, got 5; GET /chains lists the supported chains",
    ),
    400,
    "chainId must be a supported EVM chain, got 5; GET /chains lists the supported chains",
  ],
  [
    "too little app balance",
    new ServiceError("INSUFFICIENT_FUNDS", "the app balance has $1"),
    400,
    "the app balance has $1",
  ],
  [
    "a rule of the key",
    new ServiceError("INVALID_REQUEST", "Not sponsored (dailyUsd): no"),
    400,
    "Not sponsored (dailyUsd): no",
  ],
  [
    "an unknown request",
    new ServiceError("REQUEST_NOT_FOUND", "requestId is unknown"),
    400,
    "requestId is unknown",
  ],
  [
    "an unreachable node",
    new RpcFault({ kind: "network", method: "eth_call", reason: "https://user:secret@node" }),
    503,
    "a chain node returned no usable response; try again",
  ],
  ["no price", new ServiceError("PRICE_FETCH_FAILED", "no fresh price"), 503, "no fresh price"],
  ["a defect", new Error("database password"), 500, "internal error"],
  ["too many calls", new ServiceError("RATE_LIMITED", "too many requests"), 429, "too many requests"],
])("answers %s with a body of one field", async (_what, error, status, text) => {
  const answer = await post(aBody, { services: failing(error) });
  expect({ status: answer.status, body: answer.body }).toEqual({ status, body: { error: text } });
});

test("refuses a body that is too large, or of another content type, in the same format", async () => {
  const large = await post(withData({ data: `0x${"00".repeat(300_000)}` }));
  expect({ status: large.status, body: large.body }).toEqual({
    status: 413,
    body: { error: "body is too large" },
  });
  const plainText = await post(aBody, { headers: { "content-type": "text/plain" } });
  expect({ status: plainText.status, body: plainText.body }).toEqual({
    status: 415,
    body: { error: "content-type must be application/json" },
  });
});

test("replays the first answer for a repeated Idempotency-Key, including a refusal, but no internal failure", async () => {
  let calls = 0;
  let fault: Error | undefined = new Error("down");
  const executeCalls: RouteFakes["executeCalls"] = async () => {
    calls++;
    if (fault) throw fault;
    return { kind: "accepted", answer: { message: "Transaction submitted", requestId: KNOWN_REQUEST_ID } };
  };
  const { app } = await aServer({ apiKeys: fakeApiKeys(keys), executeCalls });
  const again = async (key: string, body: object = aBody) => {
    const response = await app.inject({
      method: "POST",
      url: "/execute",
      headers: { "x-api-key": "good", "idempotency-key": key },
      payload: body,
    });
    return [response.statusCode, response.json<unknown>(), response.headers["idempotency-replayed"]] as const;
  };
  expect(await again("one")).toEqual([500, { error: "internal error" }, undefined]);
  fault = new ServiceError("INSUFFICIENT_FUNDS", "the app balance has $1");
  expect(await again("one")).toEqual([400, { error: "the app balance has $1" }, undefined]);
  fault = undefined;
  expect(await again("one")).toEqual([400, { error: "the app balance has $1" }, "true"]);
  const accepted = { message: "Transaction submitted", requestId: KNOWN_REQUEST_ID };
  expect(await again("two")).toEqual([200, accepted, undefined]);
  expect(await again("two")).toEqual([200, accepted, "true"]);
  expect(await again("two", withData({ value: "1" }))).toEqual([
    422,
    { error: "Idempotency-Key was already used with a different body; use a new key" },
    undefined,
  ]);
  expect(calls).toBe(3);
  await app.close();
});
