import { repositoryRoot, workspaceNode } from "@causeway/testkit";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);

/** The URLs of all modules that are loaded when these modules are imported. */
async function loadedFor(...paths: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await run(
    workspaceNode,
    [
      "-C",
      "source",
      join(repositoryRoot, "test/support/loaded-modules.ts"),
      ...paths.map((path) => join(repositoryRoot, path)),
    ],
    { cwd: repositoryRoot, maxBuffer: 64 * 1024 * 1024 },
  );
  return JSON.parse(stdout) as string[];
}

/**
 * Modules that only non-EVM families need. Every process loads address codecs, chain entries and facts, to
 * read addresses and the chain file.
 */
const FOREIGN =
  /node_modules\/(?:\.pnpm\/)?@?(?:solana|scure\+btc-signer|scure\/btc-signer)|(?:chains|families)\/src\/(?:solana|bitcoin|hyperliquid|lighter|tron)\/(?!(?:address-codec|chain-entry|facts)\.ts)/;

test("services with only EVM chains load no module of other families", async () => {
  const loaded = await loadedFor(
    "apps/oracle/src/container.ts",
    "apps/api/src/process/api.ts",
    "apps/api/src/process/worker.ts",
    "apps/api/src/process/context.ts",
  );
  expect(loaded.some((url) => url.endsWith("chains/src/evm/evidence.ts"))).toBe(true);
  expect(loaded.filter((url) => FOREIGN.test(url))).toEqual([]);
});

test("the module check detects a module of another family", async () => {
  const loaded = await loadedFor("packages/chains/src/solana/evidence.ts");
  expect(loaded.some((url) => FOREIGN.test(url))).toBe(true);
});
