import { expect, test } from "vitest";
import { findRefusedCombination } from "./combinations.ts";
import type { FillPart } from "./combinations.ts";

function refusalOf(payer: "calls" | "transfers", ...parts: readonly FillPart[]): string | undefined {
  const none = { swap: undefined, calls: undefined, execution: undefined, topup: undefined };
  return findRefusedCombination(payer, { ...none, ...Object.fromEntries(parts.map((part) => [part, 0n])) })
    ?.detail;
}

test("allows each part of a fill on an EVM chain, and a swap with each other part but sponsored calls", () => {
  for (const part of ["swap", "calls", "execution", "topup"] as const)
    expect(refusalOf("calls", part), part).toBeUndefined();
  expect(refusalOf("calls", "swap", "calls")).toBeUndefined();
  expect(refusalOf("calls", "swap", "topup")).toBeUndefined();
});

test.each([
  [["execution", "calls"], "destinationChainExecutionData is not supported for a quote with txs"],
  [["execution", "calls", "swap"], "destinationChainExecutionData is not supported for a quote with txs"],
  [
    ["execution", "swap"],
    "destinationChainExecutionData is not supported for a fill with a swap or with topupGas",
  ],
  [
    ["execution", "topup"],
    "destinationChainExecutionData is not supported for a fill with a swap or with topupGas",
  ],
] as const)("refuses %j together on an EVM chain", (parts, detail) => {
  expect(refusalOf("calls", ...parts)).toBe(detail);
});

test("allows only the payment itself on a chain that pays by transfers", () => {
  expect(refusalOf("transfers")).toBeUndefined();
  expect(refusalOf("transfers", "execution", "swap")).toBe(
    "calls are not supported with a fill on a non-EVM chain",
  );
  for (const part of ["swap", "calls", "topup"] as const)
    expect(refusalOf("transfers", part), part).toBe(
      "a fill on a non-EVM chain supports no calls, topupGas or swap",
    );
});
