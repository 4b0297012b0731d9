import { localPrivateKey } from "@causeway/config";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startFakeNode } from "./fake-node.ts";
import { startOracle } from "./process.ts";
import { account } from "../../support/oracle-world.ts";

// The configurations that the real process refuses, and those that it accepts.

const configsDir = resolve(import.meta.dirname, "../../../configs");
const dir = mkdtempSync(join(tmpdir(), "causeway-oracle-"));
let node: Awaited<ReturnType<typeof startFakeNode>>;
let env: Record<string, string>;
const CALLER_KEY = "caller-key".padEnd(32, "-");
const KEY = `0x${"5a".repeat(32)}` as const;
const signerAddress = privateKeyToAddress(KEY).toLowerCase();

beforeAll(async () => {
  const parentHash = `0x${"aa".repeat(32)}`;
  const block = { number: "0x10", hash: `0x${"ab".repeat(32)}`, parentHash, timestamp: "0x100" };
  node = await startFakeNode({
    eth_chainId: () => "0x7b",
    eth_getBlockByNumber: () => block,
    eth_call: () => `0x${"00".repeat(12)}${"e1".repeat(20)}`,
  });
  env = {
    ENVIRONMENT: "local",
    CONFIGS_DIR: configsDir,
    HTTP_PORT: "0",
    ECDSA_PRIVATE_KEY: KEY,
    LOCAL_A_RPC_URL: `${node.url}/v3/SECRETPATH`,
    HUB_RPC_URL: node.url,
    HUB_CHAIN_ID: "123",
    HUB_ADDRESS: account("e1"),
    HUB_ORACLE_ADDRESS: account("e2"),
  };
});
afterAll(async () => {
  await node.close();
  rmSync(dir, { recursive: true });
});

async function expectStartFailure(
  changes: Record<string, string>,
  without: readonly string[] = [],
): Promise<string> {
  const variables = Object.entries({ ...env, ...changes }).filter(([name]) => !without.includes(name));
  const oracle = startOracle(Object.fromEntries(variables));
  // If the process does start, the test must not wait forever.
  const timer = setTimeout(() => void oracle.stop(), 15_000);
  expect(await oracle.ended).toBe(1);
  clearTimeout(timer);
  expect(oracle.output()).toBe("");
  return oracle.errors();
}

test("starts with only the required variables, answers, hides its keys, and stops cleanly", async () => {
  const oracle = startOracle({ ...env, API_KEYS: `${CALLER_KEY}:caller;`, ORACLE_SIGNERS: signerAddress });
  const url = await oracle.url();
  expect(await (await fetch(`${url}/lives/v1`)).json()).toEqual({ status: "ok" });
  expect((await fetch(`${url}/chains/v1`)).status).toBe(401);
  const chains = await fetch(`${url}/chains/v1`, { headers: { "x-api-key": CALLER_KEY } });
  expect(await chains.json()).toMatchObject({ chains: [{ id: "local-a", vmType: "ethereum-vm" }] });
  for (const path of ["/documentation", "/documentation/json", "/documentation/static/swagger-ui.css"])
    expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 200]);
  const response = await fetch(`${url}/attestations/depository-deposits/v1`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": CALLER_KEY },
    body: JSON.stringify({ chainId: "local-a", transactionId: `0x${"11".repeat(32)}` }),
  });
  // The node serves another chain than configured, so the oracle does not use its answers.
  expect([response.status, await response.json()]).toMatchObject([503, { code: "upstream_unavailable" }]);
  expect(await oracle.stop()).toBe(0);
  const log = oracle.output();
  expect(log).toMatch(/"event":"chains_enabled","chains":\["local-a"\],"off":\["local-b",/);
  expect(log).not.toContain("is disabled");
  expect(log).toContain(`"signer":"${signerAddress}"`);
  for (const secret of [KEY.slice(2), CALLER_KEY, "SECRETPATH", '"stack"', "    at "])
    expect(log).not.toContain(secret);
}, 30_000);

test("the process listens on PORT if HTTP_PORT is not set", async () => {
  const { HTTP_PORT: _, ...rest } = env;
  const oracle = startOracle({ ...rest, PORT: "0", HTTP_PORT: "" });
  expect(await oracle.url()).not.toContain(":3000");
  await oracle.stop();
}, 30_000);

test("reports all problems of the configuration together, one line each, without secrets", async () => {
  mkdirSync(join(dir, "vault"), { recursive: true });
  writeFileSync(
    join(dir, "vault", "keys"),
    "ECDSA_PRIVATE_KEY=$(echo hunter2)\nAPI_KEYS=hunter3;hunter6:caller\n",
  );
  const output = await expectStartFailure(
    {
      VAULT_SECRETS_DIR: join(dir, "vault"),
      PEERS: "nowhere|hunter4;http://127.0.0.1|k;http://127.0.0.1|k2;http://peer.test|hunter5",
      PEER_REQUEST_TIMEOUT_MS: "soon",
      SHADOW: "yes",
      ORACLE_SIGNERS: "0x12;0x13",
      ORACLE_SIGNERS_THRESHOLD: "none",
      HUB_ADDRESS: "0x12",
    },
    ["LOCAL_A_RPC_URL"],
  );
  for (const problem of [
    "ECDSA_PRIVATE_KEY must be 32 bytes of hex",
    "API_KEYS entry 1 has no label",
    "API_KEYS entry 2 has a key of 7 characters, expected at least 32",
    "PEERS entry 1",
    "ORACLE_SIGNERS entry 2 is not an address",
    "ORACLE_SIGNERS_THRESHOLD must be an integer of at least 1",
    "PEERS entry 3 repeats the base URL of entry 2",
    "PEERS entry 4 must use https",
    "PEER_REQUEST_TIMEOUT_MS must be an integer",
    "SHADOW must be `true` or `false`",
    "hubAddress (HUB_ADDRESS): must be a 20-byte address",
    "no chain is enabled",
  ])
    expect(output).toContain(problem);
  expect(output).not.toMatch(/hunter/);
  expect(output).not.toMatch(/\n\s+at /);
}, 30_000);

test.each<[string, Record<string, string>, string]>([
  [
    "a threshold that is not an integer",
    { ORACLE_SIGNERS_THRESHOLD: "1.5" },
    "ORACLE_SIGNERS_THRESHOLD must be an integer",
  ],
  [
    "a threshold between spaces",
    { ORACLE_SIGNERS_THRESHOLD: " 1 " },
    "ORACLE_SIGNERS_THRESHOLD must be an integer",
  ],
  ["a threshold below 1", { ORACLE_SIGNERS_THRESHOLD: "0" }, "ORACLE_SIGNERS_THRESHOLD must be an integer"],
  [
    "a threshold above the number of different signers",
    {
      ORACLE_SIGNERS: `${signerAddress};0x${signerAddress.slice(2).toUpperCase()}`,
      ORACLE_SIGNERS_THRESHOLD: "2",
    },
    "ORACLE_SIGNERS_THRESHOLD is 2",
  ],
  [
    "a signer that is not an address",
    { ORACLE_SIGNERS: `${signerAddress};0x12` },
    "ORACLE_SIGNERS entry 2 is not an address",
  ],
  [
    "the zero address as a signer",
    { ORACLE_SIGNERS: `${signerAddress};${account("00")}` },
    "entry 2 is the zero address",
  ],
  [
    "a list without its own signer",
    { ORACLE_SIGNERS: account("a1") },
    "ORACLE_SIGNERS must include the local signer",
  ],
  [
    "a publicly known key outside of local systems",
    { ENVIRONMENT: "mainnets.prod", ECDSA_PRIVATE_KEY: localPrivateKey("oracle", 0) },
    "publicly known key",
  ],
  ["an environment without files", { ENVIRONMENT: "nowhere" }, "chains.nowhere.json: file is unreadable"],
  ["an unknown key module", { SIGNING_MODULE: "hsm" }, "SIGNING_MODULE must be one of"],
  ["KMS without a key", { SIGNING_MODULE: "aws-kms" }, "AWS_KMS_SIGNER_KEY_ID is required"],
])(
  "refuses to start with %s",
  async (_what, changes, problem) => {
    expect(await expectStartFailure(changes)).toContain(problem);
  },
  30_000,
);

test("refuses to start without ENVIRONMENT", async () => {
  expect(await expectStartFailure({}, ["ENVIRONMENT"])).toContain("ENVIRONMENT is required");
}, 30_000);

test("refuses to start with a hub that the oracle contract does not serve", async () => {
  const oracle = startOracle({ ...env, HUB_ADDRESS: account("e9") });
  expect(await oracle.ended).toBe(1);
  expect(oracle.output()).toContain("the Oracle contract belongs to");
}, 30_000);

test("warns about a threshold without signers, and about missing API keys", async () => {
  const oracle = startOracle({ ...env, ORACLE_SIGNERS_THRESHOLD: "2" });
  await oracle.url();
  expect(oracle.output()).toContain("ORACLE_SIGNERS_THRESHOLD is ignored");
  expect(oracle.output()).toContain("API_KEYS is not set");
  expect(await oracle.stop()).toBe(0);
}, 30_000);
