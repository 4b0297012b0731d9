import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describeSettings, unknownVariables } from "@causeway/config";
import type { SettingGroup } from "@causeway/config";
import type { Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { readApiConfig, readWorkerConfig } from "../../apps/api/src/config/config.ts";
import { apiSettingGroups } from "../../apps/api/src/config/settings.ts";
import { readOracleConfig } from "../../apps/oracle/src/config.ts";
import { oracleSettingGroups } from "../../apps/oracle/src/settings.ts";
import { root } from "./run-command.ts";

const configsDir = join(root, "configs");

async function variablesOf(file: string): Promise<readonly string[]> {
  return [...(await readFile(join(root, file), "utf8")).matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)].map(
    ([, name = ""]) => name,
  );
}

/** All variables in tables of docs/CONFIG.md for these processes. */
function documentedVariables(groups: readonly SettingGroup[]): readonly string[] {
  return [...describeSettings(groups).matchAll(/^\| `(\w+)`(?: or `(\w+)`)?/gm)].flatMap(([, ...names]) =>
    names.filter((name) => name !== undefined),
  );
}

test.each([
  ["API and worker", apiSettingGroups],
  ["oracle", oracleSettingGroups],
])(
  "no variable of another process or of compose is mistaken for a misspelled variable of %s",
  async (_name, groups) => {
    const names = [
      ...documentedVariables([...apiSettingGroups, ...oracleSettingGroups]),
      ...(await variablesOf(".env.example")),
      ...(await variablesOf(".env.oracle.example")),
      "PORT",
      "API_PORT",
      "ORACLE_PORT",
      "HEALTHCHECK_PORT",
      "NODE_IMAGE",
      "POSTGRES_IMAGE",
      "REDIS_IMAGE",
    ];
    expect(names.length).toBeGreaterThan(150);
    const env = Object.fromEntries(names.map((name) => [name, "x"]));
    for (const name of names) {
      // Tested alone, because a misspelled variable is tolerated next to the one that it resembles.
      expect(unknownVariables({ [name]: "x" }, groups, configsDir).problems).toEqual([]);
    }
    expect(unknownVariables(env, groups, configsDir).problems).toEqual([]);
  },
);

/** The variables of an example environment file, with values for the empty ones. */
async function fillIn(
  file: string,
  values: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const text = await readFile(join(root, file), "utf8");
  const written = [...text.matchAll(/^([A-Z][A-Z0-9_]+)=(.*)$/gm)];
  let addresses = 0;
  const valueOf = (name: string): string => {
    if (/_(RPC|ESPLORA|API)_URL$/.test(name)) return "https://node.test";
    if (name.endsWith("_WS_URL")) return "wss://node.test";
    addresses += 1;
    return name.endsWith("_ADDRESS") ? `0x${addresses.toString(16).padStart(40, "1")}` : "";
  };
  return Object.fromEntries(
    written.map(([, name = "", value = ""]) => [
      name,
      values[name] ?? (value === "" ? valueOf(name) : value),
    ]),
  );
}

const outside = { CONFIGS_DIR: configsDir, VAULT_SECRETS_DIR: "/nonexistent" };
const key = (digit: string): Hex => `0x${digit.repeat(64)}`;

/** The contents of secrets/worker. */
const workerSecrets = {
  SOLVER_PRIVATE_KEY: key("1"),
  SOLVER_FORMER_KEYS: key("2"),
  EXECUTOR_PRIVATE_KEY: key("3"),
  DEPOSIT_ADDRESS_OPERATOR_PRIVATE_KEY: key("4"),
  // The first test of RFC 8032, and the key of BIP 173.
  SOLVER_SOLANA_KEY: "0x9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
  SOLVER_BITCOIN_KEY: `0x${"00".repeat(31)}01`,
};

test("API and worker start with .env.example filled in, with every chain that it names", async () => {
  const values = {
    SOLVER_ADDRESS: privateKeyToAddress(key("1")),
    SOLVER_FORMER_ADDRESSES: privateKeyToAddress(key("2")),
    EXECUTOR_ADDRESS: privateKeyToAddress(key("3")),
    DEPOSIT_ADDRESS_OPERATOR_ADDRESS: privateKeyToAddress(key("4")),
    SOLVER_SOLANA_ADDRESS: "FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z",
    SOLANA_DEVNET_DEPOSITORY_PROGRAM: "99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2",
    SOLVER_BITCOIN_ADDRESS: "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx",
    BITCOIN_TESTNET4_DEPOSITORY_ADDRESS: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
    ORACLE_URLS: "https://oracle.test|key",
    HUB_CHAIN_ID: "72100339",
    HUB_DEPOSIT_PARTS_SINCE: "0",
    APP_BALANCE_CHAIN_ID: "84532",
    SOLVER_CHAIN_NAME: "base-sepolia",
    OPERATOR_TOKEN: "t".repeat(32),
    METRICS_TOKEN: "m".repeat(32),
  };
  const { POSTGRES_PASSWORD: _, REDIS_PASSWORD: __, ...filled } = await fillIn(".env.example", values);
  const env = {
    ...filled,
    ...outside,
    DATABASE_URL: "postgres://postgres/causeway",
    REDIS_URL: "redis://redis",
  };
  const signing = { ORDER_SIGNER_URL: "unix:///run/causeway/signer.sock" };
  for (const config of [
    readApiConfig({ ...env, ...signing }),
    readWorkerConfig({ ...env, ...workerSecrets }),
  ]) {
    expect(config.chains.map(({ name }) => name)).toEqual(["sepolia", "base-sepolia"]);
    expect(config.nonEvmChains.map(({ chain }) => chain.vmType)).toEqual(["svm", "bvm", "hypevm"]);
    expect(config.http.trustProxy).toBe(1);
    expect(config.settlement?.oracles).toHaveLength(1);
  }
  for (const name of Object.keys(values)) expect(filled, name).toHaveProperty(name);
});

test("an oracle starts with .env.oracle.example filled in", async () => {
  const address = privateKeyToAddress(key("5"));
  const values = {
    ECDSA_PRIVATE_KEY: key("5"),
    API_KEYS: `${"k".repeat(32)}:caller`,
    PEERS: "https://peer.test|pass-through",
    ORACLE_SIGNERS: address,
    ORACLE_SIGNERS_THRESHOLD: "1",
    HUB_CHAIN_ID: "72100339",
    HUB_DEPOSIT_PARTS_SINCE: "0",
  };
  const config = await readOracleConfig({ ...(await fillIn(".env.oracle.example", values)), ...outside });
  expect(config.chains.map(({ name }) => name)).toEqual(["base-sepolia"]);
  expect(config.warnings.filter((warning) => warning.includes("base-sepolia"))).toEqual([]);
});
