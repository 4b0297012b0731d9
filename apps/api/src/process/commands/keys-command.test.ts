import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { runKeys } from "./keys-command.ts";

let stderr = "";
beforeEach(() => {
  stderr = "";
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    stderr += String(text);
    return true;
  });
});
afterEach(() => void vi.restoreAllMocks());

test("names the database when both addresses of its host refuse connections", async () => {
  const refused = () => {
    throw Object.assign(new AggregateError([], ""), { code: "ECONNREFUSED" });
  };
  expect(await runKeys(["list"], refused)).toBe(1);
  expect(stderr).toBe("the database could not be reached: ECONNREFUSED\n");
});
