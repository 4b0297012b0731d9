import { expect, test } from "vitest";
import { runCommand } from "./run-command.ts";

test("a command that times out reports its limit and its usual duration", async () => {
  const { signal } = new AbortController();
  expect(await runCommand(["sleep", "60"], { timeoutMs: 50, typicalSeconds: 2, signal })).toEqual({
    ok: false,
    output: "\nsleep timed out after 0.05 s; it usually takes 2 s\n",
  });
  expect((await runCommand(["sleep", "60"], { timeoutMs: 50, signal })).output).toBe(
    "\nsleep timed out after 0.05 s\n",
  );
});
