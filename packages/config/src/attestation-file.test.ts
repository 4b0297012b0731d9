import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { hexToBigInt, keccak256, stringToBytes } from "viem";
import { afterAll, expect, test } from "vitest";
import { decodeAddress } from "@causeway/families";
import { loadAttestationChains } from "./attestation-file.ts";
import { loadChains } from "./chain-file.ts";
import { ConfigError } from "./config-error.ts";

const configsDir = resolve(import.meta.dirname, "../../../configs");
const dir = mkdtempSync(join(tmpdir(), "causeway-attestation-"));
afterAll(() => rmSync(dir, { recursive: true }));

const DEPOSITORY = `0x${"AB".repeat(20)}`;
const ROUTER = `0x${"cd".repeat(20)}`;
const PROXY = `0x${"ce".repeat(20)}`;
const evmChain = { id: "base", vmType: "ethereum-vm", chainId: 8453, httpRpcUrl: "http://127.0.0.1:1" };

/** A value for a variable with this name in the files of real networks. */
function valueOf(name: string): string {
  if (name.includes("_WS_")) return "ws://127.0.0.1:1";
  if (/SOLANA.*(PROGRAM|ADDRESS)$/.test(name)) return "99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2";
  if (/BITCOIN.*ADDRESS$/.test(name)) return "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
  return name.endsWith("_ADDRESS") ? ROUTER : `http://127.0.0.1:1/${name}`;
}

function load(entries: unknown, env: Record<string, string> = {}) {
  writeFileSync(join(dir, "chains.edited.json"), JSON.stringify(entries));
  return loadAttestationChains({ environment: "edited", configsDir: dir, env });
}

function problemsOf(read: () => unknown): readonly string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test("reads a chain's name, family, endpoints and contracts, in the format of the family", () => {
  const { chains, warnings } = load(
    [
      {
        ...evmChain,
        httpRpcUrl: ["http://127.0.0.1:1", "$SECOND_RPC_URL"],
        depository: DEPOSITORY,
        contracts: { router: ROUTER, somethingElse: 7 },
        blockTimeSeconds: 2,
        additionalData: { rpcQuorum: 2, isZksyncStack: true, blockstreamClientId: "$NOBODY_SET_THIS" },
        displayName: "$NEITHER_THIS",
      },
    ],
    { SECOND_RPC_URL: "http://127.0.0.1:2" },
  );
  expect(warnings).toEqual([]);
  expect(chains).toEqual([
    {
      name: "base",
      vmType: "ethereum-vm",
      rpcUrls: ["http://127.0.0.1:1", "http://127.0.0.1:2"],
      rpcQuorum: 2,
      depository: DEPOSITORY.toLowerCase(),
      additionalDepositories: [],
      hubChainId: "8453",
      evm: {
        chainId: 8453,
        finality: { kind: "tag" },
        blockTimeSeconds: 2,
        fillContracts: [ROUTER],
        isZksyncStack: true,
      },
    },
  ]);
});

test("numbers a chain of another family by the hash of its name, and keeps its address format", () => {
  const [chain] = load([
    {
      id: "solana",
      vmType: "solana-vm",
      httpRpcUrl: "http://127.0.0.1:1",
      depository: "99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2",
    },
  ]).chains;
  expect(chain).toMatchObject({
    hubChainId: hexToBigInt(keccak256(stringToBytes("solana"))).toString(),
    depository: "99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2",
    evm: undefined,
  });
});

test("requires more than half of several endpoints to agree, unless the file sets a number", () => {
  const urls = ["http://a.test", "http://b.test", "http://c.test", "http://d.test"];
  const quorumOf = (count: number, rpcQuorum?: number) =>
    load([{ ...evmChain, httpRpcUrl: urls.slice(0, count), additionalData: { rpcQuorum } }]).chains[0]
      ?.rpcQuorum;
  expect([1, 2, 3, 4].map((count) => quorumOf(count))).toEqual([1, 2, 2, 3]);
  expect([quorumOf(3, 1), quorumOf(3, 3)]).toEqual([1, 3]);
});

const otherFamilies = {
  "bitcoin-vm": { depository: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4" },
  "solana-vm": { depository: "99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2" },
  "hyperliquid-vm": { depository: ROUTER },
  "lighter-vm": { depository: "7" },
  "tron-vm": { httpRpcUrl: "http://127.0.0.1:1/jsonrpc", depository: "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb" },
};

test.each(Object.entries(otherFamilies))(
  "refuses one chain of family %s with two names, even with another endpoint",
  (vmType, fields) => {
    const entry = { id: "one", vmType, httpRpcUrl: "http://127.0.0.1:1", ...fields };
    expect(load([entry]).chains).toHaveLength(1);
    const url = entry.httpRpcUrl.replace(":1", ":2");
    const twin = { ...entry, id: "two", httpRpcUrl: url };
    expect(problemsOf(() => load([entry, twin])).join()).toMatch(/of two is also used by one/);
  },
);

test("one Bitcoin network with another depository, or with a shared former depository, is the same chain", () => {
  const [bitcoin, solana] = [otherFamilies["bitcoin-vm"], otherFamilies["solana-vm"]].map(
    (fields, index) => ({
      id: "one",
      vmType: index === 0 ? "bitcoin-vm" : "solana-vm",
      httpRpcUrl: "http://127.0.0.1:1",
      ...fields,
    }),
  );
  const moved = { ...bitcoin, id: "two", depository: "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2" };
  expect(problemsOf(() => load([bitcoin, moved])).join()).toContain("bitcoinNetwork mainnet of two");
  const former = {
    ...solana,
    id: "two",
    depository: "Vote111111111111111111111111111111111111111",
    additionalDepositories: [solana?.depository],
  };
  expect(problemsOf(() => load([solana, former])).join()).toContain("solana-vm depository");
  // Two clusters may have the same program address if both set `genesisHash`.
  const [mainnet, devnet] = [
    "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d",
    "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG",
  ].map((genesisHash, index) => ({ ...solana, id: `s${index}`, additionalData: { genesisHash } }));
  expect(load([mainnet, devnet]).chains).toHaveLength(2);
  expect(problemsOf(() => load([mainnet, { ...mainnet, id: "again" }])).join()).toContain("genesisHash");
});

test("refuses one EVM chain with two names, or with another number on the hub, because its deposits would count twice", () => {
  const twice = problemsOf(() => load([evmChain, { ...evmChain, id: "base-two" }])).join();
  expect(twice).toContain("chain id 8453 of base-two is also used by base");
  const renumbered = problemsOf(() => load([{ ...evmChain, hubChainId: "9999" }])).join();
  expect(renumbered).toContain("hubChainId of an EVM chain must equal its chainId");
});

test("a depository of another family must be an address of that family", () => {
  const solana = { id: "solana", vmType: "solana-vm", httpRpcUrl: "http://127.0.0.1:1" };
  expect(problemsOf(() => load([{ ...solana, depository: "not an address" }])).join()).toContain(
    "(solana).depository: must be a solana-vm address",
  );
});

test("accepts hubChainId alone as the number of an EVM chain, as in files of other networks", () => {
  const { chainId: _, ...unnumbered } = evmChain;
  expect(load([{ ...unnumbered, hubChainId: "10" }]).chains[0]).toMatchObject({
    hubChainId: "10",
    evm: { chainId: 10 },
  });
  expect(problemsOf(() => load([unnumbered])).join()).toContain("chainId is missing");
});

test("requires a reason for a depth instead of the finalized tag", () => {
  const deep = (additionalData: unknown) => load([{ ...evmChain, additionalData }]);
  expect(
    deep({ finalizationBlocks: 10, finalizationTime: 20, finalityReason: "because" }).chains[0]?.evm
      ?.finality,
  ).toEqual({ kind: "depth", blocks: 10n, seconds: 20n });
  expect(deep({ finalizationBlocks: 10, finalityReason: "because" }).chains[0]?.evm?.finality).toEqual({
    kind: "depth",
    blocks: 10n,
    seconds: 60n,
  });
  expect(problemsOf(() => deep({ finalizationBlocks: 10 })).join()).toContain("finalityReason: required");
  expect(problemsOf(() => deep({ finalizationTime: 10 })).join()).toContain("requires finalizationBlocks");
});

test("accepts a chain without depository, router or approval proxy, and reports what is then not attested", () => {
  const contracts = { router: "$BASE_ROUTER", approvalProxy: "$BASE_PROXY" };
  const entry = { ...evmChain, depository: "$BASE_DEPOSITORY", contracts };
  const { chains, warnings } = load([entry]);
  expect(chains[0]).toMatchObject({ depository: undefined, evm: { fillContracts: [] } });
  expect(warnings).toEqual([
    "chain base: deposits and withdrawals are not attested; missing variable: BASE_DEPOSITORY",
    "chain base: fills by the router are not attested; missing variable: BASE_ROUTER",
    "chain base: fills by the approval proxy are not attested; missing variable: BASE_PROXY",
  ]);
  const set = { BASE_DEPOSITORY: DEPOSITORY, BASE_ROUTER: ROUTER, BASE_PROXY: PROXY };
  const { chains: whole } = load([entry], set);
  expect(whole[0]).toMatchObject({
    depository: DEPOSITORY.toLowerCase(),
    evm: { fillContracts: [ROUTER.toLowerCase(), PROXY.toLowerCase()] },
  });
});

test("problems in the file do not hide problems in the variables", () => {
  const entry = { ...evmChain, httpRpcUrl: "$BASE_RPC_URL", additionalData: { finalityReason: "" } };
  const problems = problemsOf(() => load([entry], { BASE_RPC_URL: "ftp://a.test" })).join();
  expect(problems).toContain("finalityReason");
  expect(problems).toContain("httpRpcUrl (BASE_RPC_URL): must be an http(s) URL");
});

test("disables a chain with an unset variable, with a warning if another is set, unless it is required", () => {
  const entry = { ...evmChain, httpRpcUrl: "$BASE_RPC_URL" };
  expect(load([entry])).toEqual({ chains: [], warnings: [], unconfiguredChains: ["base"] });
  const partly = { ...entry, depository: "$BASE_DEPOSITORY_ADDRESS" };
  expect(load([partly], { BASE_DEPOSITORY_ADDRESS: `0x${"11".repeat(20)}` })).toEqual({
    chains: [],
    warnings: ["chain base is disabled; missing variables: BASE_RPC_URL"],
    unconfiguredChains: [],
  });
  expect(problemsOf(() => load([{ ...entry, required: true }])).join()).toContain(
    "required chain is missing variables: BASE_RPC_URL",
  );
  expect(load([{ ...evmChain, enabled: false }]).chains).toEqual([]);
  expect(problemsOf(() => load([entry], { BASE_RPC_URL: "$OTHER" })).join()).toContain("another placeholder");
});

test("reports all problems at once, without quoting values", () => {
  const problems = problemsOf(() =>
    load([
      evmChain,
      { ...evmChain, depository: "0xsecretvalue" },
      { id: "mars", vmType: "martian-vm", httpRpcUrl: "ftp://user:secretvalue@host" },
      { ...evmChain, id: "op", chainId: 10, additionalData: { rpcQuorum: 2 } },
      { ...evmChain, id: "dup", chainId: 8453 },
      { ...evmChain, id: "two", chainId: 11, httpRpcUrl: ["http://a.test", "http://a.test"] },
      {
        ...evmChain,
        id: "half",
        chainId: 13,
        httpRpcUrl: ["http://a.test", "http://b.test", "http://c.test", "http://d.test"],
        additionalData: { rpcQuorum: 2 },
      },
      { ...evmChain, id: "zero", chainId: 12, depository: `0x${"00".repeat(20)}` },
    ]),
  );
  expect(problems.join("\n")).not.toContain("secretvalue");
  const expectedProblems = [
    "duplicate id base",
    "(base).depository: must be a 20-byte address",
    "(mars).vmType: must be a chain family supported by this oracle",
    "(mars).httpRpcUrl: must be an http(s) URL",
    "rpcQuorum: must be at most the number of endpoints (1)",
    "duplicate hubChainId 8453 (chain dup)",
    "lists the same endpoint twice",
    "(half).additionalData.rpcQuorum: must be more than half of the endpoints, or 1",
    "(zero).depository: must be a 20-byte address",
  ];
  for (const problem of expectedProblems) expect(problems.join("\n")).toContain(problem);
});

test("a file that is not an array, not JSON or missing is a problem, not a crash", () => {
  expect(problemsOf(() => load({}))).toEqual(["chains.edited.json: must be an array of chains"]);
  expect(problemsOf(() => load([7])).length).toBeGreaterThan(0);
  expect(
    problemsOf(() => loadAttestationChains({ environment: "nowhere", configsDir: dir, env: {} })).join(),
  ).toContain("file is unreadable");
});

test.each(["local", "testnets.prod", "mainnets.prod"])(
  "both services can read the chain file of %s",
  (environment) => {
    const text = readFileSync(join(configsDir, `chains.${environment}.json`), "utf8");
    const env = Object.fromEntries(
      [...text.matchAll(/"\$([A-Z0-9_]+)"/g)].map(([, name = ""]) => [name, valueOf(name)]),
    );
    const { chains } = loadAttestationChains({ environment, configsDir, env });
    const evm = chains.filter(({ vmType }) => vmType === "ethereum-vm");
    const api = loadChains({ environment, configsDir, env });
    expect(evm.map((chain) => [chain.name, chain.evm?.chainId])).toEqual(
      api.chains.map((chain) => [chain.name, chain.id]),
    );
    expect(evm.every((chain) => (chain.evm?.fillContracts.length ?? 0) > 0)).toBe(true);
    // A deposit for the service must also be one for oracles.
    const nonEvmChains = chains.filter(({ vmType }) =>
      ["solana-vm", "bitcoin-vm", "hyperliquid-vm"].includes(vmType),
    );
    expect(nonEvmChains.map(({ name, vmType, depository }) => [name, vmType, depository])).toEqual(
      api.nonEvmChains.map(({ name, family, depository }) => [
        name,
        family,
        decodeAddress(family, depository),
      ]),
    );
    for (const { exchange, name } of api.nonEvmChains) {
      if (exchange === undefined) continue;
      const attested = nonEvmChains.find((chain) => chain.name === name)?.hyperliquid;
      expect([attested?.profile, attested?.usdcTokenId, attested?.network === "Testnet"]).toEqual([
        exchange.profile,
        exchange.usdcTokenId,
        exchange.isTestnet,
      ]);
    }
  },
);

test.each<
  readonly [count: number, rpcQuorum: number | undefined, quorum: number | undefined, problem: string]
>([
  [1, undefined, undefined, ""],
  [2, undefined, 2, ""],
  [3, undefined, 2, ""],
  [3, 3, 3, ""],
  [3, 1, 1, ""],
  [2, 3, undefined, "additionalData.rpcQuorum: must be at most the number of endpoints (2)"],
  [4, 2, undefined, "additionalData.rpcQuorum: must be more than half of the endpoints, or 1"],
])("the API uses all %i endpoints of a list, with rpcQuorum %s", (count, rpcQuorum, quorum, problem) => {
  const entries = JSON.parse(readFileSync(join(configsDir, "chains.local.json"), "utf8")) as Record<
    string,
    unknown
  >[];
  const [first] = entries;
  const urls = Array.from({ length: count }, (_, index) => `http://127.0.0.1:${index + 1}`);
  writeFileSync(
    join(dir, "chains.listed.json"),
    JSON.stringify([
      {
        ...first,
        httpRpcUrl: urls,
        additionalData: {
          ...(first?.["additionalData"] as object | undefined),
          ...(rpcQuorum && { rpcQuorum }),
        },
      },
    ]),
  );
  const env = { LOCAL_A_RPC_URL: "http://127.0.0.1:1" };
  const load = () => loadChains({ environment: "listed", configsDir: dir, env }).chains[0];
  if (problem !== "") {
    expect(load).toThrow(problem);
    return;
  }
  const chain = load();
  expect([chain?.rpcUrl, chain?.rpcUrls, chain?.rpcQuorum]).toEqual([
    urls[0],
    count === 1 ? undefined : urls,
    quorum,
  ]);
});
