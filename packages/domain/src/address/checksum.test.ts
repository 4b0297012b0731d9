import { expect, test } from "vitest";
import { hasWrongChecksum } from "./checksum.ts";

const address = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";

test("accepts an address with its checksum, and one in lower or upper case, which has none", () => {
  const digits = address.slice(2);
  for (const text of [address, address.toLowerCase(), `0x${digits.toUpperCase()}`, `0X${digits}`])
    expect(hasWrongChecksum(text), text).toBe(false);
});

test("finds a changed digit, a changed letter and a changed case", () => {
  for (const text of [
    address.replace("45", "46"),
    address.replace("d8dA", "d8dB"),
    address.replace("eEd", "Eed"),
  ])
    expect(hasWrongChecksum(text), text).toBe(true);
});

test("ignores text that is not an address", () => {
  for (const text of ["", "0x12aB", `${address}0`, "usdc"]) expect(hasWrongChecksum(text), text).toBe(false);
});
