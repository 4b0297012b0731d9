import { awsKmsSigner, type AwsKmsSigner } from "@causeway/attest";
import { startKms, type KmsFault, type KmsKey, type RunningKms } from "@causeway/simulators/kms";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { oracleSigner, privateKey } from "../../support/oracle-keys.ts";
import { executionSigners, messageSigners } from "../../support/recovered-signers.ts";
import { aChain, DEPOSIT_TX, FakeChain, startWorld, word } from "../../support/oracle-world.ts";
import type { Answer, World, WorldOptions } from "../../support/oracle-world.ts";

// If the key service fails after the start, the oracle signs each answer completely or not at all.

let kms: RunningKms;
let key: KmsKey;
let signer: AwsKmsSigner;
const worlds: World[] = [];

beforeEach(async () => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "local");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "local");
  kms = await startKms();
  key = kms.importKey(privateKey(0), "oracle");
  signer = await awsKmsSigner({
    keyId: "alias/oracle",
    region: kms.region,
    endpoint: kms.url,
    deadlineMs: 2_000,
    attemptMs: 200,
  });
});

afterEach(async () => {
  await Promise.all(worlds.splice(0).map(async (world) => await world.close()));
  signer.close();
  await kms.stop();
  vi.unstubAllEnvs();
});

async function aWorld(options: WorldOptions = {}): Promise<World> {
  const world = await startWorld({ signer, ...options });
  worlds.push(world);
  world.origin.addDeposits(DEPOSIT_TX, [{ depositId: word("0a") }, { index: "7" }]);
  return world;
}

const ask = async (world: World, more: object = {}): Promise<Answer> =>
  await world.post("depository-deposits", { chainId: "origin", transactionId: DEPOSIT_TX, ...more });

/** The number of signatures in one answer: two messages and one execution. */
const SIGNATURES = 3;

function mustBeUnavailable({ status, body, headers, text }: Answer): void {
  expect([status, body.code]).toEqual([503, "upstream_unavailable"]);
  expect(headers.get("retry-after")).toBe("1");
  // The error contains no part of the signed message, and nothing about the key or its location.
  expect(text).not.toMatch(/0x[0-9a-f]{64}|signature|arn:|KMS|[0-9a-f]{8}-[0-9a-f]{4}-|127\.0\.0\.1/i);
}

async function mustSign(world: World): Promise<void> {
  const { status, body } = await ask(world);
  expect(status).toBe(200);
  expect(await executionSigners(body.execution)).toEqual([signer.address]);
  expect(body.messages).toHaveLength(2);
  for (const message of body.messages)
    expect(await messageSigners("depositoryDeposit", message)).toEqual([signer.address]);
}

/** Lets the first `passed` calls of Sign succeed and all later ones fail. */
function failAfter(passed: number, fault: KmsFault): void {
  let calls = 0;
  kms.onCall((operation) => (operation === "Sign" && calls++ >= passed ? fault : undefined));
}

/** The bytes of an address, which are no signature. */
const notASignature = Buffer.from(oracleSigner(1).address.slice(2), "hex");
const faults: readonly [string, KmsFault][] = [
  ["throttled", { kind: "throttle" }],
  ["failing", { kind: "internal" }],
  ["cutting connections", { kind: "drop" }],
  ["silent", { kind: "delay", ms: 5_000 }],
  ["answering without a signature", { kind: "answer", fields: { Signature: undefined } }],
  [
    "answering with bytes that sign nothing",
    { kind: "answer", fields: { Signature: notASignature.toString("base64") } },
  ],
];

test.each(faults)(
  "a key service that is %s causes 503, and signing continues afterwards",
  async (_, fault) => {
    const world = await aWorld();
    await mustSign(world);
    failAfter(0, fault);
    mustBeUnavailable(await ask(world));
    kms.onCall(undefined);
    await mustSign(world);
  },
);

test.each([1, 2])("returns no signature if the service fails after %i of three", async (passed) => {
  const world = await aWorld();
  const before = world.signatures.count;
  failAfter(passed, { kind: "answer", fields: { Signature: undefined } });
  mustBeUnavailable(await ask(world));
  // The oracle tried to make all three signatures, but only `passed` succeeded.
  await expect.poll(() => world.signatures.count - before).toBe(SIGNATURES);
  expect(kms.calls("Sign")).toBe(SIGNATURES);
});

test("never returns a signature that another key made", async () => {
  const world = await aWorld();
  kms.setAlias("oracle", kms.importKey(privateKey(1)));
  mustBeUnavailable(await ask(world));
  kms.setAlias("oracle", key);
  await mustSign(world);
});

test("a disabled or removed key causes 503 until it is back", async () => {
  const world = await aWorld();
  key.state = "Disabled";
  mustBeUnavailable(await ask(world));
  key.state = "Enabled";
  key.denied.add("Sign");
  mustBeUnavailable(await ask(world));
  key.denied.clear();
  await mustSign(world);
});

test("when the key service is down, signing requests get 503 and others are answered", async () => {
  const world = await aWorld();
  await kms.stop();
  mustBeUnavailable(await ask(world));
  expect((await world.get("/chains/v1")).status).toBe(200);
  world.origin.addDeposits(DEPOSIT_TX, []);
  expect((await ask(world)).status).toBe(200);
});

test("an oracle without its key returns its peers' signatures and signs nothing itself", async () => {
  const origin = new FakeChain(aChain("origin", 1));
  const addresses = [0, 1, 2].map((n) => oracleSigner(n).address);
  const list = { origin, signers: new Set(addresses), threshold: 2 };
  const peers = await Promise.all(
    [1, 2].map(async (n) => await aWorld({ ...list, signer: oracleSigner(n) })),
  );
  const world = await aWorld({ ...list, peers: peers.map(({ url }) => url) });
  key.state = "Disabled";
  const { status, body } = await ask(world, { requestPeerSignatures: true, requireThreshold: true });
  expect([status, body.quorum.signers]).toEqual([200, 2]);
  expect(["failed", "pending"]).toContain(body.quorum.local);
  expect(await executionSigners(body.execution)).toEqual(addresses.slice(1).toSorted());
  for (const message of body.messages)
    expect(await messageSigners("depositoryDeposit", message)).toEqual(addresses.slice(1).toSorted());
});

test("does not count an oracle toward the quorum while its key alias points to a peer's key", async () => {
  const origin = new FakeChain(aChain("origin", 1));
  const addresses = [0, 1, 2].map((n) => oracleSigner(n).address).toSorted();
  const list = { origin, signers: new Set(addresses), threshold: 3 };
  const peers = await Promise.all(
    [1, 2].map(async (n) => await aWorld({ ...list, signer: oracleSigner(n) })),
  );
  const world = await aWorld({ ...list, peers: peers.map(({ url }) => url) });
  const together = { requestPeerSignatures: true };
  // Only two keys sign, because two oracles use the same one, so there is no quorum of three.
  kms.setAlias("oracle", kms.importKey(privateKey(1)));
  const without = await ask(world, together);
  expect([without.status, without.body.quorum.signers]).toEqual([200, 2]);
  expect(await executionSigners(without.body.execution)).toEqual(
    addresses.filter((address) => address !== signer.address),
  );
  const strict = await ask(world, { ...together, requireThreshold: true });
  expect([strict.status, strict.body.code]).toEqual([409, "quorum_not_reached"]);

  kms.setAlias("oracle", key);
  const { status, body } = await ask(world, { ...together, requireThreshold: true });
  expect([status, body.quorum.signers]).toEqual([200, 3]);
  expect(await executionSigners(body.execution)).toEqual(addresses);
});
