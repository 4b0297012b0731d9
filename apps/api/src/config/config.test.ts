import { ConfigError, localPrivateKey, type LocalRole, Secret } from "@causeway/config";
import { defaultFeePolicy } from "@causeway/domain";
import { resolve } from "node:path";
import { inspect } from "node:util";
import { privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { readApiConfig, readWorkerConfig } from "./config.ts";
import { leadWarnings } from "../deposits/fast-fill-deposit-deadline.ts";

const local = {
  ENVIRONMENT: "local",
  CONFIGS_DIR: resolve(import.meta.dirname, "../../../../configs"),
  VAULT_SECRETS_DIR: "/nonexistent",
  DATABASE_URL: "postgres://user:hunter2@127.0.0.1/causeway",
  REDIS_URL: "redis://:hunter2@127.0.0.1",
  SOLVER_PRIVATE_KEY: localPrivateKey("solver", 0),
  PRICE_SOURCE: "fixed",
  LOCAL_A_RPC_URL: "http://127.0.0.1:1",
  LOCAL_B_RPC_URL: "http://127.0.0.1:2",
};

/** One enabled chain of a real environment. */
const production = {
  ...local,
  ENVIRONMENT: "mainnets.prod",
  PRICE_SOURCE: "coingecko",
  SOLVER_PRIVATE_KEY: `0x${"5c".repeat(32)}`,
  ALLOW_SPENDING_KEY_IN_API: "true",
  BASE_RPC_URL: "https://user:hunter2@node.test",
  BASE_DEPOSITORY_ADDRESS: `0x${"11".repeat(20)}`,
  BASE_ROUTER_ADDRESS: `0x${"12".repeat(20)}`,
  BASE_APPROVAL_PROXY_ADDRESS: `0x${"13".repeat(20)}`,
  BASE_RECEIVER_ADDRESS: `0x${"14".repeat(20)}`,
};

function problemsOf(
  env: Record<string, string | undefined>,
  read: typeof readApiConfig = readApiConfig,
): readonly string[] {
  try {
    read(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test("the local environment starts with defaults, and its first chain is the solver's", () => {
  const config = readApiConfig(local);
  expect(config.chains.map((c) => c.name)).toEqual(["local-a", "local-b"]);
  expect(config.solver.chainName).toBe("local-a");
  expect(config.http).toMatchObject({ host: "127.0.0.1", port: 3000, trustProxy: false });
  expect(config.database.poolSize).toBe(16);
});

test("the configuration is frozen at every depth and prints no secret", () => {
  const config = readApiConfig(local);
  expect(() => Object.assign(config.http, { port: 1 })).toThrow(TypeError);
  expect(() => Object.assign(config.chains[0] ?? {}, { disabled: true })).toThrow(TypeError);
  const shown = inspect(config, { depth: 9 });
  expect(shown).not.toContain("hunter2");
  expect(shown).not.toContain(local.SOLVER_PRIVATE_KEY);
  const { orderSigning } = config;
  if (orderSigning?.kind !== "key" || orderSigning.key.source.kind !== "raw") throw new Error("no key");
  expect(orderSigning.key.source.privateKey.reveal()).toBe(local.SOLVER_PRIVATE_KEY);
});

test("production starts with its own key and rejects publicly known keys", () => {
  expect(readApiConfig(production).chains.map((c) => c.name)).toEqual(["base"]);
  const developmentNode = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
  for (const key of [localPrivateKey("solver", 0), localPrivateKey("user", 31), developmentNode]) {
    const problems = problemsOf({ ...production, SOLVER_PRIVATE_KEY: key });
    expect(problems.join()).toContain("publicly known key");
    expect(problems.join()).not.toContain(key);
  }
});

test("reports problems of variables and files together", () => {
  const problems = problemsOf({
    ...local,
    ENVIRONMENT: "mainnets.prod",
    HTTP_PORT: "x",
    DATABASE_URL: "",
  }).join("\n");
  for (const part of [
    "HTTP_PORT",
    "DATABASE_URL",
    "prices.mainnets.prod.json",
    "no chain is enabled",
    "publicly known",
  ])
    expect(problems).toContain(part);
  expect(problemsOf({})).not.toHaveLength(0);
});

test.each([
  ["API", readApiConfig],
  ["worker", readWorkerConfig],
] as const)("the %s reports contradictory settings together with invalid ones", (_process, read) => {
  const problems = problemsOf(
    {
      ...withSettlement,
      // One setting of each group, one of the two chains and the hub are invalid.
      DATABASE_POOL_SIZE: "0",
      HTTP_PORT: "x",
      RATE_LIMITS: "maybe",
      PUSH_MAX_CONNECTIONS: "0",
      SOLVER_FORMER_ADDRESSES: "0x12",
      PRICE_URL: "x",
      FEE_WRAP_BPS: "x",
      SCAN_MAX_BLOCKS: "x",
      ORACLE_SIGNERS: "0x12",
      APP_BALANCE_CONFIRMATIONS: "x",
      PERMIT_MAX_PER_USER: "0",
      LOCAL_B_RPC_URL: "gopher://x",
      HUB_ADDRESS: "0x12",
      // These are invalid only in combination with others.
      OPERATOR_TOKEN: "short",
      METRICS_TOKEN: "short",
      SOLVER_CHAIN_NAME: "base",
      APP_BALANCE_CHAIN_ID: "8453",
      ORACLE_URLS: "ftp://oracle.test",
      TOKEN_LISTS: "http://lists.test/all.json",
      PRICE_MAX_AGE_MS: "10",
      QUOTE_MAX_TTL_SECONDS: "60",
      EXECUTOR_ADDRESS: addressOf("solver"),
      EXECUTOR_PRIVATE_KEY: localPrivateKey("solver", 0),
    },
    read,
  );
  expect(problems.map((problem) => /[A-Z]{2,}_[A-Z_]+/.exec(problem)?.[0])).toEqual([
    "DATABASE_POOL_SIZE",
    "HTTP_PORT",
    "RATE_LIMITS",
    "PUSH_MAX_CONNECTIONS",
    "SOLVER_FORMER_ADDRESSES",
    "PRICE_URL",
    "FEE_WRAP_BPS",
    "SCAN_MAX_BLOCKS",
    "APP_BALANCE_CONFIRMATIONS",
    "PERMIT_MAX_PER_USER",
    "ORACLE_SIGNERS",
    "LOCAL_B_RPC_URL",
    "LOCAL_B_RPC_URL",
    "ORACLE_URLS",
    "HUB_ADDRESS",
    "EXECUTOR_PRIVATE_KEY",
    "QUOTE_MAX_TTL_SECONDS",
    "PRICE_MAX_AGE_MS",
    "OPERATOR_TOKEN",
    "METRICS_TOKEN",
    "TOKEN_LISTS",
    "SOLVER_CHAIN_NAME",
    "APP_BALANCE_CHAIN_ID",
  ]);
});

test("reports an invalid setting once, without the checks that depend on it", () => {
  expect(problemsOf({ ...local, APP_BALANCE_CHAIN_ID: "x", APP_BALANCE_CURRENCY: "none" })).toHaveLength(1);
  expect(
    problemsOf(
      { ...local, SOLVER_FORMER_KEYS: "0x12", SOLVER_FORMER_ADDRESSES: addressOf("user") },
      readWorkerConfig,
    ),
  ).toHaveLength(1);
  // An invalid chain still has a name and an id, and may be the first chain. Both of its URLs come from one
  // variable, so there are two problems.
  const wrongChain = { ...local, LOCAL_A_RPC_URL: "gopher://x", APP_BALANCE_CURRENCY: "none" };
  expect(problemsOf(wrongChain)).toHaveLength(2);
  // The same if it is the only chain.
  const onlyBase = { ...production, BASE_ROUTER_ADDRESS: "0x12" };
  expect(problemsOf({ ...onlyBase, SOLVER_CHAIN_NAME: "nowhere", APP_BALANCE_CHAIN_ID: "5" })).toHaveLength(
    3,
  );
  expect(problemsOf({ ...onlyBase, SOLVER_CHAIN_NAME: "base", APP_BALANCE_CHAIN_ID: "8453" })).toHaveLength(
    1,
  );
  const validNames = { SOLVER_CHAIN_NAME: "local-a", APP_BALANCE_CHAIN_ID: "72100117" };
  expect(problemsOf({ ...wrongChain, ...validNames })).toHaveLength(2);
});

test("READINESS_CHAINS accepts only enabled chains", () => {
  expect(readApiConfig({ ...local, READINESS_CHAINS: "local-a, local-b" }).requiredChains).toEqual([
    "local-a",
    "local-b",
  ]);
  expect(problemsOf({ ...local, READINESS_CHAINS: "local-a,base", HTTP_PORT: "x" })).toEqual([
    expect.stringContaining("HTTP_PORT"),
    "READINESS_CHAINS: base is not an enabled chain",
  ]);
});

test("disables chains without variables silently, and names them if no chain is enabled", () => {
  expect(readApiConfig(local).offChains).not.toContain("local-a");
  const unset = Object.fromEntries(
    Object.keys(local)
      .filter((name) => /RPC_URL|WS_URL/.test(name))
      .map((name) => [name, ""]),
  );
  expect(problemsOf({ ...local, ...unset })).toEqual([
    "no chain is enabled",
    expect.stringMatching(/^disabled because none of their variables is set: local-a, local-b/),
  ]);
});

test("outside the local environment, warns until UNATTRIBUTED_REFUND_AFTER_MS is set", () => {
  const warningsIn = (env: Record<string, string>) =>
    readApiConfig(env).warnings.filter((warning) => warning.startsWith("UNATTRIBUTED_REFUND_AFTER_MS"));
  expect(warningsIn(production)).toEqual([
    expect.stringContaining("set it to 0, which turns these refunds off"),
  ]);
  for (const UNATTRIBUTED_REFUND_AFTER_MS of ["0", "3600000"])
    expect(warningsIn({ ...production, UNATTRIBUTED_REFUND_AFTER_MS })).toEqual([]);
  expect(warningsIn(local)).toEqual([]);
});

test("a typo stops the start if the intended variable is unset, and otherwise causes a warning", () => {
  expect(problemsOf({ ...local, FEE_MAYOR_BPS: "80" })).toEqual([
    "FEE_MAYOR_BPS is set but is not a known setting; rename it to FEE_MAJOR_BPS, or unset it",
  ]);
  expect(readApiConfig({ ...local, FEE_MAYOR_BPS: "80", FEE_MAJOR_BPS: "80" }).warnings).toContain(
    "FEE_MAYOR_BPS is set but is not a known setting; it has no effect",
  );
  // A failed start reports the warnings along with the problems.
  expect(problemsOf({ ...local, SOLVER_PRIVATE_KEY: "", SOLVER_KEY: "x" })).toEqual([
    expect.stringContaining("SOLVER_PRIVATE_KEY is required"),
    "SOLVER_KEY is set but is not a known setting; it has no effect",
  ]);
});

test("a removed setting has no effect and causes a warning with the fixed value", () => {
  const config = readApiConfig({ ...local, TX_STUCK_AFTER_MS: "1" });
  expect(config.engine.stuckAfterMs).toBe(30_000);
  expect(config.warnings).toContain(
    "TX_STUCK_AFTER_MS is set but is no longer a setting; it has no effect, the value is always 30000",
  );
});

test("rejects an address with a wrong checksum and names its variable", () => {
  const wrong = privateKeyToAddress(localPrivateKey("user", 1)).replace(/[a-f]/, (letter) =>
    letter.toUpperCase(),
  );
  const problem = "has an invalid EIP-55 checksum; compare it with its source for a mistyped digit or case";
  expect(problemsOf({ ...local, EXECUTOR_ADDRESS: wrong })).toEqual([`EXECUTOR_ADDRESS ${problem}`]);
  expect(problemsOf({ ...local, SOLVER_FORMER_ADDRESSES: `${addressOf("user")},${wrong}` })).toEqual([
    `SOLVER_FORMER_ADDRESSES entry 2 ${problem}`,
  ]);
  expect(problemsOf({ ...withSettlement, ORACLE_SIGNERS: wrong })).toEqual([`ORACLE_SIGNERS ${problem}`]);
  expect(problemsOf({ ...withSettlement, HUB_ORACLE_ADDRESS: wrong })).toEqual([
    `chains.hub.local.json.oracleAddress (HUB_ORACLE_ADDRESS): ${problem}`,
  ]);
  expect(problemsOf({ ...production, BASE_ROUTER_ADDRESS: wrong })).toEqual([
    `chains.mainnets.prod.json: [1] (base).contracts.router (BASE_ROUTER_ADDRESS): ${problem}`,
  ]);
});

test("applies the documented fee policy by default and each configured part of it", () => {
  expect(readApiConfig(local).fees).toEqual(defaultFeePolicy);
  const { fees } = readApiConfig({
    ...local,
    FEE_MINOR_BPS: "25",
    SLIPPAGE_WRAP_BPS: "7",
    QUOTE_HONOUR_BPS: "3",
  });
  expect([fees.serviceBps.minor, fees.automaticSlippageBps.wrap, fees.honorBps]).toEqual([25, 7, 3]);
});

test("rejects settings that contradict each other", () => {
  const contradictions = [
    { SOLVER_CHAIN_NAME: "base" },
    { PRICE_MAX_AGE_MS: "10", PRICE_REFRESH_MS: "20" },
    { QUOTE_MAX_TTL_SECONDS: "60" },
  ];
  for (const change of contradictions) expect(problemsOf({ ...local, ...change })).toHaveLength(1);
});

test("swaps use pools only unless an aggregator is configured", () => {
  expect(readApiConfig(local).aggregator).toBeUndefined();
  const { aggregator } = readApiConfig({
    ...local,
    SWAP_AGGREGATOR_URL: "https://swaps.example.org/swap",
    SWAP_AGGREGATOR_API_KEY: "a key",
  });
  expect(aggregator).toMatchObject({
    url: "https://swaps.example.org/swap",
    name: "aggregator",
    timeoutMs: 1_500,
  });
  expect(aggregator?.apiKey?.reveal()).toBe("a key");
  expect(JSON.stringify(aggregator)).not.toContain("a key");
});

test("limits callers as documented unless RATE_LIMITS=off, never prints the operator token, and rejects a short one", () => {
  expect(readApiConfig(local).access).toEqual({
    metricsToken: undefined,
    operatorToken: undefined,
    limits: {
      key: { quote: 50, status: 1_200, other: 200 },
      address: { quote: 30, status: 600, other: 120 },
      callBytesPerDay: 2_097_152,
    },
  });
  const token = "hunter2-".repeat(4);
  const config = readApiConfig({ ...local, RATE_LIMITS: "off", OPERATOR_TOKEN: token });
  expect([config.access.limits, config.access.operatorToken?.reveal()]).toEqual([undefined, token]);
  expect(inspect(config, { depth: 9 })).not.toContain("hunter2");
  const [problem = "", ...more] = problemsOf({ ...local, OPERATOR_TOKEN: token.slice(1) });
  expect([problem, more]).toEqual(["OPERATOR_TOKEN must have at least 32 characters", []]);
  const localToken = { OPERATOR_TOKEN: "local-operator-token-known-to-everyone" };
  expect(problemsOf({ ...local, ...localToken })).toEqual([]);
  expect(problemsOf({ ...production, ...localToken }).join()).toContain("publicly known");
  expect(problemsOf({ ...local, RATE_LIMITS: "none" })).toHaveLength(1);
});

test("accepts token lists from files and https URLs, but not over plain http", () => {
  expect(readApiConfig(local).tokenLists.sources).toEqual([]);
  const sources = "lists/own.json, https://lists.test/all.json,http://127.0.0.1:8080/list.json";
  expect(readApiConfig({ ...local, TOKEN_LISTS: sources }).tokenLists).toEqual({
    sources: ["lists/own.json", "https://lists.test/all.json", "http://127.0.0.1:8080/list.json"],
    refreshMs: 3_600_000,
    timeoutMs: 5_000,
  });
  for (const open of [
    "http://lists.test/all.json",
    "ftp://lists.test/all.json",
    "http://127.0.0.1.evil.test/x",
  ])
    expect(problemsOf({ ...local, TOKEN_LISTS: `own.json,${open}` })).toEqual([
      "TOKEN_LISTS must be file paths or https URLs",
    ]);
});

test("trusts proxies by number or address, and never all of them", () => {
  const trust = (text: string) => readApiConfig({ ...local, TRUST_PROXY: text }).http.trustProxy;
  expect([trust("false"), trust("2"), trust("10.0.0.0/8,::1")]).toEqual([false, 2, ["10.0.0.0/8", "::1"]]);
  for (const text of ["true", "0", "17", "yes please"])
    expect(problemsOf({ ...local, TRUST_PROXY: text })).toEqual([
      "TRUST_PROXY must be `false`, a number of proxies from 1 to 16, or addresses and ranges separated by commas",
    ]);
});

test("refuses a metrics token shorter than 32 characters", () => {
  const token = "0123456789abcdef0123456789abcdef";
  const config = readApiConfig({ ...local, METRICS_TOKEN: token });
  expect(config.access.metricsToken?.reveal()).toBe(token);
  expect(readApiConfig(local).access.metricsToken).toBeUndefined();
  expect(problemsOf({ ...local, METRICS_TOKEN: token.slice(1) })).toEqual([
    "METRICS_TOKEN must have at least 32 characters",
  ]);
});

/** The local environment with settlement. */
const withSettlement = {
  ...local,
  ORACLE_URLS: "http://127.0.0.1:3100|hunter2;http://127.0.0.1:3101",
  HUB_RPC_URL: "http://127.0.0.1:3",
  HUB_CHAIN_ID: "72100339",
  HUB_ADDRESS: `0x${"21".repeat(20)}`,
  HUB_ORACLE_ADDRESS: `0x${"22".repeat(20)}`,
  HUB_ORACLE_MULTISIG_ADDRESS: `0x${"23".repeat(20)}`,
};

test("without oracles, payments are not settled and the hub's file is not needed", () => {
  expect(readApiConfig(local).settlement).toBeUndefined();
});

test("with oracles, the hub's file names the contracts, and no key is printed", () => {
  const { settlement } = readApiConfig(withSettlement);
  expect(settlement).toMatchObject({
    multisig: withSettlement.HUB_ORACLE_MULTISIG_ADDRESS,
    hub: {
      chainId: 72_100_339,
      oracleAddress: withSettlement.HUB_ORACLE_ADDRESS,
      allocatorAddress: undefined,
    },
    signers: undefined,
    oracles: [{ url: "http://127.0.0.1:3100" }, { url: "http://127.0.0.1:3101", apiKey: undefined }],
  });
  expect(settlement?.oracles[0]?.apiKey?.reveal()).toBe("hunter2");
  expect(inspect(settlement, { depth: 9 })).not.toContain("hunter2");
});

test("warns of a fillLeadSeconds that fast fills between different assets cannot use", () => {
  expect(
    readApiConfig(withSettlement).warnings.filter((warning) => warning.includes("fillLeadSeconds")),
  ).toEqual([
    "the hub's fillLeadSeconds is 2592000, but a fast fill between different assets waits at most 86400 seconds for its deposit. " +
      "A later deposit is refunded, and the app pays for the fill: apps must request such quotes with a shorter ttl",
  ]);
  expect(readApiConfig(local).warnings.join(), "nothing is settled").not.toContain("fillLeadSeconds");
  // Two minutes of every lead allow for clock skew.
  expect(leadWarnings({ fillLeadMs: 86_520_000 })).toEqual([]);
  expect(leadWarnings({ fillLeadMs: 86_521_000 })).toHaveLength(1);
});

test("reads ORACLE_SIGNERS in lower case, with or without a trailing separator", () => {
  const signers = `0x${"AB".repeat(20)};0x${"cd".repeat(20)};`;
  expect(readApiConfig({ ...withSettlement, ORACLE_SIGNERS: signers }).settlement?.signers).toEqual([
    `0x${"ab".repeat(20)}`,
    `0x${"cd".repeat(20)}`,
  ]);
  expect(problemsOf({ ...withSettlement, ORACLE_SIGNERS: "0x12" }).join()).toContain("ORACLE_SIGNERS");
});

test("rejects a hub on an enabled chain, because both would allocate nonces of one account", () => {
  expect(problemsOf({ ...withSettlement, HUB_CHAIN_ID: "72100117" })).toEqual([
    expect.stringMatching(
      /^hub and enabled chain local-a share chainId 72100117, .*; use a separate chain for the hub, or disable local-a$/,
    ),
  ]);
});

test("rejects oracles without a hub, a hub without a multisig, and invalid oracle URLs", () => {
  const { HUB_ORACLE_MULTISIG_ADDRESS: _, ...noMultisig } = withSettlement;
  expect(problemsOf(noMultisig)).toEqual([
    "chains.hub.local.json: oracleMultisigAddress is required for settlement",
  ]);
  expect(problemsOf({ ...local, ORACLE_URLS: "http://127.0.0.1:3100" }).join()).toContain("HUB_RPC_URL");
  const problems = problemsOf({ ...withSettlement, ORACLE_URLS: "ftp://hunter2", REDIS_URL: "x" });
  expect(problems).toHaveLength(2);
  expect(problems.join()).not.toContain("hunter2");
});

const nonEvmChains = {
  ...local,
  LOCAL_SOLANA_RPC_URL: "http://127.0.0.1:3",
  LOCAL_BITCOIN_RPC_URL: "http://127.0.0.1:4",
  LOCAL_BITCOIN_ESPLORA_URL: "http://127.0.0.1:5",
  LOCAL_EXCHANGE_URL: "http://127.0.0.1:6",
  SOLVER_SOLANA_KEY: localPrivateKey("solver", 1),
  SOLVER_BITCOIN_KEY: localPrivateKey("solver", 2),
};

test("reads non-EVM chains with their attestation entries and the solver's accounts", () => {
  const config = readWorkerConfig(nonEvmChains);
  expect(config.chains.map(({ name }) => name)).toEqual(["local-a", "local-b"]);
  expect(
    config.nonEvmChains.map(({ chain, attestation }) => [chain.vmType, chain.name, attestation.name]),
  ).toEqual(config.nonEvmChains.map(({ chain }) => [chain.vmType, chain.name, chain.name]));
  expect(config.nonEvmChains.map(({ chain }) => chain.vmType)).toEqual(["svm", "bvm", "hypevm"]);
  const [, bitcoin] = config.nonEvmChains;
  expect(bitcoin?.attestation.bitcoin?.esploraUrl).toBe("http://127.0.0.1:5");
  expect(config.keys.solana?.reveal()).toBe(nonEvmChains.SOLVER_SOLANA_KEY);
  expect(config.accounts.bitcoin).toMatch(/^0x00[0-9a-f]{40}$/);
  expect(inspect(config, { depth: 9 })).not.toContain(nonEvmChains.SOLVER_BITCOIN_KEY);
});

test.each([
  ["worker", readWorkerConfig, "KEY"],
  ["API", readApiConfig, "ADDRESS"],
] as const)(
  "the %s does not start without the solver's account on an enabled chain",
  (_process, read, kind) => {
    const { SOLVER_SOLANA_KEY: _, SOLVER_BITCOIN_KEY: __, ...keyless } = nonEvmChains;
    expect(problemsOf(keyless, read)).toEqual([
      `SOLVER_SOLANA_${kind} is required because chain local-solana is enabled`,
      `SOLVER_BITCOIN_${kind} is required because chain local-bitcoin is enabled`,
    ]);
    expect(problemsOf({ ...keyless, LOCAL_SOLANA_RPC_URL: "", LOCAL_BITCOIN_RPC_URL: "" }, read)).toEqual([]);
  },
);

test("chains whose transfers carry no order id need the hub's mapping for settlement, and cause a warning without settlement", () => {
  const settled = { ...nonEvmChains, ...withSettlement };
  expect(problemsOf(settled)).toEqual([
    "hub.genericMappingAddress is required because chain exchange is enabled",
  ]);
  expect(problemsOf({ ...settled, LOCAL_EXCHANGE_URL: "" })).toEqual([]);
  const mapped = readApiConfig({ ...settled, HUB_GENERIC_MAPPING_ADDRESS: `0x${"ab".repeat(20)}` });
  expect(mapped.warnings.join()).not.toContain("exchange");
  expect(readApiConfig(nonEvmChains).warnings).toContain(
    "chain exchange: deposits are never settled because ORACLE_URLS is not set",
  );
});

test("rejects publicly known keys of every chain family outside the local environment", () => {
  for (const name of ["SOLVER_SOLANA_KEY", "SOLVER_BITCOIN_KEY"])
    expect(problemsOf({ ...production, [name]: localPrivateKey("solver", 0) }).join()).toContain(
      `${name} is a publicly known key`,
    );
});

test.each([
  ["EXECUTOR_PRIVATE_KEY", "SOLVER_PRIVATE_KEY"],
  ["DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY", "SOLVER_PRIVATE_KEY"],
  ["DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY", "EXECUTOR_PRIVATE_KEY"],
])("%s must be a different account than %s, ignoring letter case", (name, otherName) => {
  const key = `0x${"5d".repeat(32)}`;
  const env = { ...production, [otherName]: key, [name]: key.toUpperCase().replace("0X", "0x") };
  expect(problemsOf(env)).toContain(`${name} must be a different account than ${otherName}`);
});

test.each([
  ["worker", readWorkerConfig, "DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY"],
  ["API", readApiConfig, "DEPOSIT_ADDRESS_OPERATOR_ADDRESS"],
] as const)(
  "without a deposit address operator, the %s warns of every chain with a factory",
  (_process, read, name) => {
    const warningsIn = (env: Record<string, string>) =>
      read(env).warnings.filter((warning) => warning.includes(`${name} is not set`));
    expect(warningsIn(local)).toHaveLength(2);
    const operator = {
      DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY: localPrivateKey("depositAddressOperator", 0),
      DEPOSIT_ADDRESS_OPERATOR_ADDRESS: addressOf("depositAddressOperator"),
    };
    expect(warningsIn({ ...local, ...operator })).toEqual([]);
  },
);

const addressOf = (role: LocalRole): string => privateKeyToAddress(localPrivateKey(role, 0));

/** The accounts of which the API needs only the address: keys, and addresses as operators write them. */
const accounts = {
  keys: {
    EXECUTOR_PRIVATE_KEY: localPrivateKey("executor", 0),
    DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY: localPrivateKey("depositAddressOperator", 0),
    SOLVER_FORMER_KEYS: `${localPrivateKey("user", 0)},${localPrivateKey("user", 1)}`,
    // The first test vector of RFC 8032, and the example key of BIP 173.
    SOLVER_SOLANA_KEY: "0x9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    SOLVER_BITCOIN_KEY: `0x${"00".repeat(31)}01`,
  },
  addresses: {
    EXECUTOR_ADDRESS: addressOf("executor"),
    DEPOSIT_ADDRESS_OPERATOR_ADDRESS: addressOf("depositAddressOperator"),
    SOLVER_FORMER_ADDRESSES: `${privateKeyToAddress(localPrivateKey("user", 1))}, ${addressOf("user")}`,
    SOLVER_SOLANA_ADDRESS: "FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z",
    SOLVER_BITCOIN_ADDRESS: "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080",
  },
};
const { SOLVER_SOLANA_KEY: _solana, SOLVER_BITCOIN_KEY: _bitcoin, ...withoutKeys } = nonEvmChains;

test("deposit addresses on Bitcoin need both extended keys in the worker, and only the public one in the API", () => {
  const publicKey = { DEPOSIT_ADDRESS_BITCOIN_XPUB: "tpubD6Nz" };
  const privateKey = { DEPOSIT_ADDRESS_BITCOIN_XPRV: "tprv8Zg" };
  for (const only of [publicKey, privateKey])
    expect(problemsOf({ ...nonEvmChains, ...only }, readWorkerConfig)).toEqual([
      "DEPOSIT_ADDRESS_BITCOIN_XPUB and DEPOSIT_ADDRESS_BITCOIN_XPRV must both be set in the worker, or neither",
    ]);
  expect(problemsOf({ ...nonEvmChains, DEPOSIT_ADDRESS_BITCOIN_XPUB: "tprv8Zg" }, readWorkerConfig)).toEqual([
    "DEPOSIT_ADDRESS_BITCOIN_XPUB must be an extended public key, got a private one",
  ]);
  const worker = readWorkerConfig({ ...nonEvmChains, ...publicKey, ...privateKey });
  expect(worker.accounts.bitcoinDepositKey).toBe("tpubD6Nz");
  expect(inspect(worker, { depth: 9 })).not.toContain("tprv8Zg");
  const api = readApiConfig({ ...withoutKeys, ...accounts.addresses, ...publicKey, ...privateKey });
  expect(api.accounts.bitcoinDepositKey).toBe("tpubD6Nz");
  expect(api.warnings.join()).toMatch("DEPOSIT_ADDRESS_BITCOIN_XPRV is ignored");
});

test("the API derives the same accounts from addresses as the worker from keys", () => {
  const api = readApiConfig({ ...withoutKeys, ...accounts.addresses });
  const worker = readWorkerConfig({ ...withoutKeys, ...accounts.keys, ...accounts.addresses });
  const { formerSolvers, bitcoinDepositKey: _, ...otherAccounts } = api.accounts;
  expect(Object.values({ ...otherAccounts, formerSolvers: formerSolvers.length })).not.toContain(undefined);
  expect(worker.accounts).toEqual({ ...otherAccounts, formerSolvers: formerSolvers.toReversed() });
  expect([...api.warnings, ...worker.warnings].join()).not.toMatch(/EXECUTOR|OPERATOR|FORMER|SOLANA|BITCOIN/);
});

test.each(Object.keys(accounts.keys))("the API discards %s and names the setting to use instead", (name) => {
  const key = accounts.keys[name as keyof typeof accounts.keys];
  const addressName = name.replace(/_PRIVATE_KEY$|_KEY$/, "_ADDRESS").replace(/_KEYS$/, "_ADDRESSES");
  const { [addressName]: address = "", ...otherAddresses } = accounts.addresses as Record<string, string>;
  const config = readApiConfig({ ...withoutKeys, ...otherAddresses, [name]: key });
  const warned = config.warnings.filter((warning) => warning.includes(name));
  expect(warned).toEqual([
    expect.stringContaining(
      `${name} is ignored: the API does not need it. Remove it from the environment of the API, and set ${addressName}=`,
    ),
  ]);
  // The named value can be set without changes.
  const suggested = /=(\S+) there/.exec(warned.join())?.[1] ?? "";
  expect(suggested.toLowerCase().split(",").toSorted()).toEqual(
    address.toLowerCase().split(/, ?/).toSorted(),
  );
  expect(readApiConfig({ ...withoutKeys, ...accounts.addresses, [addressName]: suggested }).accounts).toEqual(
    config.accounts,
  );
  const revealed: string[] = [];
  const collectSecrets = (value: unknown): void => {
    if (value instanceof Secret) revealed.push(value.reveal());
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(collectSecrets);
  };
  collectSecrets(config);
  expect(revealed).toContain(local.SOLVER_PRIVATE_KEY);
  for (const secret of key.split(",")) expect(revealed).not.toContain(secret);
});

test.each(Object.keys(accounts.addresses))(
  "a %s that does not belong to its key stops both processes",
  (name) => {
    const wrongAddresses: Record<string, string> = {
      SOLVER_SOLANA_ADDRESS: "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM",
      SOLVER_BITCOIN_ADDRESS: "bcrt1q4w46h2at4w46h2at4w46h2at4w46h2atzmxqe2",
    };
    const env = {
      ...withoutKeys,
      ...accounts.keys,
      ...accounts.addresses,
      [name]: wrongAddresses[name] ?? `0x${"ab".repeat(20)}`,
    };
    for (const read of [readApiConfig, readWorkerConfig])
      expect(problemsOf(env, read)).toEqual([expect.stringMatching(`^${name} must be .+, the address of `)]);
  },
);

test("an address without its key stops the worker, which could not send what the API accepts", () => {
  const { EXECUTOR_ADDRESS, SOLVER_FORMER_ADDRESSES } = accounts.addresses;
  expect(problemsOf({ ...local, EXECUTOR_ADDRESS, SOLVER_FORMER_ADDRESSES }, readWorkerConfig)).toEqual([
    "EXECUTOR_PRIVATE_KEY is required in the worker because EXECUTOR_ADDRESS is set",
    "SOLVER_FORMER_KEYS is required in the worker because SOLVER_FORMER_ADDRESSES is set",
  ]);
  expect(readWorkerConfig({ ...local, ...accounts.keys }).warnings).toContain(
    `EXECUTOR_ADDRESS is not set: set EXECUTOR_ADDRESS=${EXECUTOR_ADDRESS.toLowerCase()} in the environments of the worker and the API. Remove EXECUTOR_PRIVATE_KEY from the API's environment only; the worker needs it`,
  );
});

test("rejects malformed and shared addresses", () => {
  expect(
    problemsOf({
      ...withoutKeys,
      ...accounts.addresses,
      SOLVER_SOLANA_ADDRESS: "0x12",
      SOLVER_BITCOIN_ADDRESS: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
    }),
  ).toEqual([
    expect.stringContaining("SOLVER_SOLANA_ADDRESS must be an address of"),
    expect.stringContaining("SOLVER_BITCOIN_ADDRESS must be an address of"),
  ]);
  const script = "bcrt1q4w46h2at4w46h2at4w46h2at4w46h2at4w46h2at4w46h2at4w4st06f5m";
  expect(problemsOf({ ...withoutKeys, ...accounts.addresses, SOLVER_BITCOIN_ADDRESS: script })).toEqual([
    expect.stringContaining("SOLVER_BITCOIN_ADDRESS must be a P2WPKH address of"),
  ]);
  expect(problemsOf({ ...local, EXECUTOR_ADDRESS: addressOf("solver") })).toEqual([
    "EXECUTOR_ADDRESS must be a different account than SOLVER_PRIVATE_KEY",
  ]);
  const EXECUTOR_PRIVATE_KEY = `0x${"ff".repeat(32)}`;
  expect(problemsOf({ ...local, EXECUTOR_PRIVATE_KEY })).toEqual([
    "EXECUTOR_PRIVATE_KEY is not a valid private key",
  ]);
});

test("only the API keeps the operator token", () => {
  const OPERATOR_TOKEN = "t".repeat(32);
  expect(readApiConfig({ ...local, OPERATOR_TOKEN }).access.operatorToken?.reveal()).toBe(OPERATOR_TOKEN);
  expect(readWorkerConfig({ ...local, OPERATOR_TOKEN }).access.operatorToken).toBeUndefined();
});
