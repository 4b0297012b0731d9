import { expect, test } from "vitest";
import { someAddress } from "../../../../../test/support/terms.ts";
import { nameMemory } from "./name-memory.ts";

test("remembers names for a minute, each on its chain", () => {
  let nowMs = 0;
  const memory = nameMemory(() => nowMs);
  const usdc = { chainId: 1, address: someAddress(), asset: "usdc", symbol: "USDC", wrapsNative: false };
  memory.keep([usdc]);
  nowMs = 60_000;
  expect(memory.find(usdc)).toMatchObject({ symbol: "USDC" });
  expect(memory.find({ ...usdc, chainId: 2 })).toBeUndefined();
  nowMs = 60_001;
  expect(memory.find(usdc)).toBeUndefined();
  memory.keep([{ ...usdc, symbol: "USDC.e" }]);
  expect(memory.find(usdc)).toMatchObject({ symbol: "USDC.e" });
});
