import { expect, test } from "vitest";
import { phases, stepNamed } from "./steps.ts";

test.each(phases.flat())(
  "$name may take at least five times its usual $usualSeconds s",
  ({ usualSeconds, timeoutMs }) => {
    expect(usualSeconds).toBeGreaterThan(0);
    expect(timeoutMs).toBeGreaterThanOrEqual(5 * usualSeconds * 1000);
  },
);

test("an unknown step is refused by its name", () => {
  expect(stepNamed("images").name).toBe("images");
  expect(() => stepNamed("pictures")).toThrow("unknown step: pictures");
});
