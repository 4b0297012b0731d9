import { createSign, generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readDerSignature } from "./der-signature.ts";

const read = (hex: string) => readDerSignature(Buffer.from(hex.replaceAll(" ", ""), "hex"));
const FF32 = "ff".repeat(32);

test("parses integers of every length, with the zero that keeps them positive", () => {
  expect(read("30 06 02 01 01 02 01 7f")).toEqual({ r: 1n, s: 127n });
  expect(read("30 08 02 02 00 80 02 02 01 00")).toEqual({ r: 128n, s: 256n });
  expect(read("30 06 02 01 00 02 01 00")).toEqual({ r: 0n, s: 0n });
  expect(read(`30 26 02 01 01 02 21 00 ${FF32}`)).toEqual({ r: 1n, s: 2n ** 256n - 1n });
  expect(read(`30 46 02 21 00 ${FF32} 02 21 00 ${FF32}`)).toEqual({ r: 2n ** 256n - 1n, s: 2n ** 256n - 1n });
});

test("parses DER signatures to the same values as the library that made them", () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "secp256k1" });
  const sign = createSign("sha256").update("x");
  const der = sign.sign(privateKey);
  const integers = readDerSignature(der);
  expect(integers).toBeDefined();
  const width = (value: bigint | undefined) =>
    Buffer.from((value ?? 0n).toString(16).padStart(64, "0"), "hex");
  // DER may drop leading zeros, so compare r and s without their first byte.
  const again = Buffer.concat([width(integers?.r), width(integers?.s)]);
  expect(again.length).toBe(64);
  expect(der.includes(again.subarray(1, 32)) && der.includes(again.subarray(33))).toBe(true);
});

test.each([
  ["nothing", ""],
  ["a tag other than SEQUENCE", "31 06 02 01 01 02 01 01"],
  ["a tag other than INTEGER for r", "30 06 03 01 01 02 01 01"],
  ["a tag other than INTEGER for s", "30 06 02 01 01 04 01 01"],
  ["a sequence length above the actual one", "30 07 02 01 01 02 01 01"],
  ["a sequence length below the actual one", "30 05 02 01 01 02 01 01"],
  ["bytes after the sequence", "30 06 02 01 01 02 01 01 00"],
  ["bytes after s within the sequence", "30 07 02 01 01 02 01 01 00"],
  ["a third integer", "30 09 02 01 01 02 01 01 02 01 01"],
  ["only one integer", "30 06 02 04 01 01 01 01"],
  ["an r beyond the end", "30 06 02 05 01 02 01 01"],
  ["an s beyond the end", "30 06 02 01 01 02 02 01"],
  ["an empty r", "30 06 02 00 02 02 01 01"],
  ["an empty s", "30 06 02 02 01 01 02 00"],
  ["a negative r", "30 06 02 01 80 02 01 01"],
  ["a negative s", "30 06 02 01 01 02 01 ff"],
  ["an unnecessary leading zero", "30 07 02 02 00 01 02 01 01"],
  ["two leading zeros", "30 08 02 03 00 00 80 02 01 01"],
  ["a length in the long form", "30 81 06 02 01 01 02 01 01"],
  ["an integer's length in the long form", "30 07 02 81 01 01 02 01 01"],
  ["an indefinite length", "30 80 02 01 01 02 01 01 00 00"],
  ["an s of 257 bits", `30 26 02 01 01 02 21 01 ${FF32}`],
  ["an s of 34 bytes", `30 27 02 01 01 02 22 00 00 ${FF32}`],
  ["an s of 264 bits", `30 27 02 01 01 02 22 00 ${FF32} ff`],
  ["a signature cut short", `30 46 02 21 00 ${FF32} 02 21 00 ${FF32.slice(2)}`],
])("refuses %s as a signature", (_, hex) => {
  expect(read(hex)).toBeUndefined();
});

test("accepts only the canonical encoding, so that encoding again gives the same bytes", () => {
  const integer = (value: bigint): Buffer => {
    const hex = value.toString(16);
    const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
    const positive = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
    return Buffer.concat([Buffer.from([2, positive.length]), positive]);
  };
  const part = fc.uint8Array({ minLength: 0, maxLength: 35 });
  fc.assert(
    fc.property(part, part, fc.integer({ min: -1, max: 1 }), (r, s, off) => {
      const body = Buffer.concat([Buffer.from([2, r.length]), r, Buffer.from([2, s.length]), s]);
      const der = Buffer.concat([Buffer.from([0x30, body.length + off]), body]);
      const integers = readDerSignature(der);
      if (integers === undefined) return;
      const again = Buffer.concat([integer(integers.r), integer(integers.s)]);
      expect(Buffer.concat([Buffer.from([0x30, again.length]), again])).toEqual(der);
    }),
    { numRuns: 2_000 },
  );
});
