import { afterAll, expect, test } from "vitest";
import { A_TX_HASH, failing, KNOWN_REQUEST_ID } from "../../../../test/fakes/route-services.ts";
import { aQuoteBody, aServer } from "../../../../test/support/route-server.ts";

const { app } = await aServer();
afterAll(() => app.close());

const without = (key: keyof typeof aQuoteBody): object => ({ ...aQuoteBody, [key]: undefined });
const indexBody = { txHash: A_TX_HASH, chainId: "11" };
const singleBody = {
  tx: JSON.stringify({ txHash: A_TX_HASH }),
  chainId: "11",
  requestId: KNOWN_REQUEST_ID,
};
const tx = { to: "0x01", value: "0", data: "0x" };

interface Case {
  readonly url: string;
  readonly body: unknown;
  readonly message: string;
  readonly code?: string;
}
const quote = (body: object, message: string, code?: string): Case => ({
  url: "/quote/v2",
  body,
  message,
  ...(code === undefined ? {} : { code }),
});
const index = (body: object, message: string): Case => ({ url: "/transactions/index", body, message });
const single = (body: object, message: string): Case => ({ url: "/transactions/single", body, message });
const metadata = (body: object, message: string): Case => ({ url: "/requests/metadata", body, message });

const SLIPPAGE = "INVALID_SLIPPAGE_TOLERANCE";
const cases: Case[] = [
  metadata({ requestId: KNOWN_REQUEST_ID }, "additionalMetadata is required"),
  metadata(
    { requestId: KNOWN_REQUEST_ID, additionalMetadata: {} },
    "additionalMetadata.moonPayId is required",
  ),
  metadata(
    { requestId: "1", additionalMetadata: { moonPayId: "a" } },
    "requestId must be 0x followed by 64 hex digits",
  ),
  quote(without("user"), "user is required"),
  quote(without("originChainId"), "originChainId is required"),
  quote(without("destinationChainId"), "destinationChainId is required"),
  quote(without("originCurrency"), "originCurrency is required"),
  quote(without("destinationCurrency"), "destinationCurrency is required"),
  quote(without("amount"), "amount is required"),
  quote({ ...aQuoteBody, user: 5 }, "user must be a string"),
  quote({ ...aQuoteBody, user: "" }, "user must not be empty"),
  quote({ ...aQuoteBody, user: "x".repeat(129) }, "user must have at most 128 characters"),
  quote({ ...aQuoteBody, referrer: "a\0b" }, "referrer must be valid Unicode without the NUL character"),
  quote({ ...aQuoteBody, referrer: "a\ud800" }, "referrer must be valid Unicode without the NUL character"),
  quote(
    { ...aQuoteBody, excludedSwapSources: Array.from({ length: 65 }, () => "a") },
    "excludedSwapSources must have at most 64 entries",
  ),
  quote(
    { ...aQuoteBody, protocolVersion: "v".repeat(33) },
    "protocolVersion must have at most 32 characters",
  ),
  quote(
    { ...aQuoteBody, additionalData: { note: "x".repeat(4_096) } },
    "additionalData must have at most 4096 characters of JSON; only userPublicKey is read",
  ),
  quote({ ...aQuoteBody, originChainId: "11" }, "originChainId must be an integer chain id"),
  quote({ ...aQuoteBody, originChainId: 1.5 }, "originChainId must be an integer chain id"),
  quote({ ...aQuoteBody, destinationChainId: 0 }, "destinationChainId must be a positive integer chain id"),
  quote({ ...aQuoteBody, amount: 1000 }, "amount must be a string of decimal digits (base units)"),
  quote({ ...aQuoteBody, amount: "1.5" }, "amount must be a string of decimal digits (base units)"),
  quote({ ...aQuoteBody, amount: "-1" }, "amount must be a string of decimal digits (base units)"),
  quote({ ...aQuoteBody, amount: String(2n ** 256n) }, "amount must be below 2^256"),
  quote({ ...aQuoteBody, amount: "9".repeat(79) }, "amount must be below 2^256"),
  quote(
    { ...aQuoteBody, tradeType: "exact" },
    "tradeType must be EXACT_INPUT, EXPECTED_OUTPUT or EXACT_OUTPUT",
  ),
  quote(
    { ...aQuoteBody, slippageTolerance: "10001" },
    "slippageTolerance must be a whole number of bps from 0 to 10000",
    SLIPPAGE,
  ),
  quote(
    { ...aQuoteBody, slippageTolerance: -1 },
    "slippageTolerance must be a whole number of bps from 0 to 10000",
    SLIPPAGE,
  ),
  quote(
    { ...aQuoteBody, slippageTolerance: "1.5" },
    "slippageTolerance must be a whole number of bps from 0 to 10000",
    SLIPPAGE,
  ),
  quote(
    { ...aQuoteBody, slippageTolerance: {} },
    "slippageTolerance must be a whole number of bps from 0 to 10000",
    SLIPPAGE,
  ),
  quote(
    { ...aQuoteBody, latePaymentSlippageTolerance: "x" },
    "latePaymentSlippageTolerance must be a whole number of bps from 0 to 10000",
    SLIPPAGE,
  ),
  quote(
    { ...aQuoteBody, originGasOverhead: "0x10" },
    "originGasOverhead must be a whole number of gas units",
  ),
  quote({ ...aQuoteBody, ttl: -1 }, "ttl must not be negative"),
  quote({ ...aQuoteBody, explicitDeposit: "false" }, "explicitDeposit must be true or false"),
  quote({ ...aQuoteBody, recipient: null }, "recipient must be a string"),
  quote({ ...aQuoteBody, txs: "none" }, "txs must be an array"),
  quote(
    { ...aQuoteBody, txs: [{ ...tx, data: "0xabc" }] },
    "txs[0].data must be 0x followed by an even number of hex digits",
  ),
  quote(
    { ...aQuoteBody, txs: [tx, { ...tx, value: "1e3" }] },
    "txs[1].value must be a whole number of wei: decimal digits, or 0x and hex digits",
  ),
  quote(
    { ...aQuoteBody, appFees: [{ recipient: "0x01", fee: "10001" }] },
    "appFees[0].fee must be a whole number of bps from 0 to 10000",
  ),
  quote({ ...aQuoteBody, fixedRate: "one" }, "fixedRate must be a ratio such as 1:1"),
  quote([], "body must be a JSON object"),
  index({ ...indexBody, txHash: undefined }, "txHash is required"),
  index(
    { ...indexBody, txHash: "0x12" },
    "txHash must be a transaction id of its chain: 0x followed by 64 hex digits, 64 hex digits, or base58",
  ),
  index({ ...indexBody, chainId: undefined }, "chainId is required"),
  index(
    { ...indexBody, chainId: "base" },
    "chainId must be a chain id: an integer, or its digits in a string",
  ),
  index({ ...indexBody, requestId: "1" }, "requestId must be 0x followed by 64 hex digits"),
  single({ ...singleBody, tx: undefined }, "tx is required"),
  single({ ...singleBody, tx: {} }, "tx must be a JSON string of the transaction with its txHash"),
  single({ ...singleBody, tx: "{" }, "tx must be JSON text"),
  single({ ...singleBody, tx: "{}" }, "tx must contain txHash or replacementTxHash"),
  single(
    { ...singleBody, tx: "null" },
    "tx must be the JSON text of an object whose txHash is a transaction id",
  ),
  single(
    { ...singleBody, tx: '{"txHash":"0x1"}' },
    "tx must be the JSON text of an object whose txHash is a transaction id",
  ),
  single({ ...singleBody, requestId: undefined }, "requestId is required"),
  single(
    { ...singleBody, chainId: 1.5 },
    "chainId must be a chain id: an integer, or its digits in a string",
  ),
];

test.for(cases)("$url answers 400: $message", async ({ url, body, message, code = "INVALID_REQUEST" }) => {
  const answer = await app.inject({ method: "POST", url, payload: body as object });
  expect(answer.json()).toMatchObject({ message, errorCode: code, statusCode: 400, error: "Bad Request" });
  expect(answer.statusCode).toBe(400);
});

test("POST /quote refuses the same inputs as POST /quote/v2", async () => {
  const answer = await app.inject({
    method: "POST",
    url: "/quote",
    payload: { ...aQuoteBody, slippageTolerance: "x" },
  });
  expect(answer.json()).toMatchObject({ errorCode: SLIPPAGE, statusCode: 400 });
});

test("all problems of a body are listed with their fields", async () => {
  const answer = await app.inject({
    method: "POST",
    url: "/quote/v2",
    payload: { ...aQuoteBody, user: 1, ttl: "x" },
  });
  expect(answer.json().errorData.problems).toEqual([
    { field: "user", reason: "must be a string" },
    { field: "ttl", reason: "must be a whole number of seconds" },
  ]);
});

test.for(["/intents/status", "/intents/status/v2", "/intents/status/v3"])(
  "%s requires a well-formed requestId",
  async (url) => {
    for (const [query, message] of [
      ["", "requestId is required"],
      ["?requestId=", "requestId must be 0x followed by 64 hex digits"],
      ["?requestId=0x12", "requestId must be 0x followed by 64 hex digits"],
      [
        `?requestId=${KNOWN_REQUEST_ID}&requestId=${KNOWN_REQUEST_ID}`,
        "requestId must be 0x followed by 64 hex digits",
      ],
    ]) {
      const answer = await app.inject({ url: `${url}${query}` });
      expect([answer.statusCode, answer.json()]).toMatchObject([
        400,
        { message, errorCode: "INVALID_REQUEST", statusCode: 400 },
      ]);
    }
  },
);

test("returns 404 with status unknown and the requested id for an unknown request", async () => {
  const requestId = `0x${"00".repeat(32)}`;
  const answer = await app.inject({ url: `/intents/status/v3?requestId=${requestId}` });
  expect(answer.statusCode).toBe(404);
  expect(answer.json()).toEqual({
    message: "Request 0x0000000000000000000000000000000000000000000000000000000000000000 not found",
    errorCode: "REQUEST_NOT_FOUND",
    status: "unknown",
    requestId,
    statusCode: 404,
    error: "Not Found",
  });
});

test("an error of a use case keeps its code, its facts and the status of the code", async () => {
  const failedCallData = { from: "0x01", to: "0x02", data: "0x", value: "0" } as const;
  const requestId = KNOWN_REQUEST_ID;
  for (const [code, status, facts, body] of [
    ["AMOUNT_TOO_LOW", 400, { data: { minimum: "5" } }, { errorData: { minimum: "5" } }],
    [
      "DESTINATION_TX_FAILED",
      400,
      { data: "no", failedCallData, requestId },
      { errorData: "no", failedCallData, requestId },
    ],
    ["PRICE_FETCH_FAILED", 503, {}, { error: "Service Unavailable" }],
  ] as const) {
    const { app: refusing } = await aServer({ createQuote: failing(code, "because", facts) });
    const answer = await refusing.inject({ method: "POST", url: "/quote/v2", payload: aQuoteBody });
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toMatchObject({ message: "because", errorCode: code, statusCode: status, ...body });
    await refusing.close();
  }
});

test("a transaction that no node has seen returns 404, so that the client retries", async () => {
  const { app: unseen } = await aServer({
    indexTransaction: failing("TRANSACTION_NOT_FOUND", "not seen yet"),
  });
  const answer = await unseen.inject({ method: "POST", url: "/transactions/index", payload: indexBody });
  expect([answer.statusCode, answer.json()]).toMatchObject([
    404,
    { message: "not seen yet", errorCode: "TRANSACTION_NOT_FOUND" },
  ]);
  await unseen.close();
});
