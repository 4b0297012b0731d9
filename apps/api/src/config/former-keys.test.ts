import { ConfigError } from "@causeway/config";
import { expect, test } from "vitest";
import { readFormerKeys } from "./former-keys.ts";

const key = (byte: string): string => byte.repeat(32);

test("reads former keys in hex, with or without 0x, and drops duplicates", () => {
  const text = `0x${key("AB")}, ${key("cd")},${key("ab")},`;
  expect(readFormerKeys(text).map((secret) => secret.reveal())).toEqual([`0x${key("ab")}`, `0x${key("cd")}`]);
  expect(readFormerKeys("")).toEqual([]);
});

test("rejects a malformed former key by its position and never prints it", () => {
  expect(() => readFormerKeys(`${key("ab")},0x1234`)).toThrow(ConfigError);
  expect(() => readFormerKeys(`${key("ab")},0x1234`)).toThrow(/entry 2 must be 32 bytes of hex/);
  expect(() => readFormerKeys("0x1234")).not.toThrow(/1234/);
});
