import { startKms, type RunningKms } from "@causeway/simulators/kms";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startOracle } from "./process.ts";
import { account } from "../../support/oracle-world.ts";

// Where the real process finds its credentials for a key in a service that implements the AWS KMS protocol.

const KEY = `0x${"5a".repeat(32)}` as const;
const folder = mkdtempSync(join(tmpdir(), "causeway-kms-credentials-"));
let kms: RunningKms;
let env: Record<string, string>;

beforeAll(async () => {
  kms = await startKms({ region: "eu-west-1" });
  kms.importKey(KEY, "oracle");
  env = {
    ENVIRONMENT: "local",
    CONFIGS_DIR: resolve(import.meta.dirname, "../../../configs"),
    HTTP_PORT: "0",
    LOCAL_A_RPC_URL: "http://127.0.0.1:9",
    HUB_RPC_URL: "http://127.0.0.1:9",
    HUB_CHAIN_ID: "123",
    HUB_ADDRESS: account("e1"),
    HUB_ORACLE_ADDRESS: account("e2"),
    // Otherwise the AWS SDK would read the machine's credential files and role.
    HOME: folder,
    AWS_EC2_METADATA_DISABLED: "true",
    SIGNING_MODULE: "aws-kms",
    AWS_KMS_SIGNER_KEY_ID: "alias/oracle",
  };
});
afterAll(async () => {
  await kms.stop();
  rmSync(folder, { recursive: true });
});

async function startError(changes: Record<string, string>): Promise<string> {
  const oracle = startOracle({ ...env, AWS_KMS_SIGNER_KEY_REGION: kms.region, ...changes });
  const timer = setTimeout(() => void oracle.stop(), 15_000);
  expect(await oracle.ended).toBe(1);
  clearTimeout(timer);
  return oracle.errors();
}

test("uses AWS region, endpoint and credentials that are only in the secrets folder", async () => {
  const secrets = [
    `AWS_KMS_SIGNER_KEY_REGION=${kms.region}`,
    `AWS_ENDPOINT_URL_KMS=${kms.url}`,
    "AWS_ACCESS_KEY_ID=local",
    "AWS_SECRET_ACCESS_KEY=SECRETACCESS",
    "AWS_SESSION_TOKEN=SECRETTOKEN",
  ];
  writeFileSync(join(folder, "aws"), secrets.join("\n"));
  const before = kms.calls("GetPublicKey");
  const oracle = startOracle({ ...env, VAULT_SECRETS_DIR: folder });
  await oracle.url();
  expect(oracle.output()).toContain(`"signer":"${privateKeyToAddress(KEY).toLowerCase()}"`);
  expect(kms.calls("GetPublicKey")).toBe(before + 1);
  expect(await oracle.stop()).toBe(0);
  expect(oracle.output() + oracle.errors()).not.toMatch(/SECRETACCESS|SECRETTOKEN/);
}, 30_000);

test("missing credentials are reported as missing", async () => {
  expect(await startError({ AWS_ENDPOINT_URL_KMS: kms.url })).toContain("(no-credentials)");
}, 30_000);

test.each(["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])(
  "credentials with only %s count as missing",
  async (name) => {
    expect(await startError({ AWS_ENDPOINT_URL_KMS: kms.url, [name]: "half" })).toMatch(
      new RegExp(`is required with ${name}\\b`),
    );
  },
  30_000,
);
