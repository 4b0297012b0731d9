import { NATIVE_CURRENCY } from "@causeway/domain";
import type { TxHash } from "@causeway/domain";
import { transactionsOf } from "@causeway/wire";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { recordSingleTransaction } from "../../apps/api/src/usecases/record-single-transaction.ts";
import { startEngineWorld, type Agreed, type Ask, type EngineWorld } from "../support/engine-world.ts";

let world: EngineWorld;

beforeAll(async () => {
  world = await startEngineWorld({ chain: { finalityBlocks: 2 } });
});
afterAll(async () => await world.stop());

/** A payment on one chain, straight from the user to the recipient. */
async function aSend(ask: Ask = {}): Promise<Agreed> {
  const agreed = await world.quote({
    recipient: world.anAddress(),
    destinationChainId: world.origin.chain.id,
    amount: "5000000",
    ...ask,
  });
  expect(agreed.terms.kind).toBe("send");
  expect(agreed.answer.steps.map(({ id }) => id)).toEqual(["send"]);
  return agreed;
}

const native: Ask = { originCurrency: NATIVE_CURRENCY, destinationCurrency: NATIVE_CURRENCY };

const report = async ({ requestId }: Agreed, txHash: TxHash): Promise<{ message: string }> =>
  await recordSingleTransaction(world.services, { chainId: world.origin.chain.id, txHash, requestId });

for (const [what, ask] of [
  ["a token", {}],
  ["native money", native],
] as const)
  test(`${what} sent on one chain arrives whole, and the request follows it to the end`, async () => {
    const agreed = await aSend(ask);
    expect(await world.status(agreed.requestId)).toMatchObject({
      status: "waiting",
      nextAction: "send_payment",
    });
    const hash = await world.pay(agreed);
    expect((await report(agreed, hash)).message).toBe("Transaction recorded");
    await world.origin.mine();
    await world.watch(world.origin);
    expect(await world.status(agreed.requestId)).toMatchObject({
      status: "success",
      final: false,
      inTxHashes: [hash],
      txHashes: [hash],
      fundsAt: "recipient",
    });
    await world.origin.mine();
    await world.watch(world.origin);
    expect((await world.status(agreed.requestId)).final).toBe(true);
    const { recipient, origin } = agreed.terms;
    expect(await world.origin.balance(recipient, origin.currency)).toBe(origin.amount);
    // The solver has no part in it.
    expect(await world.origin.sentBy(world.solver.address, agreed.since.get(origin.chainId))).toEqual([]);
  });

test("a payment that is mined already when it is reported counts at once, and reporting it again changes nothing", async () => {
  const agreed = await aSend(native);
  const hash = await world.pay(agreed);
  await world.origin.mine();
  await world.watch(world.origin);
  await report(agreed, hash);
  expect((await world.status(agreed.requestId)).status).toBe("success");
  const { updatedAtMs } = await world.status(agreed.requestId);
  await report(agreed, hash);
  expect((await world.status(agreed.requestId)).updatedAtMs).toBe(updatedAtMs);
});

test("one payment counts for one request only", async () => {
  const recipient = world.anAddress();
  const [first, second] = [await aSend({ ...native, recipient }), await aSend({ ...native, recipient })];
  const hash = await world.pay(first);
  await world.origin.mine();
  await world.watch(world.origin);
  await report(first, hash);
  await expect(report(second, hash)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  expect((await world.status(second.requestId)).status).toBe("waiting");
});

test("another payment does not count", async () => {
  const agreed = await aSend();
  const other = await aSend();
  const hash = await world.pay(other);
  await world.origin.mine();
  await world.watch(world.origin);
  await expect(report(agreed, hash)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  await expect(report(agreed, `0x${"77".repeat(32)}`)).rejects.toMatchObject({
    code: "TRANSACTION_NOT_FOUND",
  });
  expect((await world.status(agreed.requestId)).status).toBe("waiting");
});

test("a payment made before its request was quoted does not count", async () => {
  const recipient = world.anAddress();
  const old = await aSend({ ...native, recipient });
  const hash = await world.pay(old);
  await world.origin.mine();
  await world.watch(world.origin);
  world.clock.forward(120_000);
  const fresh = await aSend({ ...native, recipient });
  await expect(report(fresh, hash)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
});

test("a payment that reverted leaves the request open for another one", async () => {
  const agreed = await aSend({ user: world.stranger.address });
  const [data] = transactionsOf(agreed.answer.steps);
  const balance = await world.origin.balance(world.stranger.address, world.usdc);
  // All of the token leaves the account in the meantime.
  await world.origin.send(world.stranger, {
    to: world.usdc,
    data: `0xa9059cbb${world.anAddress().slice(2).padStart(64, "0")}${balance.toString(16).padStart(64, "0")}`,
  });
  await world.origin.mine();
  const failed = await world.origin.send(world.stranger, {
    to: (data?.to ?? "0x") as TxHash,
    data: (data?.data ?? "0x") as TxHash,
  });
  await report(agreed, failed);
  await world.origin.mine();
  await world.watch(world.origin);
  expect((await world.status(agreed.requestId)).status).toBe("waiting");
  await world.origin.fund(world.stranger.address);
  const again = await world.pay(agreed, world.stranger);
  await report(agreed, again);
  await world.origin.mine();
  await world.watch(world.origin);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", txHashes: [again] });
});

test("a payment that a reorg takes back leaves the request waiting, and counts again when it is mined again", async () => {
  const agreed = await aSend(native);
  const hash = await world.pay(agreed);
  await report(agreed, hash);
  const raw = (await world.origin.client.request({
    method: "eth_getRawTransactionByHash" as never,
    params: [hash] as never,
  })) as TxHash;
  await world.origin.mine();
  await world.watch(world.origin);
  expect((await world.status(agreed.requestId)).status).toBe("success");
  await world.origin.reorg(1);
  await world.watch(world.origin);
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "waiting",
    txHashes: [],
    inTxHashes: [],
  });
  await world.origin.client.sendRawTransaction({ serializedTransaction: raw });
  await world.origin.mine();
  await world.watch(world.origin);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", txHashes: [hash] });
});

test("a payment that the wallet replaced by a dearer one is followed under its new hash", async () => {
  const agreed = await aSend(native);
  const [data] = transactionsOf(agreed.answer.steps);
  const nonce = await world.origin.client.getTransactionCount({ address: world.user.address });
  const slow = await world.origin.send(world.user, {
    to: (data?.to ?? "0x") as TxHash,
    value: BigInt(data?.value ?? 0),
    nonce,
  });
  await report(agreed, slow);
  const fast = await world.origin.client.sendTransaction({
    account: privateKeyToAccount(world.user.privateKey),
    to: (data?.to ?? "0x") as TxHash,
    value: BigInt(data?.value ?? 0),
    nonce,
    gas: 21_000n,
    maxFeePerGas: 900_000_000_000n,
    maxPriorityFeePerGas: 5_000_000_000n,
  });
  await report(agreed, fast);
  await world.origin.mine();
  await world.watch(world.origin);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", txHashes: [fast] });
});

test("a report that no block bears out is forgotten after an hour and may be made again", async () => {
  const agreed = await aSend(native);
  const hash = await world.pay(agreed);
  await report(agreed, hash);
  const followed = async (): Promise<boolean> =>
    (await world.services.reads.unsettledSends(world.origin.chain.id)).some(({ txHash }) => txHash === hash);
  world.clock.forward(3_599_000);
  await world.watch(world.origin);
  expect(await followed()).toBe(true);
  world.clock.forward(1_000);
  await world.watch(world.origin);
  expect(await followed()).toBe(false);
  expect((await world.status(agreed.requestId)).status).toBe("waiting");

  await report(agreed, hash);
  await world.origin.mine();
  await world.watch(world.origin);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", txHashes: [hash] });
});

test("a payment that was mined deeper than the watcher remembers is recognised when it is reported", async () => {
  const agreed = await aSend(native);
  const hash = await world.pay(agreed);
  const timestamp = BigInt(Math.ceil(world.clock.nowMs() / 1000));
  await world.origin.client.setNextBlockTimestamp({ timestamp });
  await world.origin.mine(200);
  const [lowest] = await world.watch(world.origin);
  const { blockNumber } = await world.origin.client.getTransactionReceipt({ hash });
  expect(lowest?.number).toBeGreaterThan(blockNumber);
  await report(agreed, hash);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", txHashes: [hash] });
  await world.watch(world.origin);
  expect((await world.status(agreed.requestId)).final).toBe(true);
});
