import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { generatedSecrets, secretsIn } from "./secrets-in.ts";

const key = `0x${randomBytes(32).toString("hex")}`;

test("finds a known secret anywhere in the text, in any case", () => {
  const secrets = [{ name: "the key", pattern: key.slice(2) }];
  expect(secretsIn(`{"msg":"signed by ${key.toUpperCase()}"}`, secrets)).toEqual(["the key"]);
  expect(secretsIn(`{"msg":"signed by ${key.slice(0, -1)}"}`, secrets)).toEqual([]);
});

test("finds secrets that are not known beforehand by their pattern", () => {
  const apiKey = `cwk_${randomBytes(8).toString("hex")}_${randomBytes(32).toString("base64url")}`;
  expect(secretsIn(`x-api-key: ${apiKey}`, generatedSecrets)).toEqual(["an API key"]);
  expect(secretsIn("connecting to postgres://causeway:hunter2@127.0.0.1/db", generatedSecrets)).toEqual([
    "credentials in a URL",
  ]);
  expect(
    secretsIn(`keyId ${apiKey.slice(0, 20)} at http://127.0.0.1:3000/execute`, generatedSecrets),
  ).toEqual([]);
});
