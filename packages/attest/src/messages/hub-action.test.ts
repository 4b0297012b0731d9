import fc from "fast-check";
import { encodeAbiParameters } from "viem";
import type { Hex } from "@causeway/domain";
import { expect, test } from "vitest";
import vector from "../../../../test/fixtures/oracle/execution-01-actions.json" with { type: "json" };
import { decodeHubAction, encodeHubAction } from "./hub-action.ts";
import type { HubAction } from "./hub-action.ts";

const kinds = ["mint", "burn", "transfer", "fastMint"] as const;
const actions = vector.input.actions.map(({ type, data }) => {
  const fields = data as Record<string, string>;
  const { hubToAddress: to, hubFromAddress: from, hubTokenId, amount, ...rest } = fields;
  return {
    kind: kinds[type],
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    tokenId: BigInt(hubTokenId!),
    amount: BigInt(amount!),
    ...rest,
  } as HubAction;
});

test("encodes and decodes the actions of the contract's vectors", () => {
  expect(actions.map(encodeHubAction)).toEqual(vector.output.encoded);
  for (const [i, encoded] of vector.output.encoded.entries()) {
    expect(decodeHubAction(encoded as Hex)).toEqual(actions[i]);
    expect(decodeHubAction(`0x${encoded.slice(2).toUpperCase()}`)).toEqual(actions[i]);
  }
});

const hex = (minLength: number, maxLength = minLength) =>
  fc
    .uint8Array({ minLength, maxLength })
    .map((bytes): Hex => `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`);
const uint256 = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n });
const token = { tokenId: uint256, amount: uint256 };
const actionArbitrary: fc.Arbitrary<HubAction> = fc.oneof(
  fc.record({ kind: fc.constant("mint" as const), to: hex(20), ...token }),
  fc.record({ kind: fc.constant("burn" as const), from: hex(20), ...token }),
  fc.record({ kind: fc.constant("transfer" as const), from: hex(20), to: hex(20), ...token }),
  fc.record({
    kind: fc.constant("fastMint" as const),
    to: hex(20),
    ...token,
    feeCalculator: hex(20),
    feeCalculatorData: hex(0, 70),
    rateLimiter: hex(20),
    rateLimiterData: hex(0, 70),
  }),
);

test("encoding and decoding returns the same action, and the encoding equals the ABI encoding", () => {
  const types = { mint: 0, burn: 1, transfer: 2, fastMint: 3 };
  fc.assert(
    fc.property(actionArbitrary, (action) => {
      const encoded = encodeHubAction(action);
      expect(decodeHubAction(encoded)).toEqual(action);
      if (action.kind === "fastMint") return;
      const accounts = [...("from" in action ? [action.from] : []), ...("to" in action ? [action.to] : [])];
      expect(encoded).toBe(
        encodeAbiParameters(
          ["uint8", ...accounts.map(() => "address"), "uint256", "uint256"].map((type) => ({ type })),
          [types[action.kind], ...accounts, action.tokenId, action.amount],
        ),
      );
    }),
  );
});

test("refuses bytes that are not exactly an action", () => {
  for (const encoded of vector.output.encoded as Hex[]) {
    const words = encoded.slice(2).match(/.{64}/g)!;
    const withWord = (index: number, word: string): Hex => `0x${words.with(index, word).join("")}`;
    const bad: Hex[] = [
      `${encoded}${"0".repeat(64)}`,
      `${encoded}00`,
      encoded.slice(0, -64) as Hex,
      encoded.slice(0, -1) as Hex,
      encoded.slice(2) as Hex,
      withWord(0, "4".padStart(64, "0")),
      withWord(0, words[0]!.replace(/^0/, "1")),
      withWord(1, words[1]!.replace(/^0/, "1")),
      withWord(1, `${"0".repeat(23)}1${words[1]!.slice(24)}`),
      withWord(3, `g${words[3]!.slice(1)}`),
      `0x${words[0]}`,
      "0x",
    ];
    for (const malformed of bad)
      expect(() => decodeHubAction(malformed), malformed).toThrow("not an action of the hub");
  }
});

test("changing any digit of an encoded action gives another action or an error", () => {
  for (const encoded of vector.output.encoded as Hex[])
    fc.assert(
      fc.property(fc.nat({ max: encoded.length - 3 }), fc.integer({ min: 1, max: 15 }), (index, change) => {
        const digit = (Number.parseInt(encoded[index + 2]!, 16) ^ change).toString(16);
        const changed = `${encoded.slice(0, index + 2)}${digit}${encoded.slice(index + 3)}` as Hex;
        let action: HubAction;
        try {
          action = decodeHubAction(changed);
        } catch {
          return;
        }
        expect(encodeHubAction(action)).toBe(changed);
      }),
      { numRuns: 300 },
    );
});

test("refuses an action whose values do not fit their types", () => {
  const to: Hex = "0x1234567890123456789012345678901234567890";
  expect(() => encodeHubAction({ kind: "mint", to, tokenId: 1n, amount: -1n })).toThrow(RangeError);
  expect(() => encodeHubAction({ kind: "mint", to, tokenId: 1n << 256n, amount: 1n })).toThrow(RangeError);
  for (const account of ["0x12", `${to}00`, to.slice(2), `0x${"g".repeat(40)}`])
    expect(() => encodeHubAction({ kind: "burn", from: account as Hex, tokenId: 1n, amount: 1n })).toThrow(
      RangeError,
    );
});
