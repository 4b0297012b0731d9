import { readFileSync } from "node:fs";
import { encodeAbiParameters, parseAbiParameters } from "viem";
import { expect, test } from "vitest";
import type { Hex } from "../ids/hex.ts";
import { decodeOrderCall, encodeFillContract, encodeOrderCall } from "./order-calls.ts";

const vector = JSON.parse(
  readFileSync(new URL("../../../../test/fixtures/orders/order-03-call-extra.json", import.meta.url), "utf8"),
) as {
  input: { call: { to: Hex; data: Hex; value: string }; extraDataEthereum: { fillContract: Hex } };
  output: { encodedCall: Hex; extraDataEthereum: Hex };
};

test("encodes a call and a fill contract as in the oracle contract's vector", () => {
  const { call, extraDataEthereum } = vector.input;
  expect(encodeOrderCall({ ...call, value: BigInt(call.value) })).toBe(vector.output.encodedCall);
  expect(encodeFillContract(extraDataEthereum.fillContract)).toBe(vector.output.extraDataEthereum);
});

test("encodes call data of any length by the ABI", () => {
  for (const length of [0, 1, 31, 32, 33, 100]) {
    const data: Hex = `0x${"ab".repeat(length)}`;
    const to = vector.input.call.to;
    const tuples = parseAbiParameters("(address to), (bytes data), (uint256 value)");
    expect(encodeOrderCall({ to, data, value: 5n })).toBe(
      encodeAbiParameters(tuples, [{ to }, { data }, { value: 5n }]),
    );
  }
});

test("decodes an encoded call of any length to the same call, and refuses anything else", () => {
  const { to } = vector.input.call;
  for (const length of [0, 1, 31, 32, 33, 32_768])
    for (const value of [0n, 5n, 2n ** 256n - 1n]) {
      const call = { to: to.toLowerCase() as Hex, data: `0x${"ab".repeat(length)}` as const, value };
      expect(decodeOrderCall(encodeOrderCall(call))).toEqual(call);
    }
  const encoded = encodeOrderCall({ to, data: "0xabcd", value: 1n });
  const malformed: Hex[] = [
    "0x",
    "0xabcd",
    `${encoded}00`,
    encoded.slice(0, -2) as Hex,
    `0x1${encoded.slice(3)}`,
  ];
  for (const element of [...malformed, encoded.replace("abcd00", "abcd01") as Hex])
    expect(() => decodeOrderCall(element), element).toThrow();
});

test("refuses a call that no chain could run", () => {
  const to = vector.input.call.to;
  expect(() => encodeOrderCall({ to, data: "0x1", value: 0n })).toThrow(RangeError);
  expect(() => encodeOrderCall({ to, data: "0x", value: 1n << 256n })).toThrow(RangeError);
});
