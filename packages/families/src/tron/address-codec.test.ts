import fc from "fast-check";
import { TronWeb, utils } from "tronweb";
import { expect, test } from "vitest";
import { decodeWith, encodeWith } from "../address-codec.ts";
import { tronCodec } from "./address-codec.ts";

// Compares our format of Tron addresses with that of the network's library.

const twenty = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => Buffer.from(bytes).toString("hex"));

test("formats and parses every account like the network's library", () => {
  fc.assert(
    fc.property(twenty, (hex) => {
      const text = decodeWith(tronCodec, `0x41${hex}`);
      expect(text).toBe(TronWeb.address.fromHex(`41${hex}`));
      expect(encodeWith(tronCodec, text)).toBe(`0x${TronWeb.address.toHex(text).toLowerCase()}`);
    }),
  );
});

test("accepts exactly the base58 addresses that the library accepts", () => {
  const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0OIl ".split("");
  const nearly = fc
    .tuple(twenty, fc.nat({ max: 33 }), fc.constantFrom(...alphabet))
    .map(([hex, index, letter]) => {
      const text = TronWeb.address.fromHex(`41${hex}`);
      return `${text.slice(0, index)}${letter}${text.slice(index + 1)}`;
    });
  const random = fc
    .string({ unit: fc.constantFrom(...alphabet), minLength: 33, maxLength: 35 })
    .map((text) => `T${text}`);
  const otherPrefix = twenty.map((hex) =>
    utils.crypto.getBase58CheckAddress([0xa0, ...Buffer.from(hex, "hex")]),
  );
  fc.assert(
    fc.property(fc.oneof(nearly, random, otherPrefix, fc.string()), (text) => {
      // The library also accepts hex addresses.
      const theirs = /^[1-9A-HJ-NP-Za-km-z]{34}$/.test(text) && TronWeb.isAddress(text);
      expect(tronCodec.encode(text) !== undefined).toBe(theirs);
    }),
    { numRuns: 500 },
  );
});
