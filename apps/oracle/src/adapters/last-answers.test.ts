import { expect, test } from "vitest";
import { createLastAnswers } from "./last-answers.ts";

test("counts answers and refusals of a chain's nodes, but neither errors nor retried calls", () => {
  let nowMs = 1_000;
  const answers = createLastAnswers(() => nowMs);
  expect(answers.ofChain("base")).toBeUndefined();
  const call = answers.observe("base");
  for (const outcome of ["fault", "retried"] as const) call("eth_call", outcome, 5);
  expect(answers.ofChain("base")).toBeUndefined();
  for (const outcome of ["ok", "refused"] as const) {
    nowMs += 1_000;
    call("eth_call", outcome, 5);
    expect(answers.ofChain("base")).toBe(nowMs);
  }
  expect(answers.ofChain("optimism")).toBeUndefined();
});
