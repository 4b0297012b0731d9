import { expect, test } from "vitest";
import { readSetOption } from "./set-option.ts";

test("accepts variables that the API or a worker reads, also from files", () => {
  expect(readSetOption("RATE_LIMITS=on")).toEqual(["RATE_LIMITS", "on"]);
  expect(readSetOption("LOG_LEVEL=a=b")).toEqual(["LOG_LEVEL", "a=b"]);
  expect(readSetOption("OPERATOR_TOKEN_FILE=/run/token")).toEqual(["OPERATOR_TOKEN_FILE", "/run/token"]);
});

test.each([
  [
    "RATE_LIMT=1",
    "--set RATE_LIMT: neither the API nor the worker reads this variable; did you mean RATE_LIMITS?",
  ],
  ["API_KEYS=x", "--set API_KEYS: neither the API nor the worker reads this variable; see docs/CONFIG.md"],
  ["DATABASE_URL=x", "--set cannot change DATABASE_URL, because the local system sets it itself"],
  ["rate=1", "--set expects NAME=VALUE, with a name from docs/CONFIG.md; got rate=1"],
])("refuses %s", (text, problem) => {
  expect(() => readSetOption(text)).toThrow(new Error(problem));
});
