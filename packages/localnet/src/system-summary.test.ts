import { existsSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, expect, test, vi } from "vitest";
import { localAccount } from "./accounts.ts";
import { repositoryRoot } from "@causeway/testkit";
import { terminalStyle } from "./terminal.ts";
import { systemSummary, type RunningSystem } from "./system-summary.ts";

const oracle = localAccount("oracle", 0).address;
const system: RunningSystem = {
  chains: [],
  families: undefined,
  databaseUrl: "postgresql://someone:secret@127.0.0.1:18510/causeway",
  redisUrl: "redis://:secret@127.0.0.1:18511",
  folder: "/somewhere",
  endpoints: {
    portBase: 18_500,
    pid: 1,
    api: { url: "http://127.0.0.1:18500", wsUrl: "ws://127.0.0.1:18500" },
    apiUrls: ["http://127.0.0.1:18500"],
    chains: [],
    oracles: [{ url: "http://127.0.0.1:18512", address: oracle, apiKey: "key" }],
    apiKeys: [{ id: "1", key: "cw_key", scopes: [], fundingAddress: oracle }],
    accounts: [],
  },
};

/** A terminal, or a pipe. */
function streamOf(isTerminal: boolean) {
  return Object.assign(new PassThrough(), isTerminal && { isTTY: true, getColorDepth: () => 8 });
}

afterEach(() => vi.unstubAllEnvs());

test("prints plain text without a terminal, with all values that users copy in full", () => {
  vi.stubEnv("FORCE_COLOR", undefined);
  const text = systemSummary(system, terminalStyle(streamOf(false))).join("\n");
  expect(text).not.toContain("\u001b");
  expect(text).toMatch(/^ {2}API +http:\/\/127\.0\.0\.1:18500$/m);
  expect(text).toMatch(/^ {2}Documentation +http:\/\/127\.0\.0\.1:18500\/documentation$/m);
  expect(text).toMatch(/^ {2}API key +cw_key /m);
  expect(text).toMatch(/^ {2}npm run -s example smart-eoa-bridge /m);
  expect(text).not.toContain("secret");
  expect(text).not.toContain(oracle);
  expect(text).toContain(`signs as ${oracle.slice(0, 8)}…${oracle.slice(-4)}`);
});

test("every suggested example exists", () => {
  const text = systemSummary(system, terminalStyle(streamOf(false))).join("\n");
  const names = [...text.matchAll(/example ([\w-]+)/g)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(0);
  for (const name of names)
    expect(existsSync(join(repositoryRoot, "examples", `${name}.ts`)), name).toBe(true);
});

test("on a terminal, prints the API, its documentation and the key in bold, and marks results", () => {
  vi.stubEnv("FORCE_COLOR", undefined);
  const style = terminalStyle(streamOf(true));
  const text = systemSummary(system, style).join("\n");
  for (const value of ["http://127.0.0.1:18500", "http://127.0.0.1:18500/documentation", "cw_key"])
    expect(text).toContain(`\u001b[1m${value}\u001b[22m`);
  expect(style.passed("arrived")).toContain("✓ arrived");
  expect(style.failed("did not arrive")).toContain("✗ did not arrive");
});
