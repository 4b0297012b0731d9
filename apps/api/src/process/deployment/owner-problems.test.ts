import { expect, test } from "vitest";
import type { Hex } from "viem";
import { ownerProblems, type PreparedTarget } from "./prepare-deployment.ts";

const owner = `0x${"0a".repeat(20)}` as const;

const targets = (...codes: readonly Hex[]): readonly PreparedTarget[] =>
  codes.map((ownerCode, index) => ({ target: { name: `chain-${index}` }, ownerCode }) as PreparedTarget);

test.each<readonly [name: string, codes: readonly Hex[], refused: readonly string[]]>([
  ["one chain", ["0x60"], []],
  ["the same code everywhere", ["0x60aa", "0x60AA"], []],
  ["an account everywhere", ["0x", "0x"], []],
  ["another contract on one chain", ["0x60", "0x60", "0x61"], ["chain-2"]],
  ["a contract on one chain only", ["0x60", "0x"], ["chain-1"]],
])("the owner must have the same code on all chains: %s", (_, codes, refused) => {
  const problems = ownerProblems(targets(...codes), { owner, canOwnerDiffer: false });
  expect(problems.map((problem) => problem.split(":")[0])).toEqual(refused);
  for (const problem of problems) expect(problem).toContain("add --owner-may-differ");
  expect(ownerProblems(targets(...codes), { owner, canOwnerDiffer: true })).toEqual([]);
});
