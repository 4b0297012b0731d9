import { expect, test } from "vitest";
import { phases, stepNamed } from "./steps.ts";

test.each(phases.flat())(
  "$name may take at least five times its usual $typicalSeconds s",
  ({ typicalSeconds, timeoutMs }) => {
    expect(typicalSeconds).toBeGreaterThan(0);
    expect(timeoutMs).toBeGreaterThanOrEqual(5 * typicalSeconds * 1000);
  },
);

test("an error names the unknown step", () => {
  expect(stepNamed("images").name).toBe("images");
  expect(() => stepNamed("pictures")).toThrow("unknown step: pictures");
});
