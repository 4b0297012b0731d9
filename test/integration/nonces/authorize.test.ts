import { rawKeySigner } from "@causeway/attest";
import { ServiceError, type Address, type Hex, type RequestTerms } from "@causeway/domain";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { NonceAuthorization } from "../../../apps/api/src/chains/nonce-mappings.port.ts";
import { someHash } from "../../support/terms.ts";
import { HYPERLIQUID_ID, startNonceWorld, type NonceWorld } from "./nonce-world.ts";

// A wallet's nonce authorization is verified against its quote, stored once, signed by the oracles, set on
// the hub, and read from there.

const wallet = rawKeySigner(`0x${"51".repeat(32)}`);
const stranger = rawKeySigner(`0x${"52".repeat(32)}`);

let world: NonceWorld;
beforeAll(async () => {
  world = await startNonceWorld();
});
afterAll(async () => await world.stop());

const dataOf = ({ id, depositor }: NonceAuthorization): Hex => `0x${id.slice(2)}${depositor.slice(2)}`;
const readMapping = async ({ walletChainId, wallet: who, nonce }: NonceAuthorization) =>
  await world.reads.read(walletChainId, who, nonce);

async function refusal(act: Promise<unknown>): Promise<unknown> {
  try {
    return await act;
  } catch (error) {
    if (error instanceof ServiceError) return [error.code, error.facts.field];
    throw error;
  }
}

test("has oracles sign a wallet's authorization, sets it on the hub, and counts it once that is final", async () => {
  const terms = await world.quote(wallet.address);
  const authorization = await world.authorization(wallet, terms);
  expect((await readMapping(authorization)).mapped).toBeUndefined();
  expect(await world.authorize(authorization)).toBe(terms.requestId);
  // A stored authorization is not enough, because oracles read only the hub.
  expect((await readMapping(authorization)).mapped).toBeUndefined();
  expect((await world.rowOf(authorization)).state).toBe("stored");

  await world.round();
  expect((await world.rowOf(authorization)).state).toBe("signed");
  await world.mineHub(1);
  const { data, setAt } = await world.onHub(authorization);
  expect(data).toBe(dataOf(authorization));
  await world.round();
  // The transaction is mined, but the hub's policy requires two more blocks.
  expect((await world.rowOf(authorization)).state).toBe("signed");
  expect((await readMapping(authorization)).mapped).toBeUndefined();

  await world.mineHub(2);
  const mapped = { id: terms.orderId, depositor: wallet.address, setAt };
  expect((await readMapping(authorization)).mapped).toEqual(mapped);
  await world.round();
  expect((await world.rowOf(authorization)).state).toBe("published");
  expect((await readMapping(authorization)).mapped).toEqual(mapped);
  expect(await world.reads.find(HYPERLIQUID_ID, wallet.address, authorization.nonce)).toEqual(mapped);
});

test("a repeated authorization gets the same answer and changes nothing, regardless of its state", async () => {
  const terms = await world.quote(wallet.address);
  const authorization = await world.authorization(wallet, terms);
  for (let time = 0; time < 2; time++) expect(await world.authorize(authorization)).toBe(terms.requestId);
  // The wallet's signature for another chain differs, but authorizes the same nonce.
  const signedForOtherChain = await world.authorization(wallet, terms, { signatureChainId: 1 });
  expect(signedForOtherChain.signature).not.toBe(authorization.signature);
  expect(await world.authorize(signedForOtherChain)).toBe(terms.requestId);
  await world.untilQuiet();
  const before = await world.onHub(authorization);
  expect(await world.authorize(authorization)).toBe(terms.requestId);
  await world.untilQuiet();
  expect(await world.onHub(authorization)).toEqual(before);
  expect(
    world.events.of("nonce_authorized").filter(({ facts }) => facts["nonce"] === authorization.nonce),
  ).toHaveLength(1);
});

test("many concurrent authorizations are stored once", async () => {
  const terms = await world.quote(wallet.address);
  const authorization = await world.authorization(wallet, terms);
  const answers = await Promise.all(
    Array.from({ length: 8 }, async () => await world.authorize(authorization)),
  );
  expect(new Set(answers)).toEqual(new Set([terms.requestId]));
  const { rows } = await world.pool.query("select from nonce_mappings where nonce = $1", [
    authorization.nonce.toString(),
  ]);
  expect(rows).toHaveLength(1);
});

test("refuses a different authorization of the same nonce, and keeps the first one", async () => {
  const [first, other] = [await world.quote(wallet.address), await world.quote(wallet.address)];
  const nonce = BigInt(first.walletNonce ?? 0);
  const sameNonce = await world.quote(wallet.address, { walletNonce: first.walletNonce ?? 0 });
  await world.authorize(await world.authorization(wallet, first));
  expect(await refusal(world.authorize(await world.authorization(wallet, sameNonce)))).toEqual([
    "NONCE_TAKEN",
    "nonce",
  ]);
  // Each wallet has its own nonces.
  const theirs = await world.quote(stranger.address, { walletNonce: first.walletNonce ?? 0 });
  expect(await world.authorize(await world.authorization(stranger, theirs))).toBe(theirs.requestId);
  await world.untilQuiet();
  expect((await world.reads.find(HYPERLIQUID_ID, wallet.address, nonce))?.id).toBe(first.orderId);
  expect((await world.reads.find(HYPERLIQUID_ID, stranger.address, nonce))?.id).toBe(theirs.orderId);
  expect(other.orderId).not.toBe(first.orderId);
});

/** Records that the transfer of a quote arrived on Hyperliquid. */
async function recordArrival(terms: RequestTerms): Promise<void> {
  await world.services.uow.run(async (tx) => {
    const [stored] = await tx.deposits.record(HYPERLIQUID_ID, [
      {
        txHash: someHash(),
        ordinal: 0,
        blockNumber: 1n,
        blockHash: someHash(),
        confirmAtBlock: 1n,
        depositor: terms.user as Address,
        sender: terms.user as Address,
        currency: terms.origin.currency,
        amount: terms.origin.amount,
        orderId: undefined,
        requestId: undefined,
        seenAtMs: world.clock.nowMs(),
        valueUsd: 0n,
      },
    ]);
    if (stored === undefined) throw new Error("the deposit was already stored");
    await tx.nonEvm.noteNonce(stored.id, BigInt(terms.walletNonce ?? 0), world.clock.nowMs() + 3_600_000);
  });
}

type Change = Partial<NonceAuthorization>;
test.each<[string, (nonce: bigint) => readonly [signed: Change, sent: Change], unknown]>([
  ["another chain", () => [{}, { walletChainId: 8453 }], ["UNSUPPORTED_CHAIN", "walletChainId"]],
  ["another id, signed", () => alsoSigned({ id: someHash() }), ["INVALID_REQUEST", "id"]],
  ["another nonce, signed", (nonce) => alsoSigned({ nonce: nonce + 1n }), ["INVALID_REQUEST", "nonce"]],
  [
    "another depositor, signed",
    () => alsoSigned({ depositor: stranger.address }),
    ["INVALID_REQUEST", "depositor"],
  ],
  ["another id than signed", () => [{}, { id: someHash() }], ["INVALID_REQUEST", "signature"]],
  ["another nonce than signed", (nonce) => [{}, { nonce: nonce + 1n }], ["INVALID_REQUEST", "signature"]],
  ["another wallet than signed", () => [{}, { wallet: stranger.address }], ["INVALID_REQUEST", "signature"]],
  [
    "another depositor than signed",
    () => [{}, { depositor: stranger.address }],
    ["INVALID_REQUEST", "signature"],
  ],
  ["another chain of the signature", () => [{}, { signatureChainId: 1 }], ["INVALID_REQUEST", "signature"]],
])("%s is refused with its field, and nothing is stored", async (_what, change, expected) => {
  const terms = await world.quote(wallet.address);
  const [signed, sent] = change(BigInt(terms.walletNonce ?? 0));
  const authorization = { ...(await world.authorization(wallet, terms, signed)), ...sent };
  const { rows: before } = await world.pool.query("select from nonce_mappings");
  expect(await refusal(world.authorize(authorization))).toEqual(expected);
  const { rows } = await world.pool.query("select from nonce_mappings");
  expect(rows).toHaveLength(before.length);
});
function alsoSigned(change: Change): readonly [Change, Change] {
  return [change, {}];
}

test("a quote of another wallet, on another chain, or without a nonce cannot be authorized", async () => {
  const theirs = await world.quote(stranger.address);
  expect(await refusal(world.authorize(await world.authorization(wallet, theirs)))).toEqual([
    "INVALID_REQUEST",
    "wallet",
  ]);
  const elsewhere = await world.quote(wallet.address, {
    origin: { chainId: 1, currency: wallet.address, amount: 1n },
  });
  expect(await refusal(world.authorize(await world.authorization(wallet, elsewhere)))).toEqual([
    "INVALID_REQUEST",
    "id",
  ]);
  const { walletNonce: _, ...termsWithoutNonce } = await world.quote(wallet.address);
  const plain = await world.quote(wallet.address, {
    ...termsWithoutNonce,
    requestId: someHash(),
    orderId: someHash(),
  });
  const { walletNonce: nonce, ...none } = plain;
  expect(nonce).toBeDefined();
  await world.pool.query(
    "update requests set terms = (terms::jsonb - 'walletNonce')::text where request_id = $1",
    [none.requestId],
  );
  expect(await refusal(world.authorize(await world.authorization(wallet, plain)))).toEqual([
    "INVALID_REQUEST",
    "nonce",
  ]);
});

test("an earlier mapping of the wallet on the hub takes precedence over the posted one", async () => {
  const [postedTerms, hubTerms] = [await world.quote(wallet.address), await world.quote(wallet.address)];
  const authorization = await world.authorization(wallet, postedTerms);
  const other = await world.authorization(wallet, hubTerms, { nonce: authorization.nonce });
  await world.publishElsewhere(other);
  await world.authorize(authorization);
  await world.untilQuiet();
  expect((await world.rowOf(authorization)).state).toBe("contradicted");
  expect((await readMapping(authorization)).mapped).toMatchObject({ id: hubTerms.orderId });
  expect(world.events.of("nonce_contradicted").at(-1)?.facts).toMatchObject({ id: hubTerms.orderId });
});

test("uses a mapping that exists only on the hub, because the funds belong to an order", async () => {
  const terms = await world.quote(wallet.address);
  const authorization = await world.authorization(wallet, terms);
  await world.publishElsewhere(authorization);
  expect((await world.rowOf(authorization)).state).toBe("none");
  expect((await readMapping(authorization)).mapped).toMatchObject({
    id: terms.orderId,
    depositor: wallet.address,
  });
});

test("an absent mapping is reported with the time of the hub", async () => {
  const { timestamp } = await world.hubClient.getBlock({ blockTag: "latest" });
  const { mapped, asOf } = await world.reads.read(HYPERLIQUID_ID, wallet.address, 1n);
  expect(mapped).toBeUndefined();
  expect(asOf).toBeLessThanOrEqual(timestamp);
  world.clock.forward(86_400_000);
  expect((await world.reads.read(HYPERLIQUID_ID, wallet.address, 1n)).asOf).toBe(asOf);
});

test("an account with insufficient funds for its transfer cannot authorize, and nothing is published for it", async () => {
  const poor = rawKeySigner(`0x${"61".repeat(32)}`);
  const terms = await world.quote(poor.address);
  const authorization = await world.authorization(poor, terms);
  world.funds.set(poor.address, terms.origin.amount - 1n);
  expect(await refusal(world.authorize(authorization))).toEqual(["INSUFFICIENT_FUNDS", "wallet"]);
  expect((await world.rowOf(authorization)).state).toBe("none");

  world.funds.set(poor.address, terms.origin.amount);
  expect(await world.authorize(authorization)).toBe(terms.requestId);
  // The account has sent its transfer since. The same authorization gets the same answer.
  world.funds.set(poor.address, 0n);
  expect(await world.authorize(authorization)).toBe(terms.requestId);
});

test("an account whose transfer has arrived can authorize it with an empty balance", async () => {
  const spent = rawKeySigner(`0x${"62".repeat(32)}`);
  const terms = await world.quote(spent.address);
  const authorization = await world.authorization(spent, terms);
  world.funds.set(spent.address, 0n);
  await recordArrival(terms);
  expect(await world.authorize(authorization)).toBe(terms.requestId);
});

test("allows an account at most ten authorizations without a transfer per hour", async () => {
  const busy = rawKeySigner(`0x${"63".repeat(32)}`);
  const nextAuthorization = async () => await world.authorization(busy, await world.quote(busy.address));
  const authorizations = await Promise.all(Array.from({ length: 12 }, nextAuthorization));
  const outcomes = await Promise.all(
    authorizations.map(async (authorization) => await refusal(world.authorize(authorization))),
  );
  expect(outcomes.filter((outcome) => Array.isArray(outcome))).toEqual([
    ["RATE_LIMITED", "wallet"],
    ["RATE_LIMITED", "wallet"],
  ]);
  world.clock.forward(3_600_001);
  expect(await refusal(world.authorize(await nextAuthorization()))).toEqual(expect.any(String));
});

/** Fills the queue up to `upTo` authorizations. None of the new ones is ever due. */
async function fillQueue(upTo: number): Promise<void> {
  await world.pool.query(
    `insert into nonce_mappings (chain_id, wallet, nonce, mapped_id, depositor, signature, signature_chain_id, state, next_try_ms, created_at_ms, updated_at_ms)
     select $1, 'queued', n, 'id', 'queued', '0x', 1, 'stored', 9007199254740991, 0, 0 from generate_series(1, $2) n on conflict do nothing`,
    [HYPERLIQUID_ID, upTo - (await countWaiting())],
  );
}
/** The number of waiting authorizations, excluding those of `fillQueue`. */
async function countWaiting(): Promise<number> {
  const { rows } = await world.pool.query<{ count: number }>(
    "select count(*)::int as count from nonce_mappings where state in ('stored', 'signed') and wallet <> 'queued'",
  );
  return rows[0]?.count ?? 0;
}

test("allows each wallet one authorization without a transfer once 250 authorizations wait", async () => {
  const [first, second] = [rawKeySigner(`0x${"64".repeat(32)}`), rawKeySigner(`0x${"65".repeat(32)}`)];
  const nextAuthorization = async (signer: typeof first) =>
    await world.authorization(signer, await world.quote(signer.address));
  await fillQueue(248);
  for (let time = 0; time < 2; time++)
    expect(await refusal(world.authorize(await nextAuthorization(first)))).toEqual(expect.any(String));
  expect(await refusal(world.authorize(await nextAuthorization(first)))).toEqual(["RATE_LIMITED", "wallet"]);
  expect(await refusal(world.authorize(await nextAuthorization(second)))).toEqual(expect.any(String));
  expect(await refusal(world.authorize(await nextAuthorization(second)))).toEqual(["RATE_LIMITED", "wallet"]);
});

test("keeps at most 500 waiting authorizations, but always accepts one whose transfer has arrived", async () => {
  const [last, refused] = [rawKeySigner(`0x${"66".repeat(32)}`), rawKeySigner(`0x${"67".repeat(32)}`)];
  await fillQueue(499);
  const authorization = await world.authorization(last, await world.quote(last.address));
  const terms = await world.quote(refused.address);
  const tooMany = await world.authorization(refused, terms);
  expect(await refusal(world.authorize(authorization))).toEqual(expect.any(String));
  expect(await refusal(world.authorize(tooMany))).toEqual(["SERVICE_UNAVAILABLE", undefined]);
  expect((await world.rowOf(tooMany)).state).toBe("none");

  await recordArrival(terms);
  expect(await world.authorize(tooMany)).toBe(terms.requestId);
});
