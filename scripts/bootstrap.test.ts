import { execFile } from "node:child_process";
import { repositoryRoot } from "@causeway/testkit";
import { expect, test } from "vitest";

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of the repository until it exits. */
async function run(args: readonly string[]): Promise<Ended> {
  return await new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: repositoryRoot, timeout: 120_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
  });
}

/** Makes this Node look like 18: its version, and modules without `import.meta.dirname`. */
const asNode18 = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.8" } });
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.endsWith(".mjs")) return loaded;
      return { ...loaded, source: String(loaded.source).replaceAll("import.meta.dirname", "undefined") };
    },
  });
`)}`;

test("an old Node prints the required version", async () => {
  const ended = await run(["--import", asNode18, "scripts/bootstrap.mjs", "start"]);
  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(ended.stderr).toMatch(/^Node \d+\.\d+ or newer is required.*, got 18\.20\.8\n$/);
});

test("lists the known commands or examples for an unknown one, and exits with code 0 for --help", async () => {
  expect(await run(["scripts/bootstrap.mjs", "strat"])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^usage: .*start\|test\|/),
  });
  expect(await run(["scripts/bootstrap.mjs", "example", "smart"])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^usage: npm run example .*smart-eoa-bridge/),
  });
  expect(await run(["scripts/bootstrap.mjs", "example", "--help"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^usage: npm run example .*smart-eoa-bridge/),
  });
});

test("a program prints its usage for --help, and after the problem for options that it refuses", async () => {
  const check = ["-C", "source", "scripts/check.ts"];
  expect(await run([...check, "--help"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^usage: npm test .*\n.* unit, .* log-secrets\n$/),
    stderr: "",
  });
  for (const [options, problem] of [
    [["--nonsense"], "--nonsense"],
    [["--only", "unit,nonsense"], "unknown step nonsense"],
  ] as const) {
    const { code, stdout, stderr } = await run([...check, ...options]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(new RegExp(`^.*${problem}.*\nusage: npm test`));
  }
});
