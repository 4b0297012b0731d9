import fc from "fast-check";
import { encodeFunctionData, erc20Abi, hashStruct } from "viem";
import { expect, test } from "vitest";
import vector from "../../../../test/fixtures/oracle/withdrawal-evm-native.json" with { type: "json" };
import type { Hex } from "../ids/hex.ts";
import {
  decodeEvmCallRequest,
  encodeEvmCallRequest,
  evmCallRequestId,
  evmWithdrawalPayment,
} from "./evm-call-request.ts";
import type { EvmCall, EvmCallRequest } from "./evm-call-request.ts";

const vectorRequest = vector.input.withdrawal.withdrawal;
const request: EvmCallRequest = {
  calls: vectorRequest.calls.map((call) => ({
    to: call.to as Hex,
    data: call.data as Hex,
    value: BigInt(call.value),
    allowFailure: call.allowFailure,
  })),
  nonce: BigInt(vectorRequest.nonce),
  expiration: BigInt(vectorRequest.expiration),
};
const payload = vector.output.encoded as Hex;

test("encodes the test vector's native withdrawal to the vector's payload and id", () => {
  expect(encodeEvmCallRequest(request)).toBe(payload);
  expect(decodeEvmCallRequest(payload)).toEqual(request);
  expect(evmCallRequestId(request)).toBe(vector.output.withdrawalId);
});

const hex = (minLength: number, maxLength = minLength) =>
  fc
    .uint8Array({ minLength, maxLength })
    .map((bytes): Hex => `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`);
const uint256 = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n });
const aRequest: fc.Arbitrary<EvmCallRequest> = fc.record({
  calls: fc.array(fc.record({ to: hex(20), data: hex(0, 100), value: uint256, allowFailure: fc.boolean() }), {
    maxLength: 3,
  }),
  nonce: uint256,
  expiration: uint256,
});

const types = {
  CallRequest: [
    { name: "calls", type: "Call[]" },
    { name: "nonce", type: "uint256" },
    { name: "expiration", type: "uint256" },
  ],
  Call: [
    { name: "to", type: "address" },
    { name: "data", type: "bytes" },
    { name: "value", type: "uint256" },
    { name: "allowFailure", type: "bool" },
  ],
} as const;

test("decoding a payload returns its request, whose id is viem's struct hash", () => {
  fc.assert(
    fc.property(aRequest, (sample) => {
      expect(decodeEvmCallRequest(encodeEvmCallRequest(sample))).toEqual(sample);
      expect(evmCallRequestId(sample)).toBe(
        hashStruct({ primaryType: "CallRequest", types, data: { ...sample, calls: [...sample.calls] } }),
      );
    }),
  );
});

test("a payload in upper case is the same request", () => {
  expect(decodeEvmCallRequest(`0x${payload.slice(2).toUpperCase()}`)).toEqual(request);
});

test("a payload has one format: no other bytes decode to the request", () => {
  const words = payload.slice(2).match(/.{64}/g)!;
  const withWord = (position: number, word: string): Hex =>
    `0x${words.with(position, word.padStart(64, "0")).join("")}`;
  expect(decodeEvmCallRequest(`${payload}${"0".repeat(64)}`), "bytes after the end").toBeUndefined();
  expect(decodeEvmCallRequest(payload.slice(0, -2) as Hex), "bytes missing").toBeUndefined();
  expect(decodeEvmCallRequest(payload.slice(0, -1) as Hex), "half a byte missing").toBeUndefined();
  expect(decodeEvmCallRequest(`0x${words.slice(1).join("")}`), "no outer tuple").toBeUndefined();
  // Word 6 is the recipient with its 12 bytes of padding, word 9 the flag, word 10 the length of the data.
  expect(
    decodeEvmCallRequest(withWord(6, `1${vectorRequest.calls[0]!.to.slice(2)}`)),
    "dirty address",
  ).toBeUndefined();
  expect(decodeEvmCallRequest(withWord(9, "2")), "a flag of 2").toBeUndefined();
  expect(decodeEvmCallRequest(withWord(10, "1")), "data that is not there").toBeUndefined();
  for (const bad of ["0x", "0x12", "zz", `0x${"ff".repeat(400)}`])
    expect(decodeEvmCallRequest(bad as Hex), bad.slice(0, 8)).toBeUndefined();
});

test("any changed byte gives another request or an error", () => {
  fc.assert(
    fc.property(fc.nat({ max: payload.length - 3 }), fc.integer({ min: 1, max: 15 }), (position, change) => {
      const digit = (Number.parseInt(payload[position + 2]!, 16) ^ change).toString(16);
      const changed = `${payload.slice(0, position + 2)}${digit}${payload.slice(position + 3)}` as Hex;
      const decoded = decodeEvmCallRequest(changed);
      if (decoded !== undefined) expect(evmCallRequestId(decoded)).not.toBe(vector.output.withdrawalId);
    }),
    { numRuns: 500 },
  );
});

test("refuses the same values in another layout", () => {
  const word = (value: bigint) => value.toString(16).padStart(64, "0");
  const request = (...words: bigint[]): Hex => `0x${words.map(word).join("")}`;
  expect(decodeEvmCallRequest(request(0x20n, 0x60n, 2n, 3n, 0n))).toEqual({
    calls: [],
    nonce: 2n,
    expiration: 3n,
  });
  // The empty list of calls starts one word late.
  const gap = request(0x20n, 0x80n, 2n, 3n, 0n, 0n);
  expect(decodeEvmCallRequest(gap)).toBeUndefined();
});

const token: Hex = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48";
const recipient: Hex = "0x9876543210987654321098765432109876543210";
const transfer = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [recipient, 5n] });
const paymentOfCalls = (...calls: Partial<EvmCall>[]) =>
  evmWithdrawalPayment({
    ...request,
    calls: calls.map((call) => ({ to: token, data: transfer, value: 0n, allowFailure: false, ...call })),
  });

test("a request pays the native value of its only call, or its only token transfer", () => {
  expect(evmWithdrawalPayment(request)).toEqual({
    recipient,
    currency: "0x0000000000000000000000000000000000000000",
    amount: 10n ** 18n,
  });
  expect(paymentOfCalls({})).toEqual({ recipient, currency: token, amount: 5n });
});

test("refuses a request that could be executed without paying what it seems to pay", () => {
  const refusal = (...calls: Partial<EvmCall>[]) =>
    (paymentOfCalls(...calls) as { refusal?: string }).refusal;
  expect(refusal()).toBe("a withdrawal must have exactly one call");
  expect(refusal({}, {})).toBe("a withdrawal must have exactly one call");
  expect(refusal({ allowFailure: true })).toBe("the call of a withdrawal must not allow failure");
  expect(refusal({ data: "0x", value: 1n, allowFailure: true })).toBe(
    "the call of a withdrawal must not allow failure",
  );
  expect(refusal({ data: "0x", value: 0n })).toBe("the withdrawal has an amount of 0");
  expect(refusal({ value: 1n })).toBe("a token withdrawal must not send native tokens");
  expect(refusal({ to: "0x0000000000000000000000000000000000000000" })).toBe(
    "the native token has no transfer function",
  );
  const zero = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [recipient, 0n] });
  expect(refusal({ data: zero })).toBe("the withdrawal has an amount of 0");
  const odd: Hex[] = [
    `${transfer}00`,
    transfer.slice(0, -2) as Hex,
    transfer.replace("a9059cbb", "23b872dd") as Hex,
    `0xa9059cbb1${transfer.slice(11)}`,
    "0x00",
    "0xa9059cbb",
  ];
  for (const data of odd)
    expect(refusal({ data }), data).toBe(
      "the call of a withdrawal must be a native payment or a token transfer",
    );
});
