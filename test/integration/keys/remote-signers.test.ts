import {
  connectedSigner,
  ethRpcSigner,
  googleKmsSigner,
  rawKeySigner,
  signPersonalMessage,
  SignerUnavailable,
  web3Signer,
  WrongKey,
  type Signer,
  type SignerFault,
} from "@causeway/attest";
import { signTransaction, type UnsignedTransaction } from "@causeway/chains";
import {
  startGoogleKms,
  startRemoteSigner,
  type RunningGoogleKms,
  type RunningRemoteSigner,
} from "@causeway/simulators/kms";
import { setTimeout as delay } from "node:timers/promises";
import { keccak256 } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

// Google Cloud KMS and remote signers that fail, are slow or lie.

const KEY = `0x${"5eed".repeat(16)}` as const;
const OTHER_KEY = `0x${"0b5e".repeat(16)}` as const;
const { address } = rawKeySigner(KEY);
const digest = keccak256("0x01");
const transaction: UnsignedTransaction = {
  chainId: 8453,
  nonce: 3,
  to: `0x${"22".repeat(20)}`,
  value: 5n,
  data: "0xdeadbeef",
  gas: 90_000n,
  maxFeePerGas: 30n,
  maxPriorityFeePerGas: 1n,
};

let google: RunningGoogleKms;
let vault: RunningRemoteSigner;

beforeAll(async () => {
  [google, vault] = await Promise.all([
    startGoogleKms(KEY),
    startRemoteSigner({ privateKeys: [KEY, OTHER_KEY] }),
  ]);
});
beforeEach(() => {
  google.overrideResponses(undefined);
  vault.onSign(undefined);
});
afterAll(async () => {
  await Promise.all([google.stop(), vault.stop()]);
});

async function expectUnavailable(signing: Promise<unknown>, fault: SignerFault): Promise<void> {
  const error: unknown = await signing.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SignerUnavailable);
  expect(error).toMatchObject({ fault, code: "SERVICE_UNAVAILABLE" });
  // A caller may see the error, so it names no host, key or account.
  expect(String(error)).not.toMatch(/127\.0\.0\.1|projects|0x/);
}

const openGoogle = async (deadlineMs = 10_000) =>
  await googleKmsSigner({
    name: google.name,
    endpoint: google.url,
    metadataHost: google.metadataHost,
    deadlineMs,
  });

const sign = async (signer: Signer) =>
  await signTransaction(transaction, (hash, preimage) => signer.signDigest(hash, preimage));

const signature = async (key: string, hash = digest) => {
  const { r, s } = await rawKeySigner(key).signDigest(hash);
  return { r: r.slice(2), s: s.slice(2) };
};

test.each<[string, SignerFault, Readonly<Record<string, unknown>>]>([
  ["of another key version", "bad-answer", { name: "projects/other" }],
  ["with a checksum of other bytes", "bad-answer", { signatureCrc32c: "1" }],
  ["to a digest that was damaged on the way", "bad-answer", { verifiedDigestCrc32c: false }],
  ["without a signature", "bad-answer", { signature: undefined }],
  ["that is not DER", "bad-answer", { signature: "AAAA", signatureCrc32c: "1214729159" }],
])("refuses an answer of Google Cloud KMS %s", async (_, fault, fields) => {
  const signer = await openGoogle();
  google.overrideResponses(({ status, body }) => ({ status, body: { ...body, ...fields } }));
  await expectUnavailable(signer.signDigest(digest), fault);
  google.overrideResponses(undefined);
  expect(await signer.signDigest(digest)).toMatchObject({ r: expect.any(String) });
  await signer.close();
});

test.each<[number, SignerFault]>([
  [401, "refused"],
  [403, "refused"],
  [404, "unknown-key"],
  [429, "throttled"],
  [500, "unreachable"],
])("status %i of Google Cloud KMS is %s, and the key can be used again afterwards", async (status, fault) => {
  const signer = await openGoogle();
  google.overrideResponses(() => ({ status, body: { error: { message: "projects/secret 0xdead" } } }));
  await expectUnavailable(signer.signDigest(digest), fault);
  google.overrideResponses(() => "drop");
  await expectUnavailable(signer.signDigest(digest), "unreachable");
  google.overrideResponses(undefined);
  await signer.signDigest(digest);
  await signer.close();
});

test("requests one access token for many signatures, even if they start together", async () => {
  const before = google.tokens();
  const signer = await openGoogle();
  await Promise.all(Array.from({ length: 20 }, () => signer.signDigest(digest)));
  expect(google.tokens() - before).toBe(1);
  await signer.close();
});

test("a Google key of another curve is not used", async () => {
  const p256 = await startGoogleKms(KEY, "ECC_NIST_P256");
  const opening = googleKmsSigner({ name: p256.name, endpoint: p256.url, metadataHost: p256.metadataHost });
  await expect(opening).rejects.toThrow("must be of algorithm EC_SIGN_SECP256K1_SHA256");
  await p256.stop();
});

const changes: readonly (readonly [string, object])[] = [
  ["recipient", { to: `0x${"66".repeat(20)}` }],
  ["value", { value: 6n }],
  ["call data", { data: "0xdeadbeee" }],
  ["nonce", { nonce: 4 }],
  ["chain", { chainId: 1 }],
  ["fee", { maxFeePerGas: 31n }],
];

test.each(changes)("refuses a transaction whose %s the remote signer changed", async (_, changed) => {
  const signer = ethRpcSigner({ url: vault.url, address });
  vault.onSign(() => ({ transaction: changed }));
  await expectUnavailable(sign(signer), "bad-answer");
  await signer.close();
});

test("refuses a remote signer's signature by another key or over another digest", async () => {
  const signer = web3Signer({ url: vault.url, address });
  const stranger = await signature(OTHER_KEY);
  vault.onSign(() => ({ answer: { status: 200, body: `0x${stranger.r}${stranger.s}1b` } }));
  await expectUnavailable(sign(signer), "bad-answer");
  const other = await signature(KEY, keccak256("0x02"));
  vault.onSign(() => ({ answer: { status: 200, body: `0x${other.r}${other.s}1b` } }));
  await expectUnavailable(sign(signer), "bad-answer");
  await signer.close();
});

test.each<[string, unknown]>([
  ["an error", { jsonrpc: "2.0", id: 1, error: { code: -32_000, message: "denied by policy 0xdead" } }],
  ["no result", { jsonrpc: "2.0", id: 1 }],
  ["an object without raw bytes", { jsonrpc: "2.0", id: 1, result: { tx: {} } }],
  ["bytes that are not a transaction", { jsonrpc: "2.0", id: 1, result: "0x02ff" }],
  ["a string", "signed"],
])("%s instead of a signed transaction is a retryable fault of the service", async (what, body) => {
  const signer = ethRpcSigner({ url: vault.url, address });
  vault.onSign(() => ({ answer: { status: 200, body } }));
  await expectUnavailable(sign(signer), what === "an error" ? "refused" : "bad-answer");
  vault.onSign(undefined);
  expect((await sign(signer)).raw).toMatch(/^0x02/);
  await signer.close();
});

test("accepts the object that Geth returns, with any kind of recovery id", async () => {
  const rpc = ethRpcSigner({ url: vault.url, address });
  const { raw } = await sign(rawKeySigner(KEY));
  vault.onSign(() => ({ answer: { status: 200, body: { jsonrpc: "2.0", id: 1, result: { raw, tx: {} } } } }));
  expect((await sign(rpc)).raw).toBe(raw);
  const rest = web3Signer({ url: vault.url, address });
  const id = keccak256("0x03");
  const expected = await signPersonalMessage(rawKeySigner(KEY), id);
  for (const v of ["00", "01", "1b", "1c", "25"]) {
    vault.onSign(() => ({ answer: { status: 200, body: `${expected.slice(0, -2)}${v}` } }));
    expect(await signPersonalMessage(rest, id)).toBe(expected);
  }
  await Promise.all([rpc.close(), rest.close()]);
});

test("reports a remote signer that does not answer as a timeout, and one without the key as an unknown key", async () => {
  const slow = ethRpcSigner({ url: vault.url, address, deadlineMs: 200 });
  vault.onSign(async () => await delay(2_000));
  await expectUnavailable(sign(slow), "timeout");
  vault.onSign(undefined);
  const unreachable = ethRpcSigner({ url: "http://127.0.0.1:1", address });
  await expectUnavailable(sign(unreachable), "unreachable");
  const stranger = web3Signer({ url: vault.url, address: `0x${"11".repeat(20)}` });
  await expectUnavailable(sign(stranger), "unknown-key");
  await Promise.all([slow.close(), unreachable.close(), stranger.close()]);
});

test("sends a remote signer no digest without its matching preimage", async () => {
  const before = vault.signed("sign") + vault.signed("eth_sign");
  for (const signer of [web3Signer({ url: vault.url, address }), ethRpcSigner({ url: vault.url, address })]) {
    await expect(signer.signDigest(digest)).rejects.toThrow("without its preimage");
    await expect(signer.signDigest(digest, { kind: "message", bytes: digest })).rejects.toThrow(
      "digest is not the hash of its message",
    );
    await signer.close();
  }
  expect(vault.signed("sign") + vault.signed("eth_sign")).toBe(before);
});

test("a lazy signer connects when it signs, again after a failure, and never with another account", async () => {
  let opened = 0;
  const signer = connectedSigner(address, async () => {
    opened++;
    if (opened === 1) throw new SignerUnavailable("unreachable");
    return rawKeySigner(KEY);
  });
  expect(opened).toBe(0);
  await expectUnavailable(signer.signDigest(digest), "unreachable");
  await Promise.all(Array.from({ length: 5 }, () => signer.signDigest(digest)));
  expect(opened).toBe(2);

  const wrong = connectedSigner(address, async () => rawKeySigner(OTHER_KEY));
  await expect(wrong.connect()).rejects.toThrow(WrongKey);
  await expectUnavailable(wrong.signDigest(digest), "unknown-key");
});

test("requests at most sixteen signatures concurrently, and completes all of them", async () => {
  let running = 0;
  let maxRunning = 0;
  const signer = connectedSigner(address, async () => ({
    address,
    signDigest: async (hash) => {
      maxRunning = Math.max(maxRunning, ++running);
      await delay(1);
      running--;
      return await rawKeySigner(KEY).signDigest(hash);
    },
  }));
  expect(await Promise.all(Array.from({ length: 100 }, () => signer.signDigest(digest)))).toHaveLength(100);
  expect(maxRunning).toBe(16);
});
