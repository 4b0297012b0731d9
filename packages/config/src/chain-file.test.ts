import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { getContractAddress, isAddress, type Chain as ViemChain } from "viem";
import * as viemChains from "viem/chains";
import { privateKeyToAddress } from "viem/accounts";
import { afterAll, expect, test } from "vitest";
import { loadChains } from "./chain-file.ts";
import { formatAddress } from "@causeway/families";
import { ConfigError } from "./config-error.ts";
import { localPrivateKey } from "./local-keys.ts";
import { loadFixedPrices } from "./price-file.ts";

const configsDir = resolve(import.meta.dirname, "../../../configs");
const dir = mkdtempSync(join(tmpdir(), "causeway-chains-"));
afterAll(() => rmSync(dir, { recursive: true }));

const bothNodes = {
  LOCAL_A_RPC_URL: "http://127.0.0.1:1",
  LOCAL_B_RPC_URL: "http://127.0.0.1:2",
  LOCAL_SOLANA_RPC_URL: "http://127.0.0.1:3",
  LOCAL_BITCOIN_RPC_URL: "http://127.0.0.1:4",
  LOCAL_BITCOIN_ESPLORA_URL: "http://127.0.0.1:5",
  LOCAL_EXCHANGE_URL: "http://127.0.0.1:6",
};

type Entry = Record<string, unknown> & { tokens: Record<string, unknown>[] };

/** Loads the local chains after `edit` changed the parsed file. */
function loadEdited(edit: (entries: Entry[]) => void, env: Record<string, string> = bothNodes) {
  const entries = JSON.parse(readFileSync(join(configsDir, "chains.local.json"), "utf8")) as Entry[];
  edit(entries);
  writeFileSync(join(dir, "chains.edited.json"), JSON.stringify(entries));
  return loadChains({ environment: "edited", configsDir: dir, env });
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

test("the local file has two chains, with tokens and DEXs at the addresses that the deployer creates", () => {
  const { chains, warnings } = loadChains({ environment: "local", configsDir, env: bothNodes });
  expect(warnings).toEqual([]);
  expect(chains.map((c) => [c.id, c.name, c.rpcUrl, c.publicRpcUrl])).toEqual([
    [72100117, "local-a", "http://127.0.0.1:1", "http://127.0.0.1:1"],
    [72100228, "local-b", "http://127.0.0.1:2", "http://127.0.0.1:2"],
  ]);
  const from = privateKeyToAddress(localPrivateKey("deployer", 0));
  // Nonce 12 adds liquidity to pools. Nonces 0 to 4 and 14 create none of these contracts.
  const created = [5n, 6n, 7n, 8n, 9n, 10n, 11n, 13n, 15n].map((nonce) =>
    getContractAddress({ from, nonce }).toLowerCase(),
  );
  for (const { contracts, tokens, liquidity } of chains) {
    const [usdc, tst, weth, odd] = tokens.map(({ address }) => address);
    const [v3, v2] = liquidity?.sources ?? [];
    if (v3?.kind !== "uniswap-v3" || v2?.kind !== "uniswap-v2")
      throw new TypeError("expected a v3 source, then a v2 source");
    expect(liquidity?.wrappedNative).toBe(weth);
    // A deployment plan determines these addresses, and the local system checks them at its start.
    const { depository, router, approvalProxy, serviceReceiver, multicall3 } = contracts;
    expect(new Set([depository, router, approvalProxy, serviceReceiver, multicall3]).size).toBe(5);
    expect([usdc, tst, weth, odd, v3.factory, v3.router, v3.quoter, v2.factory, v2.router]).toEqual(created);
  }
});

test("converts amounts in the file to integers in base units", () => {
  const [chain] = loadChains({ environment: "local", configsDir, env: bothNodes }).chains;
  expect(chain?.confirmationTiers).toEqual([
    { belowUsd: 1_000n * 10n ** 18n, confirmations: 1 },
    { belowUsd: 10_000n * 10n ** 18n, confirmations: 2 },
    { belowUsd: undefined, confirmations: 4 },
  ]);
  expect(chain?.fees.minPriorityFeeWei).toBe(10_000_000n);
  expect(chain?.fees.flatUsd).toBe(10n ** 16n);
});

test("silently disables a chain with none of its variables set, but reports a required one", () => {
  const env = { ...bothNodes, LOCAL_B_RPC_URL: "", LOCAL_B_WS_URL: "" };
  const { chains, warnings, unconfiguredChains } = loadEdited(() => undefined, env);
  expect(chains.map((c) => c.name)).toEqual(["local-a"]);
  expect(warnings).toEqual([]);
  expect(unconfiguredChains).toContain("local-b");
  const required = problemsOf(() => loadEdited(([, b]) => Object.assign(b ?? {}, { required: true }), env));
  expect(required).toContain("[1] (local-b): required chain is missing variables: LOCAL_B_RPC_URL");
});

test("an unset WebSocket URL disables nothing", () => {
  const { chains } = loadEdited(() => undefined, { ...bothNodes, LOCAL_A_WS_URL: "ws://127.0.0.1:1" });
  expect(chains.map((c) => c.wsRpcUrl)).toEqual(["ws://127.0.0.1:1", undefined]);
});

test("omits an entry with enabled false, but still validates it", () => {
  expect(loadEdited(([a]) => Object.assign(a ?? {}, { enabled: false })).chains.map((c) => c.name)).toEqual([
    "local-b",
  ]);
  expect(
    problemsOf(() => loadEdited(([a]) => Object.assign(a ?? {}, { enabled: false, vmType: "?" }))),
  ).toContain("[0] (local-a).vmType");
});

test("reports all problems of a file at once, each with its path", () => {
  const problems = problemsOf(() =>
    loadEdited(([a, b]) => {
      Object.assign(a ?? {}, { surprise: 1, depository: "0x12", httpRpcUrl: "ftp://x" });
      Object.assign(a?.tokens[0] ?? {}, { class: "shiny", decimals: 6.5 });
      Object.assign(b ?? {}, {
        confirmationTiers: [
          { belowUsd: "10", confirmations: 2 },
          { belowUsd: "5", confirmations: 1 },
          { belowUsd: "50", confirmations: 3 },
        ],
      });
    }),
  );
  for (const part of [
    "surprise",
    "(local-a).depository:",
    "(local-a).httpRpcUrl:",
    "(local-a).tokens[0].class:",
    "(local-a).tokens[0].decimals:",
    "(local-b).confirmationTiers[1]: belowUsd must be greater than in the preceding tier",
    "(local-b).confirmationTiers[1]: confirmations must not be lower than",
    "(local-b).confirmationTiers[2]: the last tier",
  ])
    expect(problems).toContain(part);
});

test("refuses two entries with the same id, chain id, token address or currency id", () => {
  const twice = problemsOf(() =>
    loadEdited(([a, b]) => Object.assign(b ?? {}, { id: a?.["id"], chainId: a?.["chainId"] })),
  );
  expect(twice).toContain("duplicate id local-a");
  expect(twice).toContain("duplicate chainId 72100117");
  const tokens = problemsOf(() => loadEdited(([a]) => a?.tokens.push({ ...a.tokens[0] })));
  expect(tokens).toContain("(local-a).tokens: duplicate address");
  expect(tokens).toContain("(local-a): duplicate currency id usdc");
});

test("refuses an asset with two prices or classes", () => {
  const problems = problemsOf(() =>
    loadEdited(([, b]) => Object.assign(b?.tokens[0] ?? {}, { priceId: "ethereum" })),
  );
  expect(problems).toContain("(local-b): currency usdc has a different priceId or class than on local-a");
});

test("reads the liquidity of a chain, or none if the file has none", () => {
  const { chains } = loadEdited(([a, b]) => {
    const contracts: unknown = a?.["contracts"];
    delete (contracts as Record<string, unknown>)["depositAddressFactory"];
    Object.assign(a ?? {}, {
      liquidity: {
        sources: [{ kind: "uniswap-v2", name: "pairs", factory: `0x${"AB".repeat(20)}`, feeBps: 25 }],
      },
    });
    Object.assign(b?.["contracts"] ?? {}, {
      depositAddressFactory: `0x${"CD".repeat(20)}`,
      formerContracts: [`0x${"EF".repeat(20)}`],
    });
    const former = `0x${"EF".repeat(20)}`;
    Object.assign(b ?? {}, { additionalDepositories: [former, b?.["depository"], former.toLowerCase()] });
    delete b?.["liquidity"];
  });
  const [a, b] = chains;
  expect(a?.liquidity).toEqual({
    wrappedNative: undefined,
    connectors: [],
    sources: [{ kind: "uniswap-v2", name: "pairs", factory: `0x${"ab".repeat(20)}`, feeBps: 25 }],
  });
  expect(a?.contracts).not.toHaveProperty("depositAddressFactory");
  expect(a?.contracts.permit2).toBe("0x000000000022d473030f116ddee9f6b43ac78ba3");
  expect(b?.liquidity).toBeUndefined();
  expect(b?.contracts.depositAddressFactory).toBe(`0x${"cd".repeat(20)}`);
  expect(b?.contracts.formerContracts).toEqual([`0x${"ef".repeat(20)}`]);
  expect(b?.contracts.formerDepositories).toEqual([`0x${"ef".repeat(20)}`]);
});

test("reports each invalid field of pools with its path", () => {
  const problemsWith = (change: object): string =>
    problemsOf(() => loadEdited(([a]) => Object.assign(a?.["liquidity"] ?? {}, change)));
  const native = `0x${"00".repeat(20)}`;
  const factory = `0x${"ab".repeat(20)}`;
  const pairs = { kind: "uniswap-v2", name: "pairs", factory, feeBps: 30 };
  const pools = {
    kind: "uniswap-v3",
    name: "pools",
    factory,
    router: factory,
    routerKind: "swap-router-02",
    quoter: factory,
    feeTiers: [100, 500],
  };
  expect(problemsWith({ sources: [pairs, pools], connectors: [] })).toBe("");
  for (const [change, problem] of [
    [{ wrappedNative: native }, ".liquidity.wrappedNative: must not be the zero address"],
    [{ connectors: [native] }, ".liquidity.connectors[0]: must not be the zero address"],
    [
      { connectors: [factory, factory.toUpperCase().replace("X", "x")] },
      ".liquidity.connectors: duplicate address 0xabab",
    ],
    [{ sources: [pairs, { ...pools, name: "pairs" }] }, ".liquidity.sources: duplicate name pairs"],
    [{ sources: [{ ...pairs, kind: "order-book" }] }, ".liquidity.sources[0].kind:"],
    [{ sources: [{ ...pairs, router: native }] }, ".liquidity.sources[0].router: must not be the zero"],
    [{ sources: [{ ...pairs, feeBps: 10_000 }] }, ".liquidity.sources[0].feeBps:"],
    [{ sources: [{ ...pools, routerKind: "router" }] }, ".liquidity.sources[0].routerKind:"],
    [{ sources: [{ ...pools, feeTiers: [] }] }, ".liquidity.sources[0].feeTiers:"],
    [
      { sources: [{ ...pools, feeTiers: [500, 500] }] },
      ".liquidity.sources[0].feeTiers: must be in ascending order",
    ],
    [{ sources: [{ ...pools, feeTiers: [1_000_000] }] }, ".liquidity.sources[0].feeTiers[0]:"],
  ] as const)
    expect(problemsWith(change)).toContain(`(local-a)${problem}`);
});

test("validates a value from a variable like a literal one, and never shows it", () => {
  const problems = problemsOf(() =>
    loadEdited(() => undefined, { ...bothNodes, LOCAL_A_RPC_URL: "gopher://u:hunter2@x" }),
  );
  expect(problems).toContain("(local-a).httpRpcUrl (LOCAL_A_RPC_URL):");
  expect(problems).not.toContain("hunter2");
  expect(
    problemsOf(() => loadEdited(() => undefined, { ...bothNodes, LOCAL_A_RPC_URL: "$OTHER" })),
  ).toContain("variable contains another placeholder");
});

/** A contract's address with its checksum, and with one digit mistyped. */
const CHECKSUMMED = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
const MISTYPED = CHECKSUMMED.replace("96045", "96046");

test("refuses an address with a wrong checksum, without suggesting a corrected one", () => {
  expect(problemsOf(() => loadEdited(([a]) => Object.assign(a ?? {}, { depository: CHECKSUMMED })))).toBe("");
  expect(problemsOf(() => loadEdited(([a]) => Object.assign(a ?? {}, { depository: MISTYPED })))).toBe(
    "chains.edited.json: [0] (local-a).depository: has an invalid EIP-55 checksum; compare it with its source for a mistyped digit or case",
  );
  const fromVariable = problemsOf(() =>
    loadEdited(([a]) => Object.assign(a?.tokens[0] ?? {}, { address: "$USDC" }), {
      ...bothNodes,
      USDC: MISTYPED,
    }),
  );
  expect(fromVariable).toContain("(local-a).tokens[0].address (USDC): has an invalid EIP-55 checksum");
  const connection = problemsOf(() =>
    loadEdited((entries) =>
      Object.assign(entries.find(({ vmType }) => vmType === "hyperliquid-vm") ?? {}, {
        depository: MISTYPED,
        additionalDepositories: [CHECKSUMMED, MISTYPED],
      }),
    ),
  );
  expect(connection).toMatch(/depository: has an invalid[^]*additionalDepositories\[1\]: has an invalid/);
});

test("problems in the file do not hide problems in its variables", () => {
  const problems = problemsOf(() =>
    loadEdited(([a]) => Object.assign(a ?? {}, { surprise: 1, wsRpcUrl: "$UNSET" }), {
      ...bothNodes,
      LOCAL_A_RPC_URL: "gopher://x",
    }),
  );
  expect(problems.split("\n")).toEqual([
    expect.stringContaining("surprise"),
    expect.stringContaining("(local-a).httpRpcUrl (LOCAL_A_RPC_URL):"),
    expect.stringContaining("(local-a).publicRpcUrl (LOCAL_A_RPC_URL):"),
  ]);
});

test("reports a missing file, invalid JSON and a document that is not an array as problems", () => {
  expect(problemsOf(() => loadChains({ environment: "none", configsDir: dir, env: {} }))).toContain("ENOENT");
  writeFileSync(join(dir, "chains.text.json"), "[");
  expect(problemsOf(() => loadChains({ environment: "text", configsDir: dir, env: {} }))).toContain(
    "invalid JSON",
  );
  writeFileSync(join(dir, "chains.object.json"), "{}");
  expect(problemsOf(() => loadChains({ environment: "object", configsDir: dir, env: {} }))).toContain(
    "an array",
  );
});

/** Loads a file for real networks with a value for every variable that it names. */
function loadWithEveryVariable(environment: string) {
  const text = readFileSync(join(configsDir, `chains.${environment}.json`), "utf8");
  const variables = [...new Set([...text.matchAll(/"\$([A-Z0-9_]+)"/g)].map((m) => m[1] ?? ""))];
  const valueOf = (name: string) =>
    name.endsWith("_WS_URL")
      ? "wss://node.test"
      : name.endsWith("_URL")
        ? "https://node.test"
        : name.startsWith("SOLANA")
          ? "99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2"
          : name.startsWith("BITCOIN")
            ? "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
            : `0x${"12".repeat(20)}`;
  const env = Object.fromEntries(variables.map((name) => [name, valueOf(name)]));
  return loadChains({ environment, configsDir, env });
}

test.each([
  ["mainnets.prod", 7],
  ["testnets.prod", 6],
])("every chain of %s works once its variables are set", (environment, evmChains) => {
  const { chains, nonEvmChains, warnings } = loadWithEveryVariable(environment);
  expect(warnings).toEqual([]);
  expect(chains).toHaveLength(evmChains);
  expect(nonEvmChains.map(({ vmType }) => vmType)).toEqual(["svm", "bvm", "hypevm"]);
  const unset = loadChains({ environment, configsDir, env: {} });
  expect(unset.unconfiguredChains).toHaveLength(evmChains + 3);
  expect(unset.warnings).toEqual([]);

  const viemChainById = new Map<number, ViemChain>(
    Object.values(viemChains).map((chain) => [chain.id, chain]),
  );
  // viem has another chain with the same id.
  viemChainById.set(999, viemChains.hyperEvm);
  for (const chain of chains) {
    const published = viemChainById.get(chain.id);
    expect([chain.native.symbol, chain.explorerUrl, chain.contracts.multicall3], chain.name).toEqual([
      published?.nativeCurrency.symbol,
      published?.blockExplorers?.default.url,
      (
        published?.contracts as { multicall3?: { address: string } } | undefined
      )?.multicall3?.address.toLowerCase(),
    ]);
  }
});

test.each([
  ["mainnets.prod", 50_000],
  ["testnets.prod", 1_000],
])("every currency of %s has a logo, and maxFillAmount is worth about %i USD", (environment, capUsd) => {
  // Prices on the day the caps were set. The tolerance detects a wrong number of zeros.
  const pricesUsd: Record<string, number> = {
    ethereum: 3_300,
    binancecoin: 830,
    "polygon-ecosystem-token": 0.25,
    "usd-coin": 1,
    tether: 1,
    hyperliquid: 35,
    solana: 130,
    bitcoin: 87_000,
  };
  const { chains, nonEvmChains } = loadWithEveryVariable(environment);
  for (const { name, native, tokens } of [...chains, ...nonEvmChains])
    for (const { symbol, decimals, priceId, logoUri, maxFillAmount } of [native, ...tokens]) {
      expect(logoUri, `${name} ${symbol}`).toMatch(/^https:\/\/.+\.png$/);
      const worthUsd = (Number(maxFillAmount) / 10 ** decimals) * (pricesUsd[priceId] ?? 0);
      expect(worthUsd / capUsd, `${name} ${symbol}`).toBeCloseTo(1, 1);
    }
});

test("every currency of the local system has an embedded logo", () => {
  const { chains, nonEvmChains } = loadChains({ environment: "local", configsDir, env: bothNodes });
  for (const { name, native, tokens } of [...chains, ...nonEvmChains])
    for (const { symbol, logoUri } of [native, ...tokens])
      expect(logoUri, `${name} ${symbol}`).toMatch(/^data:image\/svg\+xml,/);
});

test("public nodes, symbols and block times of real networks equal the published ones", () => {
  const viemChainById = new Map<number, ViemChain>(
    Object.values(viemChains).map((chain) => [chain.id, chain]),
  );
  const all = ["mainnets.prod", "testnets.prod"].flatMap((name) => loadWithEveryVariable(name).chains);
  for (const { id, name, publicRpcUrl } of all)
    if (id === 137 || id === 80_002)
      expect(publicRpcUrl, name).toBe(viemChainById.get(id)?.rpcUrls.default.http[0]);
  for (const { name, native, tokens } of all)
    for (const { symbol } of [native, ...tokens])
      expect(symbol, `${name}: user interfaces filter by ASCII`).toMatch(/^[\x20-\x7e]+$/);
  // Confirmation tiers assume this block time: 0.45 s since the Fermi upgrade of BNB Smart Chain.
  for (const { name, blockTimeSeconds } of all.filter(({ id }) => id === 56 || id === 97))
    expect(blockTimeSeconds, name).toBe(0.45);
});

test("every mainnet with pools swaps the native token and its listed tokens through the deployed router", () => {
  const { chains } = loadWithEveryVariable("mainnets.prod");
  // HyperEVM can be origin and destination, but has no swaps.
  const withSwaps = chains.filter(({ id }) => id !== 999);
  expect(withSwaps).toHaveLength(6);
  for (const { name, tokens, contracts, liquidity } of withSwaps) {
    const pools = liquidity?.sources.filter((source) => source.kind === "uniswap-v3") ?? [];
    const oldRouter = "0xe592427a0aece92de3edee1f18e0157c05861564";
    expect(pools, name).toHaveLength(1);
    // The first version of the router was deployed only at this address.
    for (const { router, routerKind } of pools)
      expect(routerKind, name).toBe(router === oldRouter ? "swap-router" : "swap-router-02");
    expect(liquidity?.connectors[0], name).toBe(liquidity?.wrappedNative);
    expect(liquidity?.connectors, name).toEqual(expect.arrayContaining(tokens.map(({ address }) => address)));
    expect(contracts.permit2, name).toBe("0x000000000022d473030f116ddee9f6b43ac78ba3");
  }
});

test("every address in the files has a valid checksum, so that a typo is detected", () => {
  for (const environment of ["local", "mainnets.prod", "testnets.prod"]) {
    const text = readFileSync(join(configsDir, `chains.${environment}.json`), "utf8");
    const addresses = [...text.matchAll(/0x[0-9a-fA-F]{40}/g)].map(([address]) => address);
    expect(addresses.length).toBeGreaterThan(10);
    for (const address of addresses) expect(isAddress(address, { strict: true }), address).toBe(true);
  }
});

test("fixed prices are USD with 18 decimals, and every currency of the local solver has one", () => {
  const prices = loadFixedPrices({ environment: "local", configsDir });
  expect(prices.get("usd-coin")).toBe(10n ** 18n);
  const { chains } = loadChains({ environment: "local", configsDir, env: bothNodes });
  for (const { native, tokens } of chains)
    for (const c of [native, ...tokens]) if (c.supportsBridging) expect(prices.has(c.priceId)).toBe(true);
  writeFileSync(join(dir, "prices.bad.json"), JSON.stringify({ a: 1, b: "0", c: "x", d: "2.5" }));
  const problems = problemsOf(() => loadFixedPrices({ environment: "bad", configsDir: dir }));
  expect(problems.split("\n")).toHaveLength(3);
});

/** The entry of a non-EVM chain in the file for real networks. */
function nonEvmEntryOf(vmType: string): Entry & Record<string, Record<string, unknown>> {
  const text = readFileSync(join(configsDir, "chains.mainnets.prod.json"), "utf8");
  const nonEvmEntry = (JSON.parse(text) as Entry[]).find((entry) => entry["vmType"] === vmType);
  if (nonEvmEntry === undefined) throw new Error(`the file has no ${vmType} chain`);
  return nonEvmEntry as ReturnType<typeof nonEvmEntryOf>;
}

const nonEvmEnv = {
  SOLANA_RPC_URL: "https://node.test",
  SOLANA_DEPOSITORY_PROGRAM: "99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2",
  BITCOIN_RPC_URL: "https://node.test",
  BITCOIN_ESPLORA_URL: "https://node.test",
  BITCOIN_DEPOSITORY_ADDRESS: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
  HYPERLIQUID_API_URL: "https://node.test",
  HYPERLIQUID_DEPOSITORY_ADDRESS: `0x${"AB".repeat(20)}`,
};

test("reads the addresses of a non-EVM chain as bytes, in the format of its family", () => {
  const { chains, nonEvmChains } = loadEdited((entries) => {
    const all = ["solana-vm", "bitcoin-vm", "hyperliquid-vm"].map((vmType) => nonEvmEntryOf(vmType));
    Object.assign(all[1]?.["fees"] ?? {}, { maxSatPerVbyte: 100 });
    entries.splice(0, entries.length, ...all);
  }, nonEvmEnv);
  expect(chains).toEqual([]);
  const [solana, bitcoin, exchange] = nonEvmChains;
  expect(solana).toMatchObject({
    id: 792_703_809,
    vmType: "svm",
    family: "solana-vm",
    native: { address: `0x${"00".repeat(32)}`, decimals: 9, supportsPermit: false },
    fees: { flatUsd: 20_000_000_000_000_000n },
  });
  expect(formatAddress({ vmType: "svm" }, solana?.depository ?? "0x")).toBe(
    nonEvmEnv.SOLANA_DEPOSITORY_PROGRAM,
  );
  expect(solana?.tokens.map(({ address }) => formatAddress({ vmType: "svm" }, address))).toContain(
    "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  );
  expect(bitcoin).toMatchObject({
    id: 8_253_038,
    vmType: "bvm",
    confirmations: 6,
    native: { address: `0x${"00".repeat(20)}` },
    depository: "0x00751e76e8199196d454941c45d1b3a323f1433bd6",
    bitcoin: { network: "mainnet", maxSatPerVbyte: 100 },
  });
  expect(exchange).toMatchObject({
    id: 1_337,
    vmType: "hypevm",
    native: { address: `0x${"00".repeat(16)}`, symbol: "USDC", decimals: 8 },
    depository: `0x${"ab".repeat(20)}`,
    exchange: { profile: "hyperliquid", isTestnet: false, publicApiUrl: "https://api.hyperliquid.xyz" },
  });
  // Perps, spot, and a third-party dex.
  expect(exchange?.tokens.map(({ address }) => address)).toEqual([
    "0x6d1e7cde53ba9467b783cb7c530ce054",
    "0x6d1e7cde53ba9467b783cb7c530ce05478797a",
  ]);
});

test("refuses fields of a non-EVM chain that do not fit its family, with their path", () => {
  const problemsWith = (vmType: string, change: object): string =>
    problemsOf(() =>
      loadEdited((entries) => entries.splice(2, 3, Object.assign(nonEvmEntryOf(vmType), change)), {
        ...bothNodes,
        ...nonEvmEnv,
      }),
    );
  const token = { ...nonEvmEntryOf("solana-vm").tokens[0], id: "other" };
  for (const [vmType, change, problem] of [
    ["solana-vm", { depository: `0x${"ab".repeat(20)}` }, "(solana).depository: must be a solana-vm address"],
    ["bitcoin-vm", { depository: "bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8" }, "(bitcoin).depository:"],
    ["hyperliquid-vm", { depository: `0x${"ab".repeat(16)}` }, "(hyperliquid).depository:"],
    ["solana-vm", { tokens: [{ ...token, address: `0x${"ab".repeat(20)}` }] }, "(solana).tokens[0].address:"],
    ["bitcoin-vm", { tokens: [token] }, "(bitcoin).tokens: must be empty"],
    // Quotes and the watcher would use different numbers of confirmations.
    [
      "bitcoin-vm",
      { confirmations: 12 },
      "(bitcoin).confirmations: must equal additionalData.finalizationBlocks",
    ],
    ["bitcoin-vm", { additionalData: { finalizationBlocks: 12 } }, "(bitcoin).confirmations: must equal"],
    ["bitcoin-vm", { additionalData: {} }, "(bitcoin).additionalData.esploraCompatibleApiUrl: is required"],
    ["hyperliquid-vm", { exchange: undefined }, "(hyperliquid).exchange: is required"],
    ["solana-vm", { exchange: { publicApiUrl: "https://api.test" } }, "(solana).exchange: is supported only"],
    [
      "solana-vm",
      { depositAddressProgram: "1".repeat(32) },
      "(solana).depositAddressProgram: must be a solana-vm address other than the depository",
    ],
    [
      "bitcoin-vm",
      { depositAddressProgram: "4N6SEinFWYmbMSNResckauH2K9EmnkdnRzooPx4xx7xw" },
      "(bitcoin).depositAddressProgram: is supported only on solana-vm",
    ],
    [
      "solana-vm",
      { depositoryRoles: { upgradeAuthority: "none", owner: "none", allocator: "none" } },
      "(solana).depositoryRoles.allocator: must be a solana-vm address, got none",
    ],
    [
      "solana-vm",
      { depositoryRoles: { upgradeAuthority: "me", owner: "none", allocator: "1".repeat(32) } },
      "(solana).depositoryRoles.upgradeAuthority: must be a solana-vm address or none, got me",
    ],
    [
      "bitcoin-vm",
      { depositoryRoles: { upgradeAuthority: "none", owner: "none", allocator: "none" } },
      "(bitcoin).depositoryRoles: is supported only on solana-vm",
    ],
    [
      "solana-vm",
      { fees: { ...nonEvmEntryOf("solana-vm")["fees"], maxSatPerVbyte: 100 } },
      "(solana).fees.maxSatPerVbyte: is supported only on bitcoin-vm",
    ],
    [
      "bitcoin-vm",
      { fees: { ...nonEvmEntryOf("bitcoin-vm")["fees"], maxSatPerVbyte: 501 } },
      "(bitcoin).fees.maxSatPerVbyte: ",
    ],
    ["solana-vm", { contracts: {} }, 'Unrecognized key: "contracts"'],
    ["solana-vm", { chainId: 72_100_117 }, "duplicate chainId 72100117"],
  ] as const)
    expect(problemsWith(vmType, change), problem).toContain(problem);
});

test("disables Bitcoin without an explorer, which payments need", () => {
  const { BITCOIN_ESPLORA_URL: _, ...withoutExplorer } = nonEvmEnv;
  const { nonEvmChains, warnings } = loadEdited((entries) => {
    entries.splice(2, 3, nonEvmEntryOf("bitcoin-vm"));
  }, withoutExplorer);
  expect(nonEvmChains.filter(({ vmType }) => vmType === "bvm")).toEqual([]);
  expect(warnings).toContain("chain bitcoin is disabled; missing variables: BITCOIN_ESPLORA_URL");
});

test("disables a chain with only some variables set, with a warning that names the others", () => {
  const { unconfiguredChains, warnings } = loadEdited(
    ([, b]) => Object.assign(b ?? {}, { wsRpcUrl: "$LOCAL_B_WS_URL" }),
    {
      ...bothNodes,
      LOCAL_B_RPC_URL: "",
      LOCAL_B_WS_URL: "ws://127.0.0.1:1",
    },
  );
  expect(unconfiguredChains).not.toContain("local-b");
  expect(warnings).toEqual(["chain local-b is disabled; missing variables: LOCAL_B_RPC_URL"]);
});

test("an unset variable disables a non-EVM chain; entries of families that only oracles support are skipped", () => {
  const { chains, nonEvmChains, unconfiguredChains } = loadEdited((entries) => {
    entries.splice(2, 3, nonEvmEntryOf("solana-vm"), { id: "tron", vmType: "tron-vm", tokens: [] });
  });
  expect(chains).toHaveLength(2);
  expect(nonEvmChains.filter(({ name }) => name === "solana")).toEqual([]);
  expect(unconfiguredChains).toContain("solana");
});

test("refuses finalizationBlocks without a finalityReason, as oracles do", () => {
  const unreasoned = problemsOf(() =>
    loadEdited(([a]) => Object.assign(a ?? {}, { additionalData: { finalizationBlocks: 10 } })),
  );
  expect(unreasoned).toContain("(local-a).additionalData.finalityReason: required with finalizationBlocks");
});

test("parses a non-EVM entry for the service and for oracles", () => {
  const { nonEvmConfigs, nonEvmChains } = loadEdited(
    (entries) => entries.splice(2, entries.length, nonEvmEntryOf("bitcoin-vm")),
    { ...bothNodes, ...nonEvmEnv },
  );
  expect(nonEvmConfigs.map(({ chain }) => chain)).toEqual(nonEvmChains);
  expect(nonEvmConfigs).toMatchObject([
    {
      chain: { name: "bitcoin", vmType: "bvm" },
      attestation: { name: "bitcoin", bitcoin: { network: "mainnet", esploraUrl: "https://node.test" } },
    },
  ]);
  expect(nonEvmConfigs[0]?.attestation).not.toHaveProperty("profile");
});

test("ignores an invalid entry of a family that only oracles support", () => {
  const broken = { id: "tron", vmType: "tron-vm", httpRpcUrl: "ftp://node.test", tokens: [] };
  const { nonEvmChains } = loadEdited(
    (entries) => entries.splice(2, entries.length, nonEvmEntryOf("solana-vm"), broken),
    { ...bothNodes, ...nonEvmEnv },
  );
  expect(nonEvmChains.map(({ name }) => name)).toEqual(["solana"]);
});

test("a Solana chain works without a swap aggregator, and JSON never contains the aggregator's key", () => {
  const solanaWith = (env: Record<string, string>) =>
    loadEdited((entries) => entries.splice(0, entries.length, nonEvmEntryOf("solana-vm")), {
      ...nonEvmEnv,
      ...env,
    }).nonEvmChains[0];
  const plain = solanaWith({});
  expect(plain).toBeDefined();
  expect(plain?.swapAggregator).toBeUndefined();
  const url = "https://swaps.example.org/swap/v1";
  const swapping = solanaWith({ SOLANA_SWAPS_URL: `${url}/`, SOLANA_SWAPS_API_KEY: "a key" });
  expect(swapping?.swapAggregator).toMatchObject({
    url,
    programs: ["JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4"],
  });
  expect(swapping?.swapAggregator?.apiKey?.reveal()).toBe("a key");
  expect(JSON.stringify(swapping?.swapAggregator)).not.toContain("a key");
});
