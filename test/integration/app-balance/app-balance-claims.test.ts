import { pay } from "../../../apps/api/src/payments/pay-leg.ts";
import { claimLeg } from "../../../apps/api/src/payments/legs/claim-leg.ts";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, Hex, Hex32 } from "@causeway/domain";
import { randomBytes } from "node:crypto";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { PrivateKeyAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accountSignatures } from "../../../apps/api/src/chains/signatures.adapter.ts";
import type { ClaimRecord } from "../../../apps/api/src/balances/claims.port.ts";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { acceptClaim } from "../../../apps/api/src/balances/accept-claim.ts";
import { creditTopUp } from "../../../apps/api/src/balances/credit-top-up.ts";
import { releaseHold } from "../../../apps/api/src/balances/move-hold.ts";
import { offerClaim, type ClaimQuestion } from "../../../apps/api/src/balances/offer-claim.ts";
import { placeHold } from "../../../apps/api/src/balances/place-hold.ts";
import { openLane } from "../../../apps/api/src/payments/open-lane.ts";
import { pruneHistory } from "../../../apps/api/src/reconcile/prune-history.ts";
import {
  contractAllocatorAbi,
  contractAllocatorBytecode,
} from "../../../packages/contracts/src/generated/contract-allocator.ts";
import { Crashed, crashingServices } from "../../fakes/crashing-services.ts";
import { loseRows } from "../../support/lost-rows.ts";
import { startEngineWorld, type EngineWorld } from "../../support/engine-world.ts";
import { violatedInvariants } from "../../support/ledger-world.ts";
import { someHash } from "../../support/terms.ts";

const ONE = 10n ** 18n;
let world: EngineWorld;

beforeAll(async () => {
  world = await startEngineWorld({ chain: { finalityBlocks: 3 } });
});
afterAll(async () => {
  expect(await violatedInvariants(world.pool)).toEqual([]);
  await world.stop();
});

/** A wallet with a private key and this app balance. */
async function aWallet(amount: bigint, currency: Address = world.usdc): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey());
  await give(account.address.toLowerCase() as Address, amount, currency);
  return account;
}

async function give(wallet: Address, amount: bigint, currency: Address): Promise<void> {
  const asset = { chainId: world.origin.chain.id, currency };
  await world.services.uow.run(
    async (tx) =>
      await creditTopUp(world.services, tx, { wallet, asset, amount, movementKey: `given:${someHash()}` }),
  );
}

async function line(wallet: Address, currency = world.usdc) {
  const { lines } = await world.services.balances.book(wallet.toLowerCase() as Address);
  const found = lines.find(({ asset }) => asset.currency === currency);
  return { balance: found?.balance ?? 0n, pending: found?.pending ?? 0n, owed: found?.owed ?? 0n };
}

async function earned(currency: Address): Promise<bigint> {
  const { rows } = await world.pool.query<{ sum: string | null }>(
    "select sum(amount) from ledger_entries where account = 'fees' and currency = $1",
    [currency],
  );
  return BigInt(rows[0]?.sum ?? 0);
}

const offer = async (
  wallet: Address,
  changes: Partial<ClaimQuestion> = {},
  services: WorkerServices = world.services,
) =>
  await offerClaim(
    { ...services, random: { bytes32: () => `0x${randomBytes(32).toString("hex")}` } },
    {
      wallet: wallet.toLowerCase() as Address,
      chainId: world.origin.chain.id,
      currency: world.usdc,
      recipient: world.anAddress(),
      amount: 4_000_000n,
      ...changes,
    },
  );

const accept = async (
  claimId: Hex32,
  signature: Hex,
  services: WorkerServices = world.services,
): Promise<void> =>
  await acceptClaim(
    { ...services, signatures: accountSignatures(world.origin.connected.connection.reader) },
    claimId,
    signature,
  );

const signed = async (account: PrivateKeyAccount, claimId: Hex32): Promise<Hex> =>
  await account.signMessage({ message: { raw: claimId } });

async function record(claimId: Hex32): Promise<ClaimRecord> {
  const claim = await world.services.balances.claim(claimId);
  if (claim === undefined) throw new Error("the claim was not stored");
  return claim;
}

/** Runs rounds until the claim ended. */
async function untilEnded(claimId: Hex32): Promise<ClaimRecord> {
  for (let round = 0; round < 40; round++) {
    const claim = await record(claimId);
    if (claim.state === "paid" || claim.state === "returned") return claim;
    world.clock.forward(20_000);
    await world.round();
  }
  throw new Error(`still ${JSON.stringify(await record(claimId), (_, v: unknown) => String(v))}`);
}

test("a signed claim is paid once: the reservation ends when the payout is final, and the fee is booked as revenue", async () => {
  const account = await aWallet(10_000_000n);
  const { claimId, recipient, feeAmount } = await offer(account.address);
  expect(feeAmount).toBeGreaterThan(0n);
  expect(await line(account.address), "an offer moves nothing").toEqual({
    balance: 10_000_000n,
    pending: 0n,
    owed: 0n,
  });
  await accept(claimId, await signed(account, claimId));
  const total = 4_000_000n + feeAmount;
  expect(await line(account.address)).toEqual({ balance: 10_000_000n - total, pending: total, owed: 0n });
  await world.work();
  await world.round();
  expect((await record(claimId)).txHash).toMatch(/^0x[0-9a-f]{64}$/);
  expect((await record(claimId)).state, "mined, but not final").toBe("paying");
  expect(await untilEnded(claimId)).toMatchObject({ state: "paid" });
  expect(await line(account.address)).toEqual({ balance: 10_000_000n - total, pending: 0n, owed: 0n });
  expect(await world.origin.balance(recipient, world.usdc)).toBe(4_000_000n);
});

test("a claim without an amount pays out the whole balance, also if it is in the native token", async () => {
  const account = await aWallet(ONE, NATIVE_CURRENCY);
  const { claimId, recipient, amount, feeAmount } = await offer(account.address, {
    currency: NATIVE_CURRENCY,
    amount: undefined,
  });
  expect(amount + feeAmount).toBe(ONE);
  await accept(claimId, await signed(account, claimId));
  expect((await untilEnded(claimId)).state).toBe("paid");
  expect(await world.origin.balance(recipient, NATIVE_CURRENCY)).toBe(amount);
  expect(await line(account.address, NATIVE_CURRENCY)).toEqual({ balance: 0n, pending: 0n, owed: 0n });
});

test("only the wallet's own signature over this claim pays the claim", async () => {
  const account = await aWallet(10_000_000n);
  const stranger = privateKeyToAccount(generatePrivateKey());
  const { claimId } = await offer(account.address);
  const other = await offer(account.address);
  for (const signature of [
    await signed(stranger, claimId),
    await signed(account, other.claimId),
    await account.signMessage({ message: claimId }),
    `0x${"11".repeat(65)}`,
    "0x",
  ] as const)
    await expect(accept(claimId, signature), signature).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  await expect(accept(someHash(), await signed(account, claimId))).rejects.toMatchObject({
    code: "INVALID_REQUEST",
  });
  expect((await line(account.address)).pending).toBe(0n);
});

test("accepts a contract wallet's EIP-1271 signature, and reports the error of an unreachable node", async () => {
  const owner = privateKeyToAccount(generatePrivateKey());
  const hash = await world.origin.client.deployContract({
    account: privateKeyToAccount(world.stranger.privateKey),
    abi: contractAllocatorAbi,
    bytecode: contractAllocatorBytecode,
    args: [owner.address],
  });
  await world.origin.mine();
  const { contractAddress } = await world.origin.client.getTransactionReceipt({ hash });
  const wallet = contractAddress?.toLowerCase() as Address;
  await give(wallet, 10_000_000n, world.usdc);
  const { claimId } = await offer(wallet);
  const stranger = privateKeyToAccount(generatePrivateKey());
  await expect(accept(claimId, await signed(stranger, claimId))).rejects.toMatchObject({
    code: "INVALID_REQUEST",
  });
  const unreachable = {
    ...world.services,
    signatures: accountSignatures({
      ask: async () => {
        throw new Error("connection refused");
      },
    }),
  };
  await expect(acceptClaim(unreachable, claimId, await signed(owner, claimId))).rejects.toThrow(
    "connection refused",
  );
  await accept(claimId, await signed(owner, claimId));
  expect((await untilEnded(claimId)).state).toBe("paid");
});

test("refuses to pay out held funds, both when a claim is offered and when it is signed", async () => {
  const account = await aWallet(10_000_000n);
  const wallet = account.address.toLowerCase() as Address;
  const early = await offer(wallet, { amount: 9_000_000n });
  const requestId = someHash();
  await world.services.uow.run(
    async (tx) =>
      await placeHold(world.services, tx, {
        wallet,
        keyId: "key",
        requestId,
        usd: 6n * ONE,
        chainId: world.origin.chain.id,
        currency: world.usdc,
        amount: 1n,
      }),
  );
  await expect(accept(early.claimId, await signed(account, early.claimId))).rejects.toMatchObject({
    code: "INSUFFICIENT_FUNDS",
  });
  await expect(offer(wallet, { amount: 4_000_001n })).rejects.toMatchObject({ code: "INSUFFICIENT_FUNDS" });
  const wholeBalance = await offer(wallet, { amount: undefined });
  expect(wholeBalance.amount + wholeBalance.feeAmount).toBe(4_000_000n);
  await world.services.uow.run(async (tx) => await releaseHold(world.services, tx, requestId));
  await accept(early.claimId, await signed(account, early.claimId));
  expect((await untilEnded(early.claimId)).state).toBe("paid");
});

test("ten concurrent acceptances of each of ten claims never overdraw a balance that covers two", async () => {
  const account = await aWallet(10_000_000n);
  const claims = await Promise.all(Array.from({ length: 10 }, async () => await offer(account.address)));
  const results = await Promise.allSettled(
    claims.flatMap(({ claimId }) =>
      Array.from({ length: 10 }, async () => await accept(claimId, await signed(account, claimId))),
    ),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(20);
  const states = await Promise.all(claims.map(async ({ claimId }) => await record(claimId)));
  const paying = states.filter(({ state }) => state === "paying");
  expect(paying).toHaveLength(2);
  for (const { claimId } of paying) expect((await untilEnded(claimId)).state).toBe("paid");
  for (const { recipient, state } of states)
    expect(await world.origin.balance(recipient, world.usdc)).toBe(state === "paying" ? 4_000_000n : 0n);
});

test("refuses a signature after the offer expired, and deletes the offer a day later", async () => {
  const account = await aWallet(10_000_000n);
  const { claimId } = await offer(account.address);
  world.clock.forward(601_000);
  await expect(accept(claimId, await signed(account, claimId))).rejects.toThrow(/expired/);
  world.clock.forward(24 * 3600 * 1000);
  const newestBlocksMs = async () => await Promise.resolve([world.clock.nowMs()]);
  await pruneHistory({ ...world.services, reads: { ...world.services.reads, newestBlocksMs } });
  expect(await world.services.balances.claim(claimId)).toBeUndefined();
});

test("refuses an invalid claim with the error code of its fault", async () => {
  const account = await aWallet(10_000_000n);
  const poor = await aWallet(1n);
  const cases: readonly [() => Promise<unknown>, string][] = [
    [() => offer(account.address, { chainId: world.destination.chain.id }), "UNSUPPORTED_CHAIN"],
    [() => offer(account.address, { currency: world.anAddress() }), "UNSUPPORTED_CURRENCY"],
    [() => offer(account.address, { recipient: NATIVE_CURRENCY }), "INVALID_RECIPIENT"],
    [() => offer(account.address, { recipient: world.usdc }), "INVALID_RECIPIENT"],
    [() => offer(account.address, { recipient: world.solver.address }), "INVALID_RECIPIENT"],
    [() => offer(account.address, { amount: 10_000_000n }), "INSUFFICIENT_FUNDS"],
    [() => offer(account.address, { amount: 0n }), "AMOUNT_TOO_LOW"],
    [() => offer(poor.address, { amount: undefined }), "AMOUNT_TOO_LOW"],
    [() => offer(world.anAddress(), { amount: 1n }), "INSUFFICIENT_FUNDS"],
  ];
  for (const [offerInvalidClaim, code] of cases)
    await expect(offerInvalidClaim()).rejects.toMatchObject({ code });
});

test("a claim whose recipient rejects native tokens is returned to the balance, including its fee", async () => {
  const account = await aWallet(ONE, NATIVE_CURRENCY);
  // A contract that rejects plain transfers.
  const rejectingContract = world.anAddress();
  await world.origin.client.setCode({ address: rejectingContract, bytecode: "0x5f5ffd" });
  const rejectedClaim = await offer(account.address, {
    currency: NATIVE_CURRENCY,
    amount: ONE / 4n,
    recipient: rejectingContract,
  });
  await accept(rejectedClaim.claimId, await signed(account, rejectedClaim.claimId));
  expect(await untilEnded(rejectedClaim.claimId)).toMatchObject({ state: "returned" });
  expect(await line(account.address, NATIVE_CURRENCY)).toEqual({ balance: ONE, pending: 0n, owed: 0n });
});

test("returns a reverted payout, minus its fee, to the balance once the block is final, and does not retry it", async () => {
  const account = await aWallet(ONE, NATIVE_CURRENCY);
  const earnedBefore = await earned(NATIVE_CURRENCY);
  const { claimId, recipient } = await offer(account.address, {
    currency: NATIVE_CURRENCY,
    amount: ONE / 2n,
  });
  await accept(claimId, await signed(account, claimId));
  await world.work();
  await world.origin.client.setCode({ address: recipient, bytecode: "0x5f5ffd" });
  await world.round();
  expect(
    await line(account.address, NATIVE_CURRENCY),
    "not returned before the revert is final",
  ).toMatchObject({
    balance: ONE / 2n - (await record(claimId)).feeAmount,
  });
  const ended = await untilEnded(claimId);
  expect(ended).toMatchObject({ state: "returned", failReason: "TRANSACTION_REVERTED" });
  const { feeAmount } = ended;
  expect(feeAmount).toBeGreaterThan(0n);
  expect(await line(account.address, NATIVE_CURRENCY)).toEqual({
    balance: ONE - feeAmount,
    pending: 0n,
    owed: 0n,
  });
  expect((await earned(NATIVE_CURRENCY)) - earnedBefore, "the solver paid the gas").toBe(feeAmount);
});

test("broadcasts the same payout again after a reorg and pays once", async () => {
  const account = await aWallet(10_000_000n);
  const { claimId, recipient } = await offer(account.address);
  await accept(claimId, await signed(account, claimId));
  await world.work();
  await world.round();
  const { txHash } = await record(claimId);
  expect(txHash).toBeDefined();
  await world.origin.reorg(1);
  await world.watch(world.origin);
  expect((await record(claimId)).txHash).toBeUndefined();
  expect(await untilEnded(claimId)).toMatchObject({ state: "paid", txHash });
  expect(await world.origin.balance(recipient, world.usdc)).toBe(4_000_000n);
});

test("after a crash at any step of accepting or paying, another process pays the claim once", async () => {
  for (let crashAt = 0; ; crashAt++) {
    const account = await aWallet(10_000_000n);
    const { claimId, recipient } = await offer(account.address);
    const signature = await signed(account, claimId);
    const crashing = crashingServices(world.services, crashAt);
    let hasDied = false;
    try {
      await accept(claimId, signature, crashing);
      await world.work(crashing);
      await world.origin.mine();
      await world.watch(world.origin, crashing);
    } catch (error) {
      if (!(error instanceof Crashed) && !crashing.hasCrashed()) throw error;
      hasDied = true;
    }
    // The client got no answer, so it submits its signature again.
    await accept(claimId, signature);
    expect((await untilEnded(claimId)).state).toBe("paid");
    expect(await world.origin.balance(recipient, world.usdc), crashing.moments.at(-1)).toBe(4_000_000n);
    expect((await line(account.address)).pending).toBe(0n);
    if (!hasDied && !crashing.hasCrashed()) {
      expect(crashAt).toBeGreaterThan(20);
      return;
    }
  }
}, 300_000);

for (const currency of ["token", "native"] as const)
  test(`neither repeats nor returns a ${currency} payout whose commit was lost in a failover`, async () => {
    const asset = currency === "token" ? world.usdc : NATIVE_CURRENCY;
    const amount = currency === "token" ? 4_000_000n : 10n ** 17n;
    const account = await aWallet(amount * 2n, asset);
    const { origin, services } = world;
    const { claimId, recipient } = await offer(account.address, { currency: asset, amount });
    await accept(claimId, await signed(account, claimId));
    await world.work();
    const slot = await services.reads.slotOfLeg("claim", claimId);
    await origin.mine();
    if (slot === undefined) throw new Error("the payout has no nonce");
    const restore = await loseRows(world.pool, slot);
    await world.watch(origin);
    await openLane(services, origin.connected);
    expect(await pay(services, claimLeg, claimId)).toMatchObject({ waitMs: expect.any(Number) });
    expect((await record(claimId)).state).toBe("paying");
    const rotated: typeof services = {
      ...services,
      signer: { ...services.signer, address: world.anAddress() },
      formerSigners: [services.signer],
    };
    expect(await pay(rotated, claimLeg, claimId)).toMatchObject({
      why: expect.stringContaining("made this payment, but its database rows are lost"),
    });
    expect(await origin.balance(recipient, asset)).toBe(amount);
    expect(world.events.of("payment_unrecorded").at(-1)?.facts).toMatchObject({ requestId: claimId });

    await restore();
    await openLane(services, origin.connected);
    expect((await untilEnded(claimId)).state).toBe("paid");
    expect(await origin.balance(recipient, asset)).toBe(amount);
  });
