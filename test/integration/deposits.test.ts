import { NATIVE_CURRENCY } from "@causeway/domain";
import type { TxHash } from "@causeway/domain";
import { afterAll, beforeAll, expect, test } from "vitest";
import { indexTransaction } from "../../apps/api/src/usecases/index-transaction.ts";
import { TrailMoved, loadTrail, scanChain } from "../../apps/api/src/usecases/scan-chain.ts";
import { deposit } from "../support/deposits.ts";
import { startEngineWorld, type Agreed, type EngineWorld } from "../support/engine-world.ts";

let world: EngineWorld;

beforeAll(async () => {
  world = await startEngineWorld({ policy: { maxScanBlocks: 5 } });
});
afterAll(async () => await world.stop());

const agree = async (ask: Parameters<EngineWorld["quote"]>[0] = {}): Promise<Agreed> =>
  await world.quote({ recipient: world.anAddress(), refundTo: world.anAddress(), ...ask });

const rawOf = async (hash: TxHash): Promise<TxHash> =>
  (await world.origin.client.request({
    method: "eth_getRawTransactionByHash" as never,
    params: [hash] as never,
  })) as TxHash;

/** Approval and deposit in one block; returns what is needed to put them into another one. */
async function mined(agreed: Agreed): Promise<readonly TxHash[]> {
  await deposit(world.origin, world.user, agreed);
  await world.origin.mine();
  const { transactions } = await world.origin.client.getBlock();
  return await Promise.all(transactions.map(rawOf));
}

async function mineAgain(raws: readonly TxHash[]): Promise<void> {
  for (const serializedTransaction of raws)
    await world.origin.client.sendRawTransaction({ serializedTransaction });
  await world.origin.mine();
}

const filledOnce = async (agreed: Agreed): Promise<void> => {
  await world.work();
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
  expect(await world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  expect(await world.destination.balance(agreed.terms.recipient, agreed.terms.destination.currency)).toBe(
    agreed.terms.destination.expectedAmount,
  );
  expect(await world.paymentsOf(agreed, world.origin)).toEqual([]);
};

test("a deposit that a reorg takes back before it was filled leaves the request waiting; mined again, it is filled once", async () => {
  const agreed = await agree();
  const raws = await mined(agreed);
  await world.watch(world.origin);
  expect((await world.request(agreed.requestId)).state.name).toBe("fillable");

  await world.origin.reorg(1);
  await world.watch(world.origin);
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "waiting",
    inTxHashes: [],
    fundsAt: "user",
  });
  expect((await world.depositsOf(agreed.requestId))[0]?.canonical).toBe(false);
  // The job that was asked for meanwhile finds nothing to pay for.
  await world.work();
  expect(await world.services.reads.slotOfLeg("fill", agreed.requestId)).toBeUndefined();

  await mineAgain(raws);
  await world.watch(world.origin);
  expect((await world.status(agreed.requestId)).status).toBe("pending");
  expect(await world.depositsOf(agreed.requestId)).toHaveLength(1);
  await filledOnce(agreed);
});

test("a deposit that a reorg moved into another block is filled once", async () => {
  const agreed = await agree();
  const raws = await mined(agreed);
  await world.watch(world.origin);
  await world.origin.client.request({ method: "anvil_reorg" as never, params: [1, []] as never });
  await mineAgain(raws);
  await world.watch(world.origin);
  const [found, ...more] = await world.depositsOf(agreed.requestId);
  expect(more).toEqual([]);
  const { number, hash } = await world.origin.client.getBlock();
  expect(found).toMatchObject({ canonical: true, blockNumber: number, blockHash: hash });
  await filledOnce(agreed);
});

test("a deposit that vanishes while its fill is under way is reported as exposed, and its return changes nothing", async () => {
  const agreed = await agree();
  const raws = await mined(agreed);
  await world.watch(world.origin);
  await world.work();
  await world.origin.reorg(1);
  await world.watch(world.origin);
  const isAgreed = ({ facts }: { facts: object }): boolean =>
    "requestId" in facts && facts.requestId === agreed.requestId;
  expect(world.events.of("deposit_exposed").filter(isAgreed)).toHaveLength(1);
  expect((await world.status(agreed.requestId)).status).toBe("submitted");
  await mineAgain(raws);
  await world.watch(world.origin);
  await filledOnce(agreed);
});

test("a large deposit waits for its confirmations; a reorg above it starts no fill, one below it takes it back", async () => {
  const agreed = await agree({ amount: "20000000000" });
  const raws = await mined(agreed);
  await world.watch(world.origin);
  expect((await world.request(agreed.requestId)).state.name, "1 of 4").toBe("deposited");
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "pending",
    nextAction: "wait_for_confirmations",
  });
  await world.origin.mine(2);
  await world.watch(world.origin);
  await world.work();
  expect((await world.request(agreed.requestId)).state.name, "3 of 4").toBe("deposited");

  await world.origin.reorg(3);
  await world.watch(world.origin);
  expect((await world.request(agreed.requestId)).state.name).toBe("quoted");
  await mineAgain(raws);
  await world.watch(world.origin);
  expect((await world.request(agreed.requestId)).state.name, "1 of 4 again").toBe("deposited");
  await world.origin.mine(2);
  await world.watch(world.origin);
  expect((await world.request(agreed.requestId)).state.name, "3 of 4 again").toBe("deposited");
  await world.origin.mine();
  await world.watch(world.origin);
  expect((await world.request(agreed.requestId)).state.name, "4 of 4").toBe("fillable");
  await filledOnce(agreed);
});

test("a deposit that a reorg moves into a younger block while its fill waits has its confirmations again before it is filled", async () => {
  const agreed = await agree({ amount: "20000000000" });
  const raws = await mined(agreed);
  await world.origin.mine(3);
  await world.watch(world.origin);
  expect((await world.request(agreed.requestId)).state.name, "4 of 4").toBe("fillable");

  await world.origin.client.request({ method: "anvil_reorg" as never, params: [4, []] as never });
  await world.origin.mine();
  await mineAgain(raws);
  await world.watch(world.origin);
  expect((await world.request(agreed.requestId)).state.name, "1 of 4").toBe("deposited");
  await world.work();
  expect(await world.services.reads.slotOfLeg("fill", agreed.requestId)).toBeUndefined();
  await world.origin.mine(3);
  await world.watch(world.origin);
  expect((await world.request(agreed.requestId)).state.name, "4 of 4").toBe("fillable");
  await filledOnce(agreed);
});

/** The user's wallet sends its deposit again, with another nonce and so another hash. */
async function minedUnderAnotherHash(agreed: Agreed): Promise<void> {
  await world.origin.send(world.user, { to: world.anAddress(), value: 1n });
  await deposit(world.origin, world.user, agreed);
  await world.origin.mine();
}

for (const [when, isMined] of [
  ["while its fill is under way", false],
  ["after its fill", true],
] as const)
  test(`a deposit that comes under another hash takes the place of one that vanished ${when}`, async () => {
    const agreed = await agree();
    // The lead of a hub file that sets none.
    const enginePolicy = { ...world.services.enginePolicy, fillLeadMs: 60_000 };
    const settling = { ...world.services, enginePolicy };
    await mined(agreed);
    await world.watch(world.origin, settling);
    await world.work(settling);
    if (isMined) {
      await world.destination.mine();
      await world.watch(world.destination, settling);
    }
    await world.origin.reorg(1);
    if (isMined) await world.watch(world.origin, settling);
    world.clock.forward(12_000);
    await minedUnderAnotherHash(agreed);
    await world.watch(world.origin, settling);
    await filledOnce(agreed);
    const [first, second, ...more] = await world.depositsOf(agreed.requestId);
    expect(more).toEqual([]);
    expect(first).toMatchObject({ canonical: false, refundState: "none" });
    expect(second).toMatchObject({ canonical: true, disposition: "accepted" });
    expect((await world.request(agreed.requestId)).state.depositId).toBe(second?.id);
    expect((await world.status(agreed.requestId)).inTxHashes).toEqual([second?.txHash]);
  });

test("a second deposit that waits for its refund takes the place of the first one when a reorg takes only that away", async () => {
  const agreed = await agree();
  await mined(agreed);
  await world.watch(world.origin);
  await world.work();
  await world.origin.reorg(1);
  // Reported before the watcher hears of the reorg.
  await minedUnderAnotherHash(agreed);
  const { transactions } = await world.origin.client.getBlock();
  const txHash = transactions.at(-1) ?? "0x";
  await indexTransaction(world.services, { chainId: world.origin.chain.id, txHash });
  expect((await world.depositsOf(agreed.requestId))[1]).toMatchObject({ txHash, disposition: "refund" });
  await world.watch(world.origin);
  await filledOnce(agreed);
  expect((await world.depositsOf(agreed.requestId))[1]).toMatchObject({ txHash, disposition: "accepted" });
});

test("a stranger's deposit that vanishes and returns is refunded once and never touches the request", async () => {
  const agreed = await agree();
  await deposit(world.origin, world.stranger, agreed, {
    depositor: world.stranger.address,
    amount: 5_000_000n,
  });
  await world.origin.mine();
  const { transactions } = await world.origin.client.getBlock();
  const raws = await Promise.all(transactions.map(rawOf));
  await world.watch(world.origin);
  await world.origin.reorg(1);
  await world.watch(world.origin);
  await world.work();
  expect(await world.paymentsOf(agreed, world.origin)).toEqual([]);
  await mineAgain(raws);
  await world.watch(world.origin);
  await world.work();
  await world.round();
  expect(await world.paymentsOf(agreed, world.origin)).toHaveLength(1);
  expect((await world.status(agreed.requestId)).status).toBe("waiting");
});

test("a plain token transfer that carries the order id is a deposit", async () => {
  const agreed = await agree({ explicitDeposit: false });
  expect(agreed.answer.steps.map(({ id }) => id)).toEqual(["deposit"]);
  const hash = await world.pay(agreed);
  await world.origin.mine();
  await world.watch(world.origin);
  expect((await world.status(agreed.requestId)).inTxHashes).toEqual([hash]);
  await filledOnce(agreed);
});

test("after downtime everything is read in bounded ranges, in order, and nothing is skipped or taken twice", async () => {
  const agreed: Agreed[] = [];
  for (let at = 0; at < 4; at++) {
    agreed.push(await agree());
    await deposit(world.origin, world.user, agreed[at] as Agreed);
    await world.origin.mine(4);
  }
  const scannedBefore = world.events.of("chain_scanned").length;
  await world.watch(world.origin);
  const ranges = world.events
    .of("chain_scanned")
    .slice(scannedBefore)
    .map(({ facts }) => facts);
  expect(ranges.length).toBeGreaterThanOrEqual(3);
  for (const [at, { from, to }] of ranges.entries()) {
    expect((to as bigint) - (from as bigint)).toBeLessThan(5n);
    if (at > 0) expect(from).toBe((ranges[at - 1]?.["to"] as bigint) + 1n);
  }
  for (const one of agreed) {
    expect(await world.depositsOf(one.requestId)).toHaveLength(1);
    await filledOnce(one);
  }
});

test("a crash between two ranges repeats none and skips none", async () => {
  const agreed = await agree();
  await world.origin.mine(4);
  await deposit(world.origin, world.user, agreed);
  await world.origin.mine(8);
  const trail = await loadTrail(world.services, world.origin.connected);
  const head = await world.origin.announce();
  let commits = 0;
  const dying = {
    ...world.services,
    uow: {
      run: async <T>(work: Parameters<typeof world.services.uow.run<T>>[0]): Promise<T> => {
        if (commits++ === 1) throw new Error("the process ends here");
        return await world.services.uow.run(work);
      },
    },
  };
  await expect(scanChain(dying, world.origin.connected, trail, head)).rejects.toThrow("ends here");
  await world.watch(world.origin);
  expect(await world.depositsOf(agreed.requestId)).toHaveLength(1);
  await filledOnce(agreed);
});

test("of two watchers at once one does the work and the other finds the cursor moved; no deposit counts twice", async () => {
  const agreed = await agree();
  await deposit(world.origin, world.user, agreed);
  await world.origin.mine();
  const trail = await loadTrail(world.services, world.origin.connected);
  const head = await world.origin.announce();
  const results = await Promise.allSettled(
    [1, 2, 3].map(async () => await scanChain(world.services, world.origin.connected, trail, head)),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const result of results)
    if (result.status === "rejected") expect(result.reason).toBeInstanceOf(TrailMoved);
  expect(await world.depositsOf(agreed.requestId)).toHaveLength(1);
  const { rows } = await world.pool.query("select * from outbox where payload like '%' || $1 || '%'", [
    agreed.requestId,
  ]);
  expect(rows).toHaveLength(1);
  await filledOnce(agreed);
});

test("a client that points at its deposit has it recorded before the watcher comes; the watcher then finds nothing new", async () => {
  const agreed = await agree();
  const txHash = await deposit(world.origin, world.user, agreed);
  const report = { chainId: world.origin.chain.id, txHash };
  expect(await indexTransaction(world.services, report)).toEqual({
    message: "Transaction seen, waiting to be mined",
  });
  await world.origin.mine();
  expect(await indexTransaction(world.services, report)).toEqual({ message: "Transaction indexed" });
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "pending", inTxHashes: [txHash] });
  await indexTransaction(world.services, report);
  await world.watch(world.origin);
  await indexTransaction(world.services, report);
  expect(await world.depositsOf(agreed.requestId)).toHaveLength(1);
  await filledOnce(agreed);
});

test("what a hint recorded in a block that never became canonical is taken back when the watcher gets there", async () => {
  const agreed = await agree();
  const txHash = await deposit(world.origin, world.user, agreed);
  await world.origin.mine();
  await indexTransaction(world.services, { chainId: world.origin.chain.id, txHash });
  expect((await world.request(agreed.requestId)).state.name).toBe("fillable");
  await world.origin.reorg(1);
  await world.watch(world.origin);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "waiting", inTxHashes: [] });
  await world.work();
  expect(await world.services.reads.slotOfLeg("fill", agreed.requestId)).toBeUndefined();
});

test("a node that lags behind cannot bring back a deposit of a block that the watcher has dropped", async () => {
  const agreed = await agree();
  const txHash = await deposit(world.origin, world.user, agreed);
  await world.origin.mine();
  const { reader } = world.origin.connected.connection;
  const [stale, block] = [await reader.transaction(txHash), await reader.head()];
  await world.watch(world.origin);
  await world.origin.reorg(1);
  await world.watch(world.origin);
  const lagging = {
    ...world.origin.connected,
    connection: {
      ...world.origin.connected.connection,
      reader: { ...reader, transaction: async () => stale, block: async () => block },
    },
  };
  const by = { ...world.services, chains: { ...world.services.chains, get: () => lagging } };
  await expect(indexTransaction(by, { chainId: world.origin.chain.id, txHash })).rejects.toMatchObject({
    code: "TRANSACTION_NOT_FOUND",
  });
  expect((await world.status(agreed.requestId)).status).toBe("waiting");
});

test("a reported deposit is not confirmed by blocks that are announced and not read: they may be without it", async () => {
  const { origin } = world;
  const agreed = await agree({ amount: "20000000000" });
  const txHash = await deposit(origin, world.user, agreed);
  await origin.mine();
  const { reader } = origin.connected.connection;
  const [stale, block] = [await reader.transaction(txHash), await reader.head()];
  await origin.reorg(1);
  await origin.mine(20);
  await origin.announce();
  // Another node behind the same address still has the old branch.
  const lagging = {
    ...origin.connected,
    connection: {
      ...origin.connected.connection,
      reader: { ...reader, transaction: async () => stale, block: async () => block },
    },
  };
  const by = { ...world.services, chains: { ...world.services.chains, get: () => lagging } };
  expect(await indexTransaction(by, { chainId: origin.chain.id, txHash })).toEqual({
    message: "Transaction indexed",
  });
  expect((await world.request(agreed.requestId)).state.name, "1 of 4").toBe("deposited");
  await world.work();
  expect(await world.services.reads.slotOfLeg("fill", agreed.requestId)).toBeUndefined();
  await world.watch(origin);
  await world.work();
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "waiting", inTxHashes: [] });
});

test("a reported deposit has the confirmations that were read since its block", async () => {
  const { origin } = world;
  const agreed = await agree({ amount: "20000000000" });
  const txHash = await deposit(origin, world.user, agreed);
  await origin.mine(3);
  const blind = { ...origin.connected.connection.reader, depositsIn: async () => [] };
  const connection = { ...origin.connected.connection, reader: blind };
  const chain = { ...origin.connected, connection };
  await world.watch(origin, { ...world.services, chains: { ...world.services.chains, get: () => chain } });
  await origin.mine();
  await origin.announce();
  await indexTransaction(world.services, { chainId: origin.chain.id, txHash });
  expect((await world.request(agreed.requestId)).state.name, "3 of 4 read").toBe("deposited");
  await world.watch(origin);
  expect((await world.request(agreed.requestId)).state.name, "4 of 4 read").toBe("fillable");
  await filledOnce(agreed);
});

test("a hint about a transaction that nobody knows, that failed or that deposits nothing changes nothing", async () => {
  const chainId = world.origin.chain.id;
  await expect(
    indexTransaction(world.services, { chainId, txHash: `0x${"12".repeat(32)}` }),
  ).rejects.toMatchObject({ code: "TRANSACTION_NOT_FOUND" });
  await expect(
    indexTransaction(world.services, { chainId: 1, txHash: `0x${"12".repeat(32)}` }),
  ).rejects.toMatchObject({ code: "UNSUPPORTED_CHAIN" });
  const plain = await world.origin.send(world.user, { to: world.stranger.address, value: 1n });
  const reverting = await world.origin.send(world.user, { to: world.usdc, data: "0xa9059cbb" });
  await world.origin.mine();
  const answers = await Promise.all(
    [plain, reverting].map(async (txHash) => await indexTransaction(world.services, { chainId, txHash })),
  );
  expect(answers.map(({ message }) => message)).toEqual([
    "Transaction holds no deposit",
    "Transaction reverted, nothing to index",
  ]);
});

test("native money deposited with the order id is filled in another currency", async () => {
  const agreed = await agree({ originCurrency: NATIVE_CURRENCY, amount: "40000000000000000" });
  await world.pay(agreed);
  await world.origin.mine();
  await world.watch(world.origin);
  await filledOnce(agreed);
});
