import { expect, test } from "vitest";
import { nativeDecimals } from "./native-decimals.ts";

test("what was paid on a chain that is not configured is not valued by a guess", () => {
  expect(() => nativeDecimals({ profile: () => undefined }, 7)).toThrow("chain 7 is not configured");
});
