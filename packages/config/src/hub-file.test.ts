import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ConfigError } from "./config-error.ts";
import { loadHub } from "./hub-file.ts";

const configsDir = resolve(import.meta.dirname, "../../../configs");
const dir = mkdtempSync(join(tmpdir(), "causeway-hub-"));
afterAll(() => rmSync(dir, { recursive: true }));

const address = (byte: string) => `0x${byte.repeat(20)}`;
const hub = {
  id: "hub",
  httpRpcUrl: "http://127.0.0.1:1",
  chainId: 537713,
  hubAddress: address("AA"),
  oracleAddress: address("bb"),
};

function load(document: unknown, env: Record<string, string> = {}) {
  writeFileSync(join(dir, "chains.hub.edited.json"), JSON.stringify(document));
  return loadHub({ environment: "edited", configsDir: dir, env });
}

function problemsOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.join("\n");
    throw error;
  }
  return "";
}

test("accepts a hub as an object or the only element of an array, with fields at the top or in additionalData", () => {
  const { hubAddress, oracleAddress, ...top } = hub;
  const expectedHub = {
    name: "hub",
    rpcUrl: "http://127.0.0.1:1",
    chainId: 537713,
    hubAddress: address("aa"),
    oracleAddress: address("bb"),
    oracleMultisigAddress: undefined,
    allocatorAddress: undefined,
    domain: { name: "Oracle", version: "1" },
    settlementKey: "payment",
    fillLeadSeconds: 60,
    finality: { kind: "tag" },
  };
  expect(load(hub)).toEqual({ hub: expectedHub, warnings: [] });
  expect(load([hub]).hub).toEqual(expectedHub);
  const nested = { ...top, additionalData: { hubAddress, oracleAddress, auroraChainId: 1313161554 } };
  expect(load([nested]).hub).toEqual(expectedHub);
  expect(problemsOf(() => load([hub, hub]))).toContain("exactly one hub");
  expect(problemsOf(() => load([]))).toContain("exactly one hub");
});

test("reads a domain and a settlement key other than the defaults", () => {
  const loaded = load({
    ...hub,
    domain: { name: "Other", version: "2" },
    settlementKey: "deposits",
    oracleMultisigAddress: address("cc"),
    allocatorAddress: address("dd"),
    finalizationBlocks: 3,
    finalityReason: "because",
  }).hub;
  expect(loaded).toMatchObject({
    domain: { name: "Other", version: "2" },
    settlementKey: "deposits",
    oracleMultisigAddress: address("cc"),
    allocatorAddress: address("dd"),
    finality: { kind: "depth", blocks: 3n, seconds: 60n },
  });
});

test("reads by how much a fill may precede its deposit, and requires at least the clock tolerance of 60 s", () => {
  expect(load({ ...hub, fillLeadSeconds: 604_800 }).hub.fillLeadSeconds).toBe(604_800);
  expect(load({ ...hub, additionalData: { fillLeadSeconds: 60 } }).hub.fillLeadSeconds).toBe(60);
  for (const wrong of [59, 60.5, "600", 31_536_001])
    expect(problemsOf(() => load({ ...hub, fillLeadSeconds: wrong }))).toContain(".fillLeadSeconds: must be");
});

test("reads the time from which deposits are attested in parts, in seconds; default: never", () => {
  expect(load({ ...hub, depositPartsSince: 0 }).hub.depositPartsSince).toBe(0);
  expect(load({ ...hub, depositPartsSince: 1_800_000_000 }).hub.depositPartsSince).toBe(1_800_000_000);
  expect(load({ ...hub, depositPartsSince: "1800000000" }).hub.depositPartsSince).toBe(1_800_000_000);
  expect(load(hub).hub).not.toHaveProperty("depositPartsSince");
  for (const wrong of [-1, 0.5, "soon", 1_800_000_000_000])
    expect(problemsOf(() => load({ ...hub, depositPartsSince: wrong }))).toContain(
      ".depositPartsSince: must be",
    );
});

test("the templates take depositPartsSince from a variable: 0 would mint old deposits of an existing network twice", () => {
  for (const environment of ["mainnets", "testnets"]) {
    const text = readFileSync(join(configsDir, `chains.hub.${environment}.prod.json`), "utf8");
    expect(JSON.parse(text)).toMatchObject([{ depositPartsSince: "$HUB_DEPOSIT_PARTS_SINCE" }]);
  }
  const unset = load({ ...hub, depositPartsSince: "$HUB_DEPOSIT_PARTS_SINCE" });
  expect(unset.hub).not.toHaveProperty("depositPartsSince");
  expect(unset.warnings).toContain(
    "hub.depositPartsSince is not configured; missing variable: HUB_DEPOSIT_PARTS_SINCE",
  );
});

test("refuses a fillLeadSeconds above 60 if settlementKey is deposits", () => {
  const byDeposits = { ...hub, settlementKey: "deposits" };
  expect(problemsOf(() => load({ ...byDeposits, fillLeadSeconds: 61 }))).toContain(
    'requires settlementKey "payment"',
  );
  expect(load({ ...byDeposits, fillLeadSeconds: 60 }).hub.settlementKey).toBe("deposits");
});

test("reports all problems of a hub at once", () => {
  const problems = problemsOf(() =>
    load({
      ...hub,
      httpRpcUrl: "$HUB_RPC_URL",
      chainId: undefined,
      hubAddress: "0x12",
      settlementKey: "else",
      finalizationBlocks: 3,
    }),
  );
  for (const problem of ["HUB_RPC_URL", ".hubAddress: must be", ".settlementKey: must be"])
    expect(problems).toContain(problem);
  expect(problemsOf(() => load({ ...hub, chainId: undefined, finalizationBlocks: 3 }))).toMatch(
    /chainId[^]*finalityReason/,
  );
});

test("refuses a hub with contradictory fields", () => {
  expect(problemsOf(() => load({ ...hub, hubChainId: "72" }))).toContain(
    "chainId and hubChainId must be equal",
  );
  expect(problemsOf(() => load({ ...hub, hubChainId: "537713" }))).toBe("");
  expect(problemsOf(() => load({ ...hub, allocatorAddress: address("AA") }))).toContain(
    "hubAddress and allocatorAddress must be different addresses",
  );
  expect(problemsOf(() => load({ ...hub, genericMappingAddress: address("BB") }))).toContain(
    "oracleAddress and genericMappingAddress must be different addresses",
  );
});

test("accepts a hub without multisig, allocator and mapping, with a warning", () => {
  const loaded = load({
    ...hub,
    allocatorAddress: "$HUB_ALLOCATOR_ADDRESS",
    genericMappingAddress: "$HUB_GENERIC_MAPPING_ADDRESS",
  });
  expect(loaded.hub.allocatorAddress).toBeUndefined();
  expect(loaded.hub.genericMappingAddress).toBeUndefined();
  expect(loaded.warnings).toEqual([
    "hub.allocatorAddress is not configured; missing variable: HUB_ALLOCATOR_ADDRESS",
    "hub.genericMappingAddress is not configured; missing variable: HUB_GENERIC_MAPPING_ADDRESS",
  ]);
});

test.each(["local", "testnets.prod", "mainnets.prod"])(
  "reads the hub of %s from variables alone",
  (environment) => {
    const env = {
      HUB_RPC_URL: "http://127.0.0.1:1",
      HUB_CHAIN_ID: "72100339",
      HUB_ADDRESS: address("aa"),
      HUB_ORACLE_ADDRESS: address("bb"),
      HUB_ORACLE_MULTISIG_ADDRESS: address("cc"),
      HUB_ALLOCATOR_ADDRESS: address("dd"),
      HUB_GENERIC_MAPPING_ADDRESS: address("EE"),
    };
    expect(loadHub({ environment, configsDir, env }).hub).toMatchObject({
      chainId: 72100339,
      allocatorAddress: address("dd"),
      genericMappingAddress: address("ee"),
    });
  },
);

test("a hub may have several endpoints; a quorum among them is checked", () => {
  const httpRpcUrl = ["http://127.0.0.1:1", "http://127.0.0.1:2", "http://127.0.0.1:3"];
  expect(load({ ...hub, httpRpcUrl, additionalData: { rpcQuorum: 2 } }).hub).toMatchObject({
    rpcUrl: "http://127.0.0.1:1",
    rpcUrls: httpRpcUrl,
    rpcQuorum: 2,
  });
  expect(problemsOf(() => load({ ...hub, httpRpcUrl, rpcQuorum: 4 }))).toContain(
    "at most the number of endpoints",
  );
  expect(problemsOf(() => load({ ...hub, httpRpcUrl: [hub.httpRpcUrl, hub.httpRpcUrl] }))).toContain(
    "lists the same endpoint twice",
  );
  expect(load(hub).hub).not.toHaveProperty("rpcUrls");
});
