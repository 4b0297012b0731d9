import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { runRefund } from "./refund-command.ts";

let stderr = "";
beforeEach(() => {
  stderr = "";
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    stderr += String(text);
    return true;
  });
});
afterEach(() => void vi.restoreAllMocks());

const throwOnOpen = () => {
  throw new Error("opened");
};

test.for([
  ["no deposit", [], "refund requires exactly one deposit id"],
  ["two deposits", ["1", "2"], "refund requires exactly one deposit id"],
  ["an unknown option", ["1", "--force"], "--force"],
  ["a malformed deposit id", ["0x12"], "0x12 is not a deposit id"],
] as const)("refuses %s with the usage and exit code 2", async ([, args, problem]) => {
  expect(await runRefund(args, throwOnOpen)).toBe(2);
  expect(stderr).toContain(problem);
  expect(stderr).toContain("usage:");
});

test("names the database when both addresses of its host refuse connections", async () => {
  const refused = () => {
    throw Object.assign(new AggregateError([], ""), { code: "ECONNREFUSED" });
  };
  expect(await runRefund(["17"], refused)).toBe(1);
  expect(stderr).toBe("the database could not be reached: ECONNREFUSED\n");
});

test.for(["17", `0x${"ab".repeat(32)}`, `0x${"AB".repeat(32)}`, "ab".repeat(32), `0x${"ab".repeat(64)}`])(
  "accepts %s as a deposit id",
  async (name) => {
    expect(await runRefund([name], throwOnOpen)).toBe(1);
    expect(stderr).toBe("opened\n");
  },
);
