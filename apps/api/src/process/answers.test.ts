import { NATIVE_CURRENCY, ServiceError } from "@causeway/domain";
import { statusAnswer, type QuoteInput } from "@causeway/wire";
import { mismatch } from "@causeway/service-kit";
import { afterAll, expect, test } from "vitest";
import {
  A_TX_HASH,
  anAnswer,
  aSignedRequest,
  aView,
  KNOWN_REQUEST_ID,
} from "../../../../test/fakes/route-services.ts";
import { statusJson } from "../requests/status-json.route.ts";
import { aQuoteBody, aServer } from "../../../../test/support/route-server.ts";

const { app } = await aServer();
afterAll(() => app.close());

test.for(["/quote/v2", "/quote"])("POST %s answers 200 with the quote of the use case", async (url) => {
  const answer = await app.inject({ method: "POST", url, payload: aQuoteBody });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(answer.json()).toEqual(anAnswer);
});

test("accepts fromChainId, toChainId and hexadecimal wei in a quote", async () => {
  const inputs: QuoteInput[] = [];
  const { app: server } = await aServer({
    createQuote: async (input, tell) => {
      inputs.push(input);
      return tell(anAnswer);
    },
  });
  const { originChainId: fromChainId, destinationChainId: toChainId, ...body } = aQuoteBody;
  const txs = [{ to: "0x01", value: "0x2386f26fc10000", data: "0x" }];
  for (const chains of [
    { fromChainId, toChainId },
    { originChainId: fromChainId, toChainId, fromChainId },
    { originChainId: fromChainId, toChainId, fromChainId: String(fromChainId) },
    { originChainId: fromChainId, toChainId, fromChainId: null },
  ]) {
    const answer = await server.inject({
      method: "POST",
      url: "/quote/v2",
      payload: { ...body, ...chains, txs },
    });
    expect([answer.statusCode, answer.body]).toEqual([200, expect.any(String)]);
    expect(inputs.at(-1)).toMatchObject({ originChainId: fromChainId, destinationChainId: toChainId, txs });
  }
  await server.close();
});

test.for(["/intents/status", "/intents/status/v2"])("%s sends deprecation headers", async (url) => {
  const old = await app.inject({ url: `${url}?requestId=${KNOWN_REQUEST_ID}` });
  expect([old.statusCode, old.headers["deprecation"], old.headers["link"]]).toEqual([
    200,
    "@1793491200",
    expect.stringContaining("</intents/status/v3>"),
  ]);
  const current = await app.inject({ url: `/intents/status/v3?requestId=${KNOWN_REQUEST_ID}` });
  expect(current.headers).not.toHaveProperty("deprecation");
});

test("a quote accepts unknown fields, numbers in place of strings, and a missing trade type", async () => {
  let receivedInput: QuoteInput | undefined;
  const { app: server } = await aServer({
    createQuote: async (input, tell) => {
      receivedInput = input;
      return tell(anAnswer);
    },
  });
  const { tradeType: _, ...body } = aQuoteBody;
  const answer = await server.inject({
    method: "POST",
    url: "/quote/v2",
    payload: {
      ...body,
      slippageTolerance: 50,
      originGasOverhead: "300000",
      protocolVersion: "preferV2",
      amount: "0",
      surprise: { deep: [1] },
      __proto__: null,
    },
  });
  expect(answer.statusCode).toBe(200);
  expect(receivedInput).toEqual({
    ...aQuoteBody,
    amount: "0",
    slippageTolerance: 50,
    originGasOverhead: "300000",
    protocolVersion: "preferV2",
  });
  await server.close();
});

test.for(["/intents/status", "/intents/status/v2", "/intents/status/v3"])(
  "GET %s returns the same status body, regardless of the id's letter case",
  async (url) => {
    const answer = await app.inject({
      url: `${url}?requestId=0x${KNOWN_REQUEST_ID.slice(2).toUpperCase()}&referrer=someone`,
    });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      requestId: KNOWN_REQUEST_ID,
      status: "success",
      inTxHashes: [A_TX_HASH],
      txHashes: [A_TX_HASH],
      refundTxHashes: [],
      updatedAt: aView.updatedAtMs,
      time: aView.updatedAtMs,
      quoteCreatedAt: aView.quoteCreatedAtMs,
      originChainId: 11,
      destinationChainId: 12,
      failReason: "N/A",
      refundFailReason: "N/A",
      final: true,
      fundsAt: "recipient",
      nextAction: "none",
      pollAfterMs: 0,
    });
  },
);

test("status JSON matches its schema with text that needs escaping and with several hashes", () => {
  const view = {
    ...aView,
    status: "failure" as const,
    details: 'Transaction failed: "quoted" \\ line\nbreak 😀 \ud800',
    failReason: "EXECUTION_REVERTED",
    nextAction: "contact_operator" as const,
    txHashes: [],
    inTxHashes: [A_TX_HASH, A_TX_HASH],
  };
  const read = JSON.parse(statusJson(view));
  expect(mismatch(statusAnswer, read)).toBeUndefined();
  expect(read).toMatchObject({ details: view.details, nextAction: view.nextAction, txHashes: [] });
  expect(read.inTxHashes).toEqual([A_TX_HASH, A_TX_HASH]);
});

test("returns 200 for a known status, 404 for an unknown one, and 503 for a failed read", async () => {
  const failing = async (): Promise<never> => {
    throw new ServiceError("SERVICE_UNAVAILABLE", "the database is unreachable");
  };
  const statuses: number[] = [];
  for (const requestStatus of [async () => aView, async () => undefined, failing]) {
    const { app: server } = await aServer({ requestStatus });
    const answer = await server.inject({ url: `/intents/status/v3?requestId=${KNOWN_REQUEST_ID}` });
    statuses.push(answer.statusCode);
    await server.close();
  }
  expect(statuses).toEqual([200, 404, 503]);
});

test("GET /requests/{requestId}/signature returns the agreed terms and the signature, regardless of the id's letter case", async () => {
  const answer = await app.inject({
    url: `/requests/0x${KNOWN_REQUEST_ID.slice(2).toUpperCase()}/signature?referrer=x`,
  });
  expect([answer.statusCode, answer.json()]).toEqual([
    200,
    {
      requestData: {
        originChainId: 11,
        originUser: aSignedRequest.facts.originUser,
        originCurrency: NATIVE_CURRENCY,
        originAmount: "1000000000000000000",
        destinationChainId: 12,
        destinationUser: aSignedRequest.facts.destinationUser,
      },
      signature: aSignedRequest.signature,
    },
  ]);
});

test("GET /requests/{requestId}/signature/v2 has the recipient's currency in place of the amount", async () => {
  const layouts: string[] = [];
  const { app: server } = await aServer({
    requestSignature: async (_, layout) => {
      layouts.push(layout);
      return aSignedRequest;
    },
  });
  const answer = await server.inject({ url: `/requests/${KNOWN_REQUEST_ID}/signature/v2` });
  expect([answer.statusCode, answer.json()]).toEqual([
    200,
    {
      requestData: {
        originChainId: 11,
        originUser: aSignedRequest.facts.originUser,
        originCurrency: NATIVE_CURRENCY,
        destinationChainId: 12,
        destinationUser: aSignedRequest.facts.destinationUser,
        destinationCurrency: NATIVE_CURRENCY,
      },
      signature: aSignedRequest.signature,
    },
  ]);
  await server.inject({ url: `/requests/${KNOWN_REQUEST_ID}/signature` });
  expect(layouts).toEqual(["v2", "v1"]);
});

test("POST /requests/metadata accepts the metadata that clients send for card payments, and says that it is not stored", async () => {
  const answer = await app.inject({
    method: "POST",
    url: "/requests/metadata",
    payload: { requestId: KNOWN_REQUEST_ID, additionalMetadata: { moonPayId: "1" } },
  });
  expect([answer.statusCode, answer.json()]).toEqual([
    200,
    { message: "Metadata accepted; this service does not store it" },
  ]);
});

test("an unknown id has no signature: 404 with the status route's message; an invalid id: 400", async () => {
  const unknown = await app.inject({ url: `/requests/0x${"77".repeat(32)}/signature` });
  expect([unknown.statusCode, unknown.json()]).toEqual([
    404,
    expect.objectContaining({ status: "unknown", errorCode: "REQUEST_NOT_FOUND" }),
  ]);
  const unknownV2 = await app.inject({ url: `/requests/0x${"77".repeat(32)}/signature/v2` });
  expect(unknownV2.statusCode).toBe(404);
  const invalid = await app.inject({ url: "/requests/0x77/signature" });
  expect([invalid.statusCode, invalid.json().errorCode]).toEqual([400, "INVALID_REQUEST"]);
});

test("passes a reported deposit's chain id as a number, and keeps the letter case of its transaction id, because some chains do not use hex", async () => {
  const reports: unknown[] = [];
  const record = async (report: unknown): Promise<{ message: string }> => {
    reports.push(report);
    return { message: "seen" };
  };
  const { app: server } = await aServer({ indexTransaction: record, recordSingleTransaction: record });
  const upper = `0x${A_TX_HASH.slice(2).toUpperCase()}`;
  const otherHash = `0x${"e5".repeat(32)}`;
  const post = (url: string, payload: object) => server.inject({ method: "POST", url, payload });
  const answers = [
    await post("/transactions/index", { txHash: upper, chainId: "11", referrer: "x" }),
    await post("/transactions/index", { txHash: upper, chainId: 11, requestId: KNOWN_REQUEST_ID }),
    await post("/transactions/single", {
      tx: JSON.stringify({ to: "0x1", txHash: otherHash, replacementTxHash: upper }),
      chainId: "11",
      requestId: KNOWN_REQUEST_ID,
    }),
  ];
  expect(answers.map((answer) => [answer.statusCode, answer.body])).toEqual(
    reports.map(() => [200, '{"message":"seen"}']),
  );
  expect(reports).toEqual([
    { chainId: 11, txHash: upper },
    { chainId: 11, txHash: upper, requestId: KNOWN_REQUEST_ID },
    { chainId: 11, txHash: upper, requestId: KNOWN_REQUEST_ID },
  ]);
  await server.close();
});

test("GET /chains returns the same bytes and ETag while the use case returns the same object, and 304 for the ETag", async () => {
  let current = { chains: [] };
  const { app: server } = await aServer({ listChains: () => current });
  const first = await server.inject({ url: "/chains?referrer=a&referrer=b&anything=1" });
  const etag = String(first.headers["etag"]);
  const again = await server.inject({ url: "/chains", headers: { "if-none-match": `W/${etag}, "x"` } });
  expect([first.statusCode, first.json()]).toEqual([200, { chains: [] }]);
  expect([again.statusCode, again.body]).toEqual([304, ""]);
  current = { chains: [], changed: true } as never;
  const after = await server.inject({ url: "/chains", headers: { "if-none-match": etag } });
  expect(after.statusCode).not.toBe(304);
  await server.close();
});

test("an instance that cannot work is alive but not ready: 503 with the reason", async () => {
  const { app: broken } = await aServer({
    readiness: async () => ({ ready: false, chains: {}, checks: { database: "no connection" } }),
  });
  const ready = await broken.inject({ url: "/health/ready" });
  const live = await broken.inject({ url: "/health/live" });
  expect([ready.statusCode, ready.json()]).toEqual([
    503,
    { ready: false, chains: {}, checks: { database: "no connection" } },
  ]);
  expect([live.statusCode, live.json()]).toEqual([200, { status: "ok" }]);
  expect((await app.inject({ url: "/health/ready" })).statusCode).toBe(200);
  await broken.close();
});
