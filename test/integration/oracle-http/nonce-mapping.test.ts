import { nonceMappingEntry } from "@causeway/attest";
import { genericMappingDomain, setEntryTypes } from "@causeway/contracts";
import type { Hex } from "@causeway/domain";
import { recoverTypedDataAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterEach, expect, test } from "vitest";
import { privateKey } from "../../support/oracle-keys.ts";
import {
  account,
  aHub,
  aHyperliquidChain,
  oracleSigner,
  startOracleWorld,
  word,
} from "../../support/oracle-world.ts";
import type { Answer, OracleWorld, OracleWorldOptions } from "../../support/oracle-world.ts";

// Oracles sign a wallet's nonce mapping for the hub.

const MAPPING = account("e5");
const hyperliquidChain = aHyperliquidChain("hyper", 1337);
const wallet = privateKeyToAccount(privateKey(500));
const stranger = privateKeyToAccount(privateKey(501));
const order = word("0d");

const worlds: OracleWorld[] = [];
async function aWorld(options: OracleWorldOptions = {}): Promise<OracleWorld> {
  const world = await startOracleWorld({
    otherChains: [hyperliquidChain],
    ...options,
    hub: { genericMappingAddress: MAPPING, ...options.hub },
  });
  worlds.push(world);
  return world;
}
afterEach(async () => {
  await Promise.all(worlds.splice(0).map(async (world) => await world.close()));
});

interface MappingMessage {
  readonly chainId: string;
  readonly wallet: Hex;
  readonly depositor: Hex;
  readonly id: Hex;
  readonly nonce: bigint;
}
const signedMapping: MappingMessage = {
  chainId: "exchange",
  wallet: wallet.address,
  depositor: account("bb"),
  id: order,
  nonce: 1_763_000_000_123n,
};

async function sign(
  changes: Partial<MappingMessage> = {},
  domain: { readonly chainId?: number; readonly name?: string; readonly version?: string } = {},
  signer = wallet,
): Promise<Hex> {
  return await signer.signTypedData({
    domain: {
      name: "ServiceNonceMapping",
      version: "2",
      chainId: 42161,
      verifyingContract: account("00"),
      ...domain,
    },
    types: {
      NonceMapping: [
        { name: "chainId", type: "string" },
        { name: "wallet", type: "address" },
        { name: "depositor", type: "address" },
        { name: "id", type: "bytes32" },
        { name: "nonce", type: "uint256" },
      ],
    },
    primaryType: "NonceMapping",
    message: { ...signedMapping, ...changes },
  });
}

async function request(changes: Readonly<Record<string, unknown>> = {}, signature?: Hex) {
  return {
    walletChainId: "hyper",
    wallet: signedMapping.wallet,
    nonce: signedMapping.nonce.toString(),
    id: signedMapping.id,
    depositor: signedMapping.depositor,
    signatureChainId: 42161,
    signature: signature ?? (await sign()),
    ...changes,
  };
}

async function post(world: OracleWorld, body: object): Promise<Answer> {
  return await world.post("signatures/nonce-mapping", body, {}, "v2");
}

async function signersOf({ body: { genericMapping } }: Answer): Promise<string[]> {
  const { signatures, ...message } = genericMapping;
  return await Promise.all(
    signatures.map(async ({ signature, mappingChainId, mappingContract }) => {
      expect([mappingChainId, mappingContract]).toEqual([String(aHub.chainId), MAPPING]);
      const address = await recoverTypedDataAddress({
        domain: genericMappingDomain(aHub.chainId, MAPPING),
        types: setEntryTypes,
        primaryType: "SetEntry",
        message,
        signature,
      });
      return address.toLowerCase();
    }),
  );
}

const summaryOf = ({ status, body }: Answer) => [status, body.code, body.field];

test("signs a wallet's signed mapping as an entry of its account on the hub", async () => {
  const world = await aWorld();
  const answer = await post(world, await request());
  expect(answer.status, answer.text).toBe(200);
  const { signatures, ...entry } = answer.body.genericMapping;
  expect(entry).toEqual(nonceMappingEntry("hyper", signedMapping));
  expect(entry.data).toBe(`${order}${"bb".repeat(20)}`);
  expect(signatures.map(({ oracleSigner }) => oracleSigner)).toEqual([world.signer.address]);
  expect(await signersOf(answer)).toEqual([world.signer.address]);
  expect(answer.body.quorum).toEqual({ signers: 1, threshold: 1, local: "ok" });
  // A wallet address in lowercase leads to the same bytes.
  const lowered = await post(world, await request({ wallet: signedMapping.wallet.toLowerCase() }));
  expect(lowered.body.genericMapping).toEqual(answer.body.genericMapping);
});

test("combines the oracles' signatures that the hub requires, in ascending order", async () => {
  const [first, otherSigner] = [oracleSigner(0), oracleSigner(1)];
  const signers = new Set([first.address, otherSigner.address]);
  const peer = await aWorld({ signer: otherSigner });
  const world = await aWorld({ signer: first, signers, threshold: 2, peers: [peer.url] });
  const answer = await post(world, { ...(await request()), requestPeerSignatures: true });
  expect(answer.status, answer.text).toBe(200);
  expect(await signersOf(answer)).toEqual([...signers].toSorted());
  expect(answer.body.quorum).toMatchObject({ signers: 2, threshold: 2 });
});

test("a peer configured with another mapping contract or hub adds no signature", async () => {
  for (const hub of [{ genericMappingAddress: account("e6") }, { chainId: 5 }]) {
    const [first, otherSigner] = [oracleSigner(0), oracleSigner(1)];
    const signers = new Set([first.address, otherSigner.address]);
    const peer = await aWorld({ signer: otherSigner, hub });
    const world = await aWorld({ signer: first, signers, threshold: 2, peers: [peer.url] });
    const answer = await post(world, { ...(await request()), requestPeerSignatures: true });
    expect(await signersOf(answer)).toEqual([first.address]);
  }
});

test.each<[string, () => Promise<Hex>]>([
  ["by another account", async () => await sign({}, {}, stranger)],
  ["for another id", async () => await sign({ id: word("0e") })],
  ["for another nonce", async () => await sign({ nonce: signedMapping.nonce + 1n })],
  ["for another depositor", async () => await sign({ depositor: account("bc") })],
  ["for another wallet", async () => await sign({ wallet: stranger.address })],
  ["for another chain", async () => await sign({ chainId: "hyper" })],
  ["in the domain of another chain", async () => await sign({}, { chainId: 1 })],
  ["in a domain with another name", async () => await sign({}, { name: "NonceMapping" })],
  ["in a domain with another version", async () => await sign({}, { version: "1" })],
])("a signature %s is refused, and nothing is signed", async (_what, signature) => {
  const world = await aWorld();
  const answer = await post(world, await request({}, await signature()));
  expect(summaryOf(answer)).toEqual([400, "rejected", "signature"]);
  expect(world.signatures.count).toBe(0);
});

test("accepts only one format of a signature", async () => {
  const world = await aWorld();
  const lowS = await sign();
  const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const s = curveOrder - BigInt(`0x${lowS.slice(66, 130)}`);
  const flipped = lowS.endsWith("1b") ? "1c" : "1b";
  const highS: Hex = `${lowS.slice(0, 66) as Hex}${s.toString(16).padStart(64, "0")}${flipped}`;
  const otherV: Hex = `${lowS.slice(0, 130) as Hex}${lowS.endsWith("1b") ? "00" : "01"}`;
  for (const signature of [highS, otherV])
    expect(summaryOf(await post(world, await request({}, signature)))).toEqual([
      400,
      "rejected",
      "signature",
    ]);
});

test.each<[string, Readonly<Record<string, unknown>>, string, string]>([
  ["an unknown chain", { walletChainId: "mars" }, "not_found", "walletChainId"],
  ["a chain whose transfers carry ids", { walletChainId: "origin" }, "invalid_request", "walletChainId"],
  ["a nonce with a leading zero", { nonce: `0${signedMapping.nonce}` }, "invalid_request", "nonce"],
  ["a nonce in hex", { nonce: "0x12" }, "invalid_request", "nonce"],
  ["a number for a nonce", { nonce: 12 }, "invalid_request", "nonce"],
  ["a nonce of 257 bits", { nonce: (2n ** 256n).toString() }, "invalid_request", "nonce"],
  ["an id cut short", { id: "0x0d" }, "invalid_request", "id"],
  ["an id that is invalid", { id: word("00") }, "invalid_request", "id"],
  ["a wallet that is invalid", { wallet: word("01") }, "invalid_request", "wallet"],
  ["a depositor that is invalid", { depositor: "0x" }, "invalid_request", "depositor"],
  ["a text for the chain of the signature", { signatureChainId: "1" }, "invalid_request", "signatureChainId"],
  ["a zero chain of the signature", { signatureChainId: 0 }, "invalid_request", "signatureChainId"],
  ["a signature cut short", { signature: "0x12" }, "invalid_request", "signature"],
])("%s is refused", async (_what, changes, code, field) => {
  const world = await aWorld();
  expect(summaryOf(await post(world, await request(changes)))).toEqual([400, code, field]);
  expect(world.signatures.count).toBe(0);
});

test("a hub without a mapping contract stores no mappings", async () => {
  const world = await startOracleWorld({ otherChains: [hyperliquidChain] });
  worlds.push(world);
  expect(summaryOf(await post(world, await request()))).toEqual([400, "not_found", "walletChainId"]);
});
