import { expect, test } from "vitest";
import { nativeDecimals } from "./native-decimals.ts";

test("refuses to value a payment on a chain that is not configured", () => {
  expect(() => nativeDecimals({ profile: () => undefined }, 7)).toThrow("chain 7 is not configured");
});
