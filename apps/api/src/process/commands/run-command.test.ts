import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { administer, commandLine, DONE, printLine, runCommand, UsageError } from "./run-command.ts";

let [stdout, stderr] = ["", ""];
beforeEach(() => {
  [stdout, stderr] = ["", ""];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => ((stdout += String(text)), true));
  vi.spyOn(process.stderr, "write").mockImplementation((text) => ((stderr += String(text)), true));
});
afterEach(() => void vi.restoreAllMocks());

test("prints the usage only for invalid arguments", async () => {
  const misused = () => Promise.reject(new UsageError("pause requires exactly one scope"));
  expect(await runCommand("  operator pause <scope>\n", misused)).toBe(2);
  expect(stderr).toBe("pause requires exactly one scope\nusage:\n  operator pause <scope>\n");
  stderr = "";
  const failed = () => Promise.reject(new Error("no such pause"));
  expect(await runCommand("  operator pause <scope>\n", failed)).toBe(1);
  expect(stderr).toBe("no such pause\n");
  expect(await runCommand("", failed, () => 3)).toBe(3);
  expect(await runCommand("", () => Promise.resolve(4))).toBe(4);
});

test("reports an unknown option as misuse", () => {
  const config = { args: ["--bogus"], options: { by: { type: "string" } } } as const;
  expect(() => commandLine(config)).toThrow(UsageError);
  expect(commandLine({ ...config, args: ["--by", "me"] }).values).toEqual({ by: "me" });
});

test("closes opened resources, even after a failure, and prints amounts as text", async () => {
  let closed = 0;
  const close = async (): Promise<void> => void (closed += 1);
  const open = () => ({ admin: 5n, close });
  expect(await administer(open, (admin) => Promise.resolve([{ admin }, {}]))).toBe(DONE);
  expect(stdout).toBe('{"admin":"5"}\n{}\n');
  await expect(administer(open, () => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
  expect(closed).toBe(2);
  printLine({ amount: 7n });
  expect(stdout).toContain('{"amount":"7"}\n');
});
