import { encodeErrorResult, parseAbi, RpcRequestError, BaseError } from "viem";
import { expect, test } from "vitest";
import {
  broadcastOutcomeOf,
  isRangeTooLarge,
  isRateLimit,
  isTracingRefused,
  isUnknownBlock,
  nodeRefusalIn,
  simulationOutcomeOf,
} from "./rpc-errors.ts";
import { NodeRefusal, redact } from "@causeway/families";

function refusal(nodeText: string, nodeCode = -32_000, nodeData?: unknown): NodeRefusal {
  return new NodeRefusal({ method: "eth_test", nodeCode, nodeText, nodeData });
}

test.each([
  ["alreadyKnown", "already known"],
  ["alreadyKnown", "transaction already imported"],
  ["alreadyKnown", "AlreadyKnown"],
  ["alreadyKnown", "known transaction: 0x1234"],
  ["alreadyKnown", "Transaction with the same hash was already imported."],
  ["alreadyKnown", "already exists"],
  ["alreadyKnown", "ALREADY_EXISTS: already known"],
  ["nonceTooLow", "Transaction nonce is below sender account nonce"],
  ["nonceTooLow", "Transaction nonce is too low. Try incrementing the nonce."],
  [
    "underpriced",
    "Transaction gas price is too low. There is another transaction with same nonce in the queue.",
  ],
  ["underpriced", "gas tip cap 1, minimum needed 25000000000"],
  ["underpriced", "PRICE_TOO_LOW"],
  ["underpriced", "replacement gas too low, got tip 1, min: 2, got fee 1, min: 2"],
  ["insufficientFunds", "0x1 does not have enough balance to cover transaction costs, need 1, but have 0"],
  ["nonceTooLow", "nonce too low: address 0x00, tx: 0 state: 1"],
  ["nonceTooLow", "nonce too low"],
  ["nonceTooLow", "OldNonce, Current nonce: 5, nonce of rejected tx: 3"],
  ["underpriced", "replacement transaction underpriced"],
  ["underpriced", "transaction underpriced: tip needed 1, tip permitted 0"],
  ["underpriced", "could not replace existing tx"],
  ["underpriced", "ReplacementNotAllowed"],
  ["underpriced", "FeeTooLow, MaxFeePerGas too low"],
  ["underpriced", "max fee per gas less than block base fee: address 0x00"],
  ["insufficientFunds", "insufficient funds for gas * price + value: balance 0, tx cost 1, overshot 1"],
  ["insufficientFunds", "Insufficient funds for gas * price + value"],
  ["insufficientFunds", "InsufficientFunds, Account balance: 0"],
  ["insufficientFunds", "Upfront cost exceeds account balance"],
  ["rejected", "intrinsic gas too low: gas 100, minimum needed 21000"],
  ["rejected", "exceeds block gas limit"],
  ["rejected", "invalid sender"],
  ["rejected", "invalid chain id for signer: have 2 want 1"],
  ["rejected", "rlp: expected input list for types.LegacyTx"],
  ["rejected", "Failed to decode transaction"],
  // Gas limits above the cap of EIP-7825: geth, reth, EDR, Nethermind, Besu.
  ["rejected", "transaction gas limit too high (cap: 16777216, tx: 30000000)"],
  ["rejected", "transaction gas limit is greater than the cap"],
  ["rejected", "transaction gas limit (30000000) is greater than the cap (16777216)"],
  ["rejected", "TxGasLimitCapExceeded: Gas limit 30000000 exceeded cap of 16777216."],
  ["rejected", "Transaction gas limit must be at most 16777216"],
  ["rejected", "authority already reserved"],
  ["rejected", "in-flight transaction limit reached for delegated accounts"],
] as const)("a broadcast answered so is %s: %s", (kind, text) => {
  expect(broadcastOutcomeOf(refusal(text))?.kind).toBe(kind);
});

test.each([
  "txpool is full",
  "Internal error",
  "rate limit exceeded",
  "NonceGap",
  "header not found",
  "timeout",
])("a broadcast answered with %s proves nothing about the bytes", (text) => {
  expect(broadcastOutcomeOf(refusal(text))).toBeUndefined();
});

const errorString = encodeErrorResult({ abi: parseAbi(["error Error(string)"]), args: ["no entry"] });
const panic = encodeErrorResult({ abi: parseAbi(["error Panic(uint256)"]), args: [0x11n] });

test.each([
  ["geth", refusal("execution reverted: no entry", 3, errorString)],
  ["anvil", refusal(`execution reverted: no entry, data: "${errorString}"`, 3, errorString)],
  ["a node that gives the data only in its text", refusal(`execution reverted, data: "${errorString}"`, 3)],
  ["OpenEthereum", refusal("VM execution error.", -32_015, `Reverted ${errorString}`)],
  ["a proxy that nests the data", refusal("execution reverted", 3, { data: errorString })],
])("a revert reported by %s is read with its data and reason", (_, nodeRefusal) => {
  expect(simulationOutcomeOf(nodeRefusal)).toEqual({
    kind: "reverts",
    data: errorString,
    reason: "no entry",
  });
});

test("panics and custom errors get a readable reason", () => {
  expect(simulationOutcomeOf(refusal("execution reverted", 3, panic))).toMatchObject({
    reason: "panic 0x11: arithmetic overflow or underflow",
  });
  expect(simulationOutcomeOf(refusal("execution reverted", 3, "0xdeadbeef"))).toMatchObject({
    reason: "reverted with custom error 0xdeadbeef",
  });
});

test("malformed Error(string) data is still a revert", () => {
  expect(simulationOutcomeOf(refusal("execution reverted", 3, "0x08c379a0ff"))).toMatchObject({
    kind: "reverts",
    data: "0x08c379a0ff",
  });
});

test("a revert about a token's balance is not a lack of native funds", () => {
  const text = "execution reverted: ERC20: transfer amount exceeds balance, insufficient balance";
  expect(simulationOutcomeOf(refusal(text, 3))).toMatchObject({ kind: "reverts", data: "0x" });
});

test.each([
  "insufficient funds for transfer",
  "Insufficient funds for gas * price + value",
  "insufficient sender balance",
  "err: insufficient MaxFeePerGas for sender balance (supplied gas 0)",
])("%s is a lack of native funds, not a revert", (text) => {
  expect(simulationOutcomeOf(refusal(text, -32_003))).toEqual({ kind: "insufficientFunds" });
});

test.each(["gas required exceeds allowance (30000000)", "invalid opcode: INVALID", "EVM error OutOfGas"])(
  "%s means that the call cannot succeed",
  (text) => {
    expect(simulationOutcomeOf(refusal(text))).toMatchObject({ kind: "reverts", data: "0x" });
  },
);

test.each([
  "Internal error",
  "header not found",
  "rate limit exceeded",
  "max fee per gas less than block base fee: address 0x00, maxFeePerGas: 1, baseFee: 2",
  "method handler crashed",
  "request timed out",
])("%s proves nothing about the call", (text) => {
  expect(simulationOutcomeOf(refusal(text))).toBeUndefined();
});

test.each([
  "query returned more than 10000 results",
  "block range is too large",
  "exceed maximum block range: 5000",
  "Log response size exceeded.",
  "eth_getLogs is limited to a 10,000 blocks range",
  "query exceeds max results 20000, retry with the range 1-2",
])("a log query refused with %s may pass with fewer blocks", (text) => {
  expect(isRangeTooLarge(refusal(text))).toBe(true);
});

test.each([
  ["rate limit exceeded: too many requests", -32_005],
  ["Your app has exceeded its compute units per second capacity.", 429],
  ["Monthly capacity limit exceeded. Visit the dashboard to upgrade your scaling policy", 429],
  ["project ID request rate exceeded", -32_005],
  ["daily request count exceeded, request rate limited", -32_005],
  ["50/second request limit reached - reduce calls per second or upgrade your account", -32_007],
  ["15000/minute request limit reached - reduce calls per minute or upgrade your account", -32_008],
  ["daily request limit reached - upgrade your account to continue requests", -32_003],
  ["You've exceeded the RPS limit available on the current plan.", -32_005],
  ["Too many request, try again later", 15],
  ["You've reached the usage limit for your current plan. Please upgrade your tier", 21],
  ["Too Many Requests", -32_029],
  ["over rate limit", -32_016],
  ["Cannot fulfill request", -32_046],
  ["request rate exceeds limit", -32_000],
] as const)(
  "%s is a rate limit: neither a range that is too large nor tracing that is switched off",
  (text, code) => {
    const nodeRefusal = refusal(text, code);
    expect(isRateLimit(nodeRefusal)).toBe(true);
    expect(isRangeTooLarge(nodeRefusal)).toBe(false);
    expect(isTracingRefused(nodeRefusal)).toBe(false);
  },
);

test.each([
  ["query returned more than 10000 results", -32_005],
  ["Too many logs requested. Max logs per response is 20000", -32_005],
  ["requested too many blocks from 1 to 5000, maximum is set to 2048", -32_000],
  ["limit exceeded", -32_005],
  ["Response size limit exceeded", -32_008],
  // Nethermind, Solana
  ["eth_call request was canceled due to enabled timeout.", -32_016],
  ["Minimum context slot has not been reached", -32_016],
  ["transaction gas limit too high (cap: 16777216, tx: 30000000)", -32_000],
] as const)("%s is no rate limit", (text, code) => {
  expect(isRateLimit(refusal(text, code))).toBe(false);
});

test.each([
  // geth, Alchemy, Nethermind, reth, EDR.
  "header not found",
  "header for hash not found",
  "Block 0x1 could not be found",
  "invalid block range params",
  "Received invalid block tag 5000. Latest block number is 10",
  "unknown block",
  "BlockOutOfRangeError: block height is 5 but requested was 9",
])("%s means that the node does not have the block", (text) => {
  expect(isUnknownBlock(refusal(text))).toBe(true);
});

test("finds the node's answer inside viem's errors", () => {
  const inner = new RpcRequestError({
    body: { method: "eth_call" },
    error: { code: 3, message: "execution reverted", data: "0xdeadbeef" },
    url: "the node",
  });
  const foundRefusal = nodeRefusalIn(
    new BaseError("outer", { cause: new BaseError("middle", { cause: inner }) }),
  );
  expect(foundRefusal).toMatchObject({ nodeCode: 3, nodeText: "execution reverted" });
  expect(nodeRefusalIn(new Error("other"))).toBeUndefined();
});

test("removes every URL, and every part of our own URL that may be a key, from foreign text", () => {
  const url = "https://user:hunter22@node.example.org/v3/abcdef0123456789?key=topsecret";
  const text = `upstream ${url} said no to abcdef0123456789 at node.example.org with hunter22 / topsecret`;
  expect(redact(text, url)).not.toMatch(/hunter22|abcdef0123456789|topsecret|node\.example/);
});

test.each([
  "debug_traceCall is not available on the Free tier - upgrade to Pay As You Go, or Enterprise for access.",
  "custom tracers and tracer configurations are not implemented",
  "debug_traceCall is not whitelisted",
  "custom trace methods are disabled",
  "method is not available on freetier",
])("a trace refused with %s means that the node does not trace for us", (text) => {
  expect(isTracingRefused(refusal(text, -32_602))).toBe(true);
});
