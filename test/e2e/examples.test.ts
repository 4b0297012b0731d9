import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort, repositoryRoot, workspaceNode } from "@causeway/testkit";
import { startSystem, type System } from "@causeway/localnet";
import { afterAll, beforeAll, expect, test } from "vitest";
import { portBaseOf } from "./port-bases.ts";

let system: System;

beforeAll(async () => {
  system = await startSystem({ env: {}, portBase: portBaseOf("examples"), oracles: 0, durable: false });
  await system.sponsorship.funded;
});
afterAll(async () => await system.stop());

/** The end of each example's output. Each example must also exit with code 0. */
const expectedEndings: Readonly<Record<string, RegExp>> = {
  "smart-eoa-bridge": /^Ada has 24\.\d+ USDC on local-b, and still 0 wei on local-a\.$/,
  "permit-bridge": /^Ada has 24\.\d+ USDC on local-b, and has sent no transaction\.$/,
  "account-transfer": /^The friend has 10 USDC, the account 0 USDC\.$/,
  swap: /^The recipient has 0\.00\d+ WETH on local-b\.$/,
  "sdk-bridge": /^The recipient has 24\.\d+ USDC on local-b\.$/,
  webhook: /^The server received \d events for the API key of 0x[0-9a-fA-F]{40}: .*success\.$/,
  "late-deposit": /^0\.00\d+ ETH came back on local-a: TTL_EXPIRED\.$/,
  "sponsored-deposit": /^The newcomer has 0\.00\d+ ETH on local-b\.$/,
  "fast-fill": /^The recipient had 24\.\d+ USDC before the deposit was mined\.$/,
};

/** Runs an example as a reader would: as a separate process that knows only the system's endpoints. */
async function run(
  name: string,
  endpoints: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { PATH: "/usr/bin:/bin", ENDPOINTS: endpoints };
  const program = promisify(execFile)(workspaceNode, [`examples/${name}.ts`], {
    cwd: repositoryRoot,
    env,
    timeout: 100_000,
  });
  return await program.then(
    (output) => ({ code: 0, ...output }),
    (error: unknown) => error as { code: number; stdout: string; stderr: string },
  );
}

for (const [name, ending] of Object.entries(expectedEndings))
  test(`the example ${name} works`, async () => {
    const { code, stdout, stderr } = await run(name, join(system.folder, "endpoints.json"));
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
    expect(stdout.trim().split("\n").at(-1)).toMatch(ending);
  });

test("this file tests every example", async () => {
  const files = await readdir(join(repositoryRoot, "examples"));
  const examples = files.filter((file) => file.endsWith(".ts") && file !== "local-system.ts");
  expect(examples.toSorted()).toEqual(
    Object.keys(expectedEndings)
      .map((name) => `${name}.ts`)
      .toSorted(),
  );
});

test("an example reports in one line that no system is running", async () => {
  const { code, stderr } = await run("account-transfer", "/nowhere/endpoints.json");
  expect(code).toBe(1);
  expect(stderr).toBe("no local system is running; start one with `npm start` in another terminal\n");
});

test.each(["account-transfer", "sdk-bridge"])(
  "the example %s reports in one line that the system has stopped",
  async (name) => {
    const folder = await mkdtemp(join(tmpdir(), "causeway-example-"));
    const file = join(folder, "endpoints.json");
    const text = await readFile(join(system.folder, "endpoints.json"), "utf8");
    const url = `http://127.0.0.1:${await freePort()}`;
    await writeFile(file, text.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, url));
    try {
      expect(await run(name, file)).toMatchObject({
        code: 1,
        stderr: `no local system is running; start one with \`npm start\` in another terminal (no response from ${url})\n`,
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);
