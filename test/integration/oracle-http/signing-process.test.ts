import { startKms, type KmsKey, type RunningKms } from "@causeway/simulators/kms";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { privateKeyToAddress } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { KNOWN_DEPOSIT, startDepositNode, startHubNode } from "./deposit-node.ts";
import { startOracle } from "./process.ts";
import { executionSigners, messageSigners } from "../../support/recovered-signers.ts";
import { account, aHub } from "../../support/oracle-world.ts";
import type { AnswerBody } from "../../support/oracle-world.ts";

// The real process with each kind of key, on nodes that know one deposit, gives the same answers and the same
// metrics.

const CALLER_KEY = "caller-key".padEnd(32, "-");
const KEY = `0x${"5a".repeat(32)}` as const;
const signerAddress = privateKeyToAddress(KEY).toLowerCase();
const CHAIN_ID = 72100117;
const DEPOSITORY = "0xBE1a86370EF893e948cb88F013b34fD6f86B926E";
const home = mkdtempSync(join(tmpdir(), "causeway-oracle-"));

let node: Awaited<ReturnType<typeof startDepositNode>>;
let hub: Awaited<ReturnType<typeof startHubNode>>;
let kms: RunningKms;
let key: KmsKey;

beforeAll(async () => {
  [node, hub, kms] = await Promise.all([
    startDepositNode(CHAIN_ID, DEPOSITORY),
    startHubNode(aHub.chainId),
    startKms({ region: "eu-west-1" }),
  ]);
  key = kms.importKey(KEY, "oracle");
});
afterAll(async () => {
  await Promise.all([node.close(), hub.close(), kms.stop()]);
  rmSync(home, { recursive: true });
});

const running: Pick<ReturnType<typeof startOracle>, "stop">[] = [];
afterEach(async () => {
  key.state = "Enabled";
  await Promise.all(running.splice(0).map(async (oracle) => await oracle.stop()));
});

/** Starts the process. It stops when its test ends. */
function anOracle(env: Readonly<Record<string, string>>): ReturnType<typeof startOracle> {
  const oracle = startOracle(env);
  running.push(oracle);
  return oracle;
}

const common = (): Record<string, string> => ({
  ENVIRONMENT: "local",
  CONFIGS_DIR: resolve(import.meta.dirname, "../../../configs"),
  HTTP_PORT: "0",
  API_KEYS: `${CALLER_KEY}:caller`,
  ORACLE_SIGNERS: signerAddress,
  LOCAL_A_RPC_URL: `${node.url}/v3/SECRETPATH`,
  HUB_RPC_URL: hub.url,
  HUB_CHAIN_ID: String(aHub.chainId),
  HUB_ADDRESS: aHub.hubAddress,
  HUB_ORACLE_ADDRESS: aHub.oracleAddress,
});

const rawKey = (): Record<string, string> => ({
  ...common(),
  SIGNING_MODULE: "raw-private-key",
  ECDSA_PRIVATE_KEY: KEY,
});

const awsKms = (): Record<string, string> => ({
  ...common(),
  // Otherwise the AWS SDK would read the machine's credential files.
  HOME: home,
  SIGNING_MODULE: "aws-kms",
  AWS_KMS_SIGNER_KEY_ID: "alias/oracle",
  AWS_KMS_SIGNER_KEY_REGION: kms.region,
  AWS_ENDPOINT_URL_KMS: kms.url,
  AWS_ACCESS_KEY_ID: "local",
  AWS_SECRET_ACCESS_KEY: "SECRETACCESS",
});

async function post(url: string, transactionId = KNOWN_DEPOSIT as string) {
  const answer = await fetch(`${url}/attestations/depository-deposits/v1`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": CALLER_KEY },
    body: JSON.stringify({ chainId: "local-a", transactionId }),
  });
  return { status: answer.status, body: (await answer.json()) as AnswerBody };
}

/**
 * A reader of the values of single series in /metrics, whatever the order of their labels. Undefined if a
 * series is missing.
 */
async function scrape(url: string) {
  const response = await fetch(`${url}/metrics`, { headers: { "x-api-key": CALLER_KEY } });
  const text = await response.text();
  return {
    text,
    value(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
      const labelTexts = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
      const line = text
        .split("\n")
        .find(
          (candidate) =>
            /^\w+/.exec(candidate)?.[0] === name && labelTexts.every((label) => candidate.includes(label)),
        );
      return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(" ") + 1));
    },
  };
}

describe.each([
  ["raw-private-key", rawKey],
  ["aws-kms", awsKms],
] as const)("with SIGNING_MODULE %s", (signingModule, env) => {
  test("knows its address before it listens, signs only with that key, and counts its signatures", async () => {
    const signedBefore = kms.calls("Sign");
    const oracle = anOracle(env());
    const url = await oracle.url();
    expect(oracle.output()).toContain(`"signer":"${signerAddress}"`);
    const startedAtMs = performance.now();
    const { status, body } = await post(url);
    const tookSeconds = (performance.now() - startedAtMs) / 1000;
    expect(status).toBe(200);
    expect(body.quorum).toEqual({ signers: 1, threshold: 1, local: "ok" });
    expect(await executionSigners(body.execution)).toEqual([signerAddress]);
    expect(body.messages).toHaveLength(1);
    for (const message of body.messages)
      expect(await messageSigners("depositoryDeposit", message)).toEqual([signerAddress]);
    expect(kms.calls("Sign") - signedBefore).toBe(signingModule === "aws-kms" ? 2 : 0);

    const { value, text } = await scrape(url);
    const call = { chain: "local-a", outcome: "ok" };
    for (const method of ["eth_chainId", "eth_getTransactionReceipt", "eth_getBlockByNumber"]) {
      expect(value("oracle_rpc_call_seconds_count", { ...call, method })).toBeGreaterThanOrEqual(1);
      expect(value("oracle_rpc_call_seconds_sum", { ...call, method })).toBeGreaterThan(0);
    }
    const receipt = { ...call, method: "eth_getTransactionReceipt" };
    expect(value("oracle_rpc_call_seconds_count", receipt)).toBe(1);
    expect(value("oracle_rpc_call_seconds_sum", receipt)).toBeLessThan(tookSeconds);
    expect(value("oracle_rpc_call_seconds_count", { chain: "hub", outcome: "ok", method: "eth_call" })).toBe(
      1,
    );
    expect(value("oracle_signature_seconds_count", { outcome: "made" })).toBe(2);
    expect(value("oracle_signature_seconds_sum", { outcome: "made" })).toBeGreaterThan(0);
    // The two signatures may be made concurrently.
    expect(value("oracle_signature_seconds_sum", { outcome: "made" })).toBeLessThan(2 * tookSeconds);
    expect(value("oracle_signatures_total", { outcome: "made" })).toBe(2);
    expect(value("oracle_signer_healthy")).toBe(1);
    for (const secret of ["127.0.0.1", "SECRETPATH", "alias/oracle", key.id])
      expect(text).not.toContain(secret);

    expect(await oracle.stop()).toBe(0);
    for (const secret of [KEY.slice(2), "SECRETPATH", "SECRETACCESS", key.id])
      expect(oracle.output() + oracle.errors()).not.toContain(secret);
  }, 30_000);
});

test("counts calls that a node refuses or does not answer by outcome, and signs nothing", async () => {
  const broken = await startDepositNode(CHAIN_ID, DEPOSITORY);
  const oracle = anOracle({ ...rawKey(), LOCAL_A_RPC_URL: broken.url });
  const url = await oracle.url();
  // An unknown transaction is looked up with a method that this node refuses.
  expect((await post(url, `0x${"77".repeat(32)}`)).status).toBe(503);
  await broken.close();
  expect((await post(url)).status).toBe(503);
  const { value } = await scrape(url);
  const callCount = (method: string, outcome: string) =>
    value("oracle_rpc_call_seconds_count", { chain: "local-a", method, outcome });
  expect(callCount("eth_getTransactionByHash", "refused")).toBe(1);
  expect(callCount("eth_getTransactionReceipt", "fault")).toBeGreaterThanOrEqual(1);
  expect(value("oracle_signature_seconds_count", { outcome: "made" })).toBeUndefined();
}, 30_000);

test("while the key service does not sign, answers are 503 and the signer is unhealthy", async () => {
  const oracle = anOracle(awsKms());
  const url = await oracle.url();
  key.state = "Disabled";
  const { status, body } = await post(url);
  expect([status, body.code]).toEqual([503, "upstream_unavailable"]);
  const metrics = await scrape(url);
  expect(metrics.value("oracle_signer_healthy")).toBe(0);
  expect(metrics.value("oracle_signature_seconds_count", { outcome: "failed" })).toBeGreaterThanOrEqual(1);
  expect(metrics.value("oracle_signatures_total", { outcome: "failed" })).toBeGreaterThanOrEqual(1);
  key.state = "Enabled";
  expect((await post(url)).status).toBe(200);
  expect((await scrape(url)).value("oracle_signer_healthy")).toBe(1);
  expect(await oracle.stop()).toBe(0);
}, 30_000);

describe("an oracle whose key is unavailable does not start", () => {
  async function startError(changes: Record<string, string>): Promise<string> {
    const oracle = anOracle({ ...awsKms(), ...changes });
    // If the process does start, the test must not wait forever.
    const timer = setTimeout(() => void oracle.stop(), 20_000);
    expect(await oracle.ended).toBe(1);
    clearTimeout(timer);
    expect(oracle.output()).toBe("");
    expect(oracle.errors()).not.toMatch(/\n\s+at |SECRETACCESS|127\.0\.0\.1|alias\//);
    return oracle.errors();
  }

  test.each<[string, () => Record<string, string>]>([
    ["the service is unreachable", () => ({ AWS_ENDPOINT_URL_KMS: "http://127.0.0.1:9" })],
    ["the service has no such key", () => ({ AWS_KMS_SIGNER_KEY_ID: "alias/nobody" })],
    ["the key is of another curve", () => ({ AWS_KMS_SIGNER_KEY_ID: kms.createKey("ECC_NIST_P256").id })],
  ])(
    "because %s",
    async (_what, changes) => {
      expect(await startError(changes())).toContain("AWS KMS key is unusable");
    },
    30_000,
  );

  test("because its address is not on the list of signers", async () => {
    expect(await startError({ ORACLE_SIGNERS: account("a1") })).toContain(
      "ORACLE_SIGNERS must include the local signer",
    );
  }, 30_000);
});
