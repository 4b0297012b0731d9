import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import {
  awsKmsSigner,
  recoverSigner,
  signatureToHex,
  SignerUnavailable,
  type AwsKmsOptions,
  type AwsKmsSigner,
  type SignerFault,
} from "@causeway/attest";
import { startKms, type KmsFault, type KmsKey, type RunningKms } from "@causeway/simulators/kms";
import { keccak256, toHex } from "viem";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

// A key in AWS KMS, which AWS's own client calls over a socket, with faults.

const KEY = `0x${"5eed".repeat(16)}` as const;
const OTHER_KEY = `0x${"0b5e".repeat(16)}` as const;
const digest = keccak256("0x01");
/** Timeouts so long that a busy machine causes none. */
const times = { deadlineMs: 30_000, attemptMs: 10_000 };
/** A timeout so short that slow answers time out. */
const impatient = { attemptMs: 800 };

let kms: RunningKms;
let key: KmsKey;
const opened: AwsKmsSigner[] = [];

beforeEach(async () => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "local");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "local");
  kms = await startKms();
  key = kms.importKey(KEY, "oracle");
});

afterEach(async () => {
  for (const signer of opened.splice(0)) signer.close();
  await kms.stop();
  vi.unstubAllEnvs();
});

async function open(options: Partial<AwsKmsOptions> = {}): Promise<AwsKmsSigner> {
  const signer = await awsKmsSigner({
    keyId: key.id,
    region: kms.region,
    endpoint: kms.url,
    ...times,
    ...options,
  });
  opened.push(signer);
  return signer;
}

async function expectSigns(signer: AwsKmsSigner): Promise<void> {
  const digest = keccak256(toHex(`${Math.random()}`));
  expect(recoverSigner(digest, signatureToHex(await signer.signDigest(digest)))).toBe(signer.address);
}

/**
 * Checks that the attempt fails as unavailable and retryable, and that the error reveals nothing about key,
 * account, host or request.
 */
async function expectUnavailable(attempt: Promise<unknown>, fault: SignerFault): Promise<void> {
  const error: unknown = await attempt.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(SignerUnavailable);
  expect(error).toMatchObject({ fault, retryable: true, code: "SERVICE_UNAVAILABLE" });
  expectSilent(error);
}

function expectSilent(error: unknown): void {
  const { stack: _, ...properties } = Object.getOwnPropertyDescriptors(error as Error);
  const shown = `${String(error)} ${inspect(properties, { depth: null })}`;
  expect(shown).not.toMatch(
    /[0-9a-f]{8}-[0-9a-f]{4}-|arn:|alias|127\.0\.0\.1|http|000000000000|requestId|cause:/i,
  );
}

/** A fault of the first `times` calls of an operation. */
function first(times: number, fault: KmsFault, operation = "Sign"): (called: string) => KmsFault | undefined {
  let remaining = times;
  return (called) => (called === operation && remaining-- > 0 ? fault : undefined);
}

test("finds a key by its id, its ARN and its alias", async () => {
  for (const keyId of [key.id, key.arn, "alias/oracle"]) await expectSigns(await open({ keyId }));
});

test("the service's endpoint may come from the environment, as in the AWS CLI", async () => {
  vi.stubEnv("AWS_ENDPOINT_URL_KMS", kms.url);
  const signer = await awsKmsSigner({ keyId: key.id, region: kms.region, ...times });
  opened.push(signer);
  await expectSigns(signer);
});

test("explicit credentials take precedence over those of the environment", async () => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", undefined);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", undefined);
  vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
  const credentials = { accessKeyId: "handed", secretAccessKey: "over", sessionToken: "TOKEN" };
  await expectSigns(await open({ credentials }));
});

test("an inspected or serialized signer reveals neither key nor credentials", async () => {
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "not-for-anybody");
  const signer = await open();
  await expectSigns(signer);
  for (const shown of [inspect(signer, { showHidden: true, depth: null }), JSON.stringify(signer)]) {
    expect(shown).not.toContain(key.id);
    expect(shown).not.toContain("not-for-anybody");
  }
});

test("refuses a key of another curve at the start with a permanent error", async () => {
  const { id: keyId } = kms.createKey("ECC_NIST_P256");
  const error: unknown = await open({ keyId }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(Error);
  expect(error).not.toBeInstanceOf(SignerUnavailable);
  expect(String(error)).toContain("ECC_SECG_P256K1");
  expectSilent(error);
});

test("a key that is not for signing is refused at the start", async () => {
  kms.onCall(() => ({ kind: "answer", fields: { KeyUsage: "KEY_AGREEMENT" } }));
  await expect(open()).rejects.toThrow("SIGN_VERIFY");
});

test("an unknown or inaccessible key is unavailable at the start", async () => {
  await expectUnavailable(open({ keyId: "alias/nobody" }), "unknown-key");
  key.denied.add("GetPublicKey");
  await expectUnavailable(open(), "refused");
});

test("an answer without a public key is an error", async () => {
  kms.onCall(() => ({ kind: "bytes", body: "{}" }));
  await expectUnavailable(open(), "bad-answer");
});

test("a disabled or denied key does not sign, and signs again afterwards", async () => {
  const signer = await open();
  key.state = "Disabled";
  await expectUnavailable(signer.signDigest(digest), "disabled");
  key.state = "PendingDeletion";
  await expectUnavailable(signer.signDigest(digest), "disabled");
  key.state = "Enabled";
  key.denied.add("Sign");
  await expectUnavailable(signer.signDigest(digest), "refused");
  key.denied.clear();
  await expectSigns(signer);
});

test.each<[string, KmsFault, Partial<AwsKmsOptions>]>([
  ["throttled", { kind: "throttle" }, {}],
  ["failed inside the service", { kind: "internal" }, {}],
  ["lost with its connection", { kind: "drop" }, {}],
  ["answered too late", { kind: "delay", ms: 5_000 }, impatient],
])("a call that was %s is retried", async (_, fault, options) => {
  const signer = await open(options);
  kms.onCall(first(1, fault));
  await expectSigns(signer);
  expect(kms.calls("Sign")).toBe(2);
});

test.each<[string, KmsFault, SignerFault, Partial<AwsKmsOptions>]>([
  ["throttled", { kind: "throttle" }, "throttled", {}],
  ["failing inside the service", { kind: "internal" }, "unreachable", {}],
  ["losing the connection", { kind: "drop" }, "unreachable", {}],
  ["answering too late", { kind: "delay", ms: 5_000 }, "timeout", impatient],
])("a service that keeps %s is called at most three times", async (_, fault, expectedFault, options) => {
  const signer = await open(options);
  kms.onCall(first(99, fault));
  await expectUnavailable(signer.signDigest(digest), expectedFault);
  expect(kms.calls("Sign")).toBe(3);
  kms.onCall(undefined);
  await expectSigns(signer);
});

test("each call ends at its deadline, however slow its attempts are", async () => {
  const signer = await open({ deadlineMs: 300, attemptMs: 60_000 });
  kms.onCall(first(99, { kind: "delay", ms: 30_000 }));
  const before = performance.now();
  await expectUnavailable(signer.signDigest(digest), "timeout");
  expect(performance.now() - before).toBeLessThan(1_500);
});

test("the deadline also ends the wait for credentials", async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  vi.stubEnv("AWS_ACCESS_KEY_ID", undefined);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", undefined);
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere");
  vi.stubEnv("AWS_CONFIG_FILE", "/nowhere");
  vi.stubEnv(
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`,
  );
  const before = performance.now();
  await expectUnavailable(open({ deadlineMs: 300 }), "timeout");
  expect(performance.now() - before).toBeLessThan(900);
  silent.closeAllConnections();
  silent.close();
});

test("without credentials, fails with that reason and calls nothing", async () => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", undefined);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", undefined);
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere");
  vi.stubEnv("AWS_CONFIG_FILE", "/nowhere");
  vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
  await expectUnavailable(open(), "no-credentials");
  expect(kms.calls("GetPublicKey")).toBe(0);
});

test("credentials of another region are refused", async () => {
  await expectUnavailable(open({ region: "eu-north-1" }), "refused");
});

test("a service that is down is unreachable", async () => {
  const signer = await open();
  await kms.stop();
  await expectUnavailable(signer.signDigest(digest), "unreachable");
});

test("a signature by another key is discarded", async () => {
  const signer = await open({ keyId: "alias/oracle" });
  const other = kms.importKey(OTHER_KEY);
  kms.setAlias("oracle", other);
  await expectUnavailable(signer.signDigest(digest), "bad-answer");
  kms.setAlias("oracle", key);
  await expectSigns(signer);
});

test("a signature of another digest is discarded", async () => {
  const signer = await open();
  const other = Buffer.from(key.sign(Buffer.alloc(32, 7))).toString("base64");
  kms.onCall(() => ({ kind: "answer", fields: { Signature: other } }));
  await expectUnavailable(signer.signDigest(digest), "bad-answer");
});

test.each<[string, KmsFault]>([
  [
    "bytes that are not DER",
    { kind: "answer", fields: { Signature: Buffer.alloc(70, 7).toString("base64") } },
  ],
  ["an object without a signature", { kind: "answer", fields: { Signature: undefined } }],
  ["an empty signature", { kind: "answer", fields: { Signature: "" } }],
  ["an empty object", { kind: "bytes", body: "{}" }],
  ["HTML instead of JSON", { kind: "bytes", body: "<html>" }],
  ["nothing", { kind: "bytes", body: "" }],
])("an answer of %s is not a signature", async (_, fault) => {
  const signer = await open();
  kms.onCall(first(99, fault));
  await expectUnavailable(signer.signDigest(digest), "bad-answer");
});
