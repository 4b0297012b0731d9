import { expect, test } from "vitest";
import { isLocalKey, localPrivateKey } from "./local-keys.ts";

test("recognizes keys of the local system in any letter case", () => {
  expect(localPrivateKey("solver", 0)).not.toBe(localPrivateKey("solver", 1));
  expect(isLocalKey(localPrivateKey("solver", 0))).toBe(true);
  expect(isLocalKey(localPrivateKey("user", 31).toUpperCase().replace("0X", "0x"))).toBe(true);
});

test("recognizes the keys that development nodes print, and no others", () => {
  expect(isLocalKey("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")).toBe(true);
  expect(isLocalKey("0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6")).toBe(true);
  expect(isLocalKey(`0x${"5c".repeat(32)}`)).toBe(false);
});
