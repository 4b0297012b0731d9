import { ServiceError } from "@causeway/domain";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { PauseAdmin } from "../../payments/policy/pause-admin.ts";
import { runPauses } from "./pause-command.ts";

let [stdout, stderr] = ["", ""];
beforeEach(() => {
  [stdout, stderr] = ["", ""];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => ((stdout += String(text)), true));
  vi.spyOn(process.stderr, "write").mockImplementation((text) => ((stderr += String(text)), true));
});
afterEach(() => void vi.restoreAllMocks());

/** Nothing is paused; the only scope is `all`. */
const admin: PauseAdmin = {
  list: async () => await Promise.resolve([]),
  pause: async (scope, pausedBy, reason) => {
    if (scope !== "all") throw new ServiceError("INVALID_REQUEST", `scope must be all, got ${scope}`);
    return await Promise.resolve({ scope: { kind: "all" }, pausedBy, reason, sinceMs: 0 });
  },
  resume: async (scope) => await Promise.reject(new ServiceError("NOT_FOUND", `${scope} is not paused`)),
};
const run = async (...args: readonly string[]): Promise<number> =>
  await runPauses(args, () => ({ admin, close: async () => await Promise.resolve() }));

test("prints what was paused", async () => {
  expect(await run("pause", "all", "--by", "ann", "--reason", "drill")).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ scope: "all", by: "ann", reason: "drill" });
});

test.each([
  [["pause", "everything", "--by", "ann", "--reason", "drill"], "scope must be all, got everything"],
  [["pause", "all", "--by", "ann"], "pause requires --by <name> and --reason <text>"],
  [["pauses", "all"], "pauses takes no arguments"],
  [["resume", "all", "--by", "ann"], "resume takes no options"],
  [["resume"], "resume requires exactly one scope"],
])("shows the usage for %j", async (args, message) => {
  expect(await run(...args)).toBe(2);
  expect(stderr).toContain(`${message}\nusage:\n  operator pauses`);
});

test("reports a refusal without the usage", async () => {
  expect(await run("resume", "all")).toBe(1);
  expect(stderr).toBe("all is not paused\n");
});
