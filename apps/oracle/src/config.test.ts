import { ConfigError } from "@causeway/config";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { readOracleConfig } from "./config.ts";

const address = (byte: string) => `0x${byte.repeat(20)}`;
/** An oracle of one chain. */
const env = {
  ENVIRONMENT: "mainnets.prod",
  CONFIGS_DIR: resolve(import.meta.dirname, "../../../configs"),
  VAULT_SECRETS_DIR: "/nonexistent",
  ECDSA_PRIVATE_KEY: `0x${"5c".repeat(32)}`,
  BASE_RPC_URL: "https://user:hunter2@node.test",
  BASE_DEPOSITORY_ADDRESS: address("11"),
  HUB_RPC_URL: "http://127.0.0.1:3",
  HUB_CHAIN_ID: "72100339",
  HUB_ADDRESS: address("21"),
  HUB_ORACLE_ADDRESS: address("22"),
};

async function problemsOf(changes: Record<string, string>): Promise<readonly string[]> {
  try {
    await readOracleConfig({ ...env, ...changes });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test("starts for the chains whose variables are set", async () => {
  const config = await readOracleConfig(env);
  expect(config.chains.map(({ name }) => name)).toEqual(["base"]);
});

test("reports all problems at once: single values, lists, files, and contradictions", async () => {
  const problems = await problemsOf({
    HTTP_PORT: "x",
    PEER_REQUEST_TIMEOUT_MS: "0",
    ECDSA_PRIVATE_KEY: "0x12",
    API_KEYS: "short:label",
    PEERS: "ftp://peer.test",
    ORACLE_SIGNERS: `${address("31")};0x12`,
    ORACLE_SIGNERS_THRESHOLD: "none",
    BASE_RPC_URL: "gopher://hunter2",
    HUB_ADDRESS: "0x12",
  });
  for (const name of [
    "HTTP_PORT",
    "PEER_REQUEST_TIMEOUT_MS",
    "ECDSA_PRIVATE_KEY",
    "API_KEYS",
    "PEERS",
    "ORACLE_SIGNERS entry 2",
    "ORACLE_SIGNERS_THRESHOLD",
    "BASE_RPC_URL",
    "HUB_ADDRESS",
  ])
    expect(
      problems.filter((problem) => problem.includes(name)),
      name,
    ).toHaveLength(1);
  expect(problems.join()).not.toContain("hunter2");
});

test("refuses addresses with a wrong checksum, naming each variable", async () => {
  const wrong = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96046";
  expect(
    await problemsOf({ BASE_DEPOSITORY_ADDRESS: wrong, HUB_ORACLE_ADDRESS: wrong, ORACLE_SIGNERS: wrong }),
  ).toEqual([
    expect.stringMatching(/\(base\)\.depository \(BASE_DEPOSITORY_ADDRESS\): has an invalid EIP-55 checksum/),
    expect.stringMatching(/\.oracleAddress \(HUB_ORACLE_ADDRESS\): has an invalid EIP-55 checksum/),
    expect.stringMatching(/^ORACLE_SIGNERS entry 1 has an invalid EIP-55 checksum/),
    expect.stringMatching(/^ORACLE_SIGNERS must include the local signer/),
  ]);
});

test("refuses to start with a misspelled variable", async () => {
  expect(await problemsOf({ API_KEY: "k" })).toEqual([
    "API_KEY is set but is not a known setting; rename it to API_KEYS, or unset it",
  ]);
});
