import fc from "fast-check";
import { expect, test } from "vitest";
import type { Hex } from "@causeway/domain";
import { lighterCodec } from "./address-codec.ts";

const { encode, decode, transactionIdBytes } = lighterCodec;
const HEX = "0123456789abcdef".split("");
const digits = (length: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...HEX), { minLength: length, maxLength: length }).map((all) => all.join(""));

test("every number of 128 bits has one text and one encoding", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), (index) => {
      const bytes = encode(index.toString()) ?? "0x";
      expect(bytes).toHaveLength(34);
      expect(BigInt(bytes)).toBe(index);
      expect(decode(bytes)).toBe(index.toString());
      expect(decode(bytes.toUpperCase().replace("X", "x") as Hex)).toBe(index.toString());
    }),
  );
});

test("encoding a decoded account gives the same bytes", () => {
  fc.assert(
    fc.property(digits(32), (hex) => {
      expect(encode(decode(`0x${hex}`) ?? "")).toBe(`0x${hex}`);
    }),
  );
});

test("accepts no other text as an account", () => {
  const big = (1n << 128n).toString();
  const malformed = [
    "",
    "-1",
    "+1",
    "01",
    "00",
    "1.0",
    "1e3",
    "0x1",
    " 1",
    "1 ",
    "1\n",
    "١",
    big,
    "9".repeat(39),
    "abc",
  ];
  for (const text of malformed) expect(encode(text), text).toBeUndefined();
  fc.assert(
    fc.property(fc.string(), (text) => {
      const bytes = encode(text);
      if (bytes !== undefined) expect(decode(bytes)).toBe(text);
    }),
  );
});

test("accepts no bytes of another length as an account", () => {
  for (const bytes of [
    "0x",
    `0x${"0".repeat(31)}`,
    `0x${"0".repeat(33)}`,
    `0x${"0".repeat(40)}`,
    "0".repeat(32),
    `0x${"g".repeat(32)}`,
  ])
    expect(decode(bytes as Hex), bytes).toBeUndefined();
});

test("a transaction id is 80 lower-case digits without prefix, and nothing equivalent", () => {
  fc.assert(
    fc.property(digits(80), (id) => {
      expect(transactionIdBytes(id)).toBe(`0x${id}`);
      const malformed = [`0x${id}`, id.slice(1), `${id}0`, ` ${id}`, `${id}\n`];
      if (id.toUpperCase() !== id) malformed.push(id.toUpperCase());
      for (const text of malformed) expect(transactionIdBytes(text), text).toBeUndefined();
    }),
  );
});
