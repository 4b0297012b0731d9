import { expect, test } from "vitest";
import type { Hex } from "../ids/hex.ts";
import {
  decodeEvmCallRequest,
  encodeEvmCallRequest,
  evmCallRequestId,
  type EvmCallRequest,
} from "./evm-call-request.ts";

const request: EvmCallRequest = {
  calls: [
    {
      to: "0x9876543210987654321098765432109876543210",
      data: "0x",
      value: 1_000_000_000_000_000_000n,
      allowFailure: false,
    },
  ],
  nonce: 1n,
  expiration: 1_735_680_000n,
};

/** Vector `withdrawal-evm-native`. */
const encoded: Hex = `0x${[
  "20",
  "60",
  "1",
  "67746000",
  "1",
  "20",
  "9876543210987654321098765432109876543210",
  "80",
  "de0b6b3a7640000",
  "0",
  "0",
]
  .map((word) => word.padStart(64, "0"))
  .join("")}`;
const id = "0xd7005099805c5e730f534f546e309475b5611975fadfc9451a96a421b58409f3";

test("the payload of a native withdrawal and its id are those of the public implementation", () => {
  expect(encodeEvmCallRequest(request)).toBe(encoded);
  expect(decodeEvmCallRequest(encoded)).toEqual(request);
  expect(evmCallRequestId(request)).toBe(id);
});

test("a payload has one spelling: longer, shorter, upper-case or differently laid out bytes are none", () => {
  const words = encoded.slice(2).match(/.{64}/g) ?? [];
  expect(decodeEvmCallRequest(`${encoded}${"00".repeat(32)}`)).toBeUndefined();
  expect(decodeEvmCallRequest(encoded.slice(0, -64) as Hex)).toBeUndefined();
  expect(decodeEvmCallRequest(encoded.slice(0, -2) as Hex)).toBeUndefined();
  expect(decodeEvmCallRequest(encoded.replace("de0b6b3", "DE0B6B3") as Hex)).toBeUndefined();
  expect(decodeEvmCallRequest("0x")).toBeUndefined();
  const changed = (index: number, word: string): Hex =>
    `0x${words.with(index, word.padStart(64, "0")).join("")}`;
  // A flag that is 2, and an address with dirt before it.
  expect(decodeEvmCallRequest(changed(9, "2"))).toBeUndefined();
  expect(decodeEvmCallRequest(changed(6, `1${"98".repeat(20)}`))).toBeUndefined();
});

test("every field is part of the id", () => {
  const [call] = request.calls;
  if (call === undefined) throw new Error("no call");
  const ids = [
    request,
    { ...request, nonce: 2n },
    { ...request, expiration: 1n },
    { ...request, calls: [call, call] },
    { ...request, calls: [{ ...call, allowFailure: true }] },
    { ...request, calls: [{ ...call, value: 1n }] },
    { ...request, calls: [{ ...call, data: "0x00" as Hex }] },
  ].map(evmCallRequestId);
  expect(new Set(ids).size).toBe(ids.length);
});
