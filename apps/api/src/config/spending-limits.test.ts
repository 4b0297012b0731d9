import { ConfigError } from "@causeway/config";
import { expect, test } from "vitest";
import { readSpendingLimits } from "./spending-limits.ts";

const problemsOf = (text: string): readonly string[] => {
  try {
    readSpendingLimits(text, [1, 8453]);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
};

test("reads limits per key and chain", () => {
  const text = `[{"key":"solver","chainId":8453,"transactionUsd":"50000","dayUsd":"250000.5"},{"maxFeePerGasGwei":"300"}]`;
  expect(readSpendingLimits(text, [1, 8453])).toEqual([
    {
      key: "solver",
      chainId: 8453,
      transactionUsd: 50_000n * 10n ** 18n,
      dayUsd: 2_500_005n * 10n ** 17n,
      maxFeePerGasWei: undefined,
    },
    {
      key: undefined,
      chainId: undefined,
      transactionUsd: undefined,
      dayUsd: undefined,
      maxFeePerGasWei: 300n * 10n ** 9n,
    },
  ]);
});

test.for<[string, string]>([
  ["{}", "must be a JSON array of objects"],
  ["[]", "must be a JSON array of objects"],
  ["[1]", "entry 1 must be an object with a limit"],
  [`[{"key":"solver"}]`, "entry 1 must set transactionUsd, dayUsd or maxFeePerGasGwei"],
  [`[{"dayUsd":"1"},{"key":"boss","dayUsd":"1"}]`, "entry 2 key must be one of solver, executor"],
  [`[{"chainId":5,"dayUsd":"1"}]`, "entry 1 chainId must be the id of a configured chain: 1, 8453"],
  [`[{"dayUsd":1000}]`, "entry 1 dayUsd must be a decimal number as text"],
  [`[{"dayUsd":"-1"}]`, "entry 1 dayUsd must be a decimal number as text"],
  [`[{"dailyUsd":"1"}]`, "entry 1 has unknown fields: dailyUsd"],
])("%s is refused: %s", ([text, problem]) => {
  expect(problemsOf(text).join("\n")).toContain(`SPENDING_LIMITS ${problem}`);
});
