import type { DepositFact } from "@causeway/chains";
import { depositNativeCalldata, NATIVE_CURRENCY } from "@causeway/domain";
import type { Hex, TxHash } from "@causeway/domain";
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createScanPace } from "../../../apps/api/src/watch/scan-pace.ts";
import { indexTransaction } from "../../../apps/api/src/deposits/index-transaction.ts";
import { TrailMoved, loadTrail, scanChain } from "../../../apps/api/src/deposits/scan-chain.ts";
import { strandedFunds } from "../../../apps/api/src/payments/operator-reads.postgres.ts";
import { postgresRequestHistory } from "../../../apps/api/src/requests/history/request-history.postgres.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { depositKey, factKey } from "../../../apps/api/src/deposits/store-deposits.ts";
import type { UnitOfWork } from "../../../apps/api/src/db/unit-of-work.port.ts";
import { createReportTurns, REPORT_LIMITS, ReportsBusy } from "../../../apps/api/src/db/report-turns.ts";
import { recheckFinalBlocks } from "../../../apps/api/src/deposits/recheck-final-blocks.ts";
import { crashingServices } from "../../fakes/crashing-services.ts";
import { deposit } from "../../support/deposits.ts";
import { pileDeposits } from "../../support/piled-deposits.ts";
import { startEngineWorld, type QuotedRequest, type EngineWorld } from "../../support/engine-world.ts";

let world: EngineWorld;

beforeAll(async () => {
  world = await startEngineWorld({ policy: { maxScanBlocks: 5 } });
});
afterAll(async () => await world.stop());

const agree = async (ask: Parameters<EngineWorld["quote"]>[0] = {}): Promise<QuotedRequest> =>
  await world.quote({ recipient: world.anAddress(), refundTo: world.anAddress(), ...ask });

const rawOf = async (hash: TxHash): Promise<TxHash> =>
  (await world.origin.client.request({
    method: "eth_getRawTransactionByHash" as never,
    params: [hash] as never,
  })) as TxHash;

/**
 * Mines the approval and the deposit in one block. Returns the transactions, so that they can be mined again
 * in another block.
 */
async function mined(agreed: QuotedRequest): Promise<readonly TxHash[]> {
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

const filledOnce = async (agreed: QuotedRequest): Promise<void> => {
  await world.work();
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
  expect(await world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  expect(await world.destination.balance(agreed.terms.recipient, agreed.terms.destination.currency)).toBe(
    agreed.terms.destination.expectedAmount,
  );
  expect(await world.paymentsOf(agreed, world.origin)).toEqual([]);
};

test("a deposit that is reorged out before its fill leaves the request waiting, and is filled once when it is mined again", async () => {
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
  // Meanwhile a fill job was queued. It finds no deposit to fill.
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

test("a deposit that is reorged out during its fill is reported as exposed, and mining it again changes nothing", async () => {
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

test("a large deposit waits for its confirmations, and waits for them again after a reorg removed it", async () => {
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

test("a deposit that a reorg moves into a newer block while its fill waits needs its confirmations again", async () => {
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

/** The user's wallet sends its deposit again, with another nonce and therefore another hash. */
async function minedUnderAnotherHash(agreed: QuotedRequest): Promise<void> {
  await world.origin.send(world.user, { to: world.anAddress(), value: 1n });
  await deposit(world.origin, world.user, agreed);
  await world.origin.mine();
}

for (const [when, isMined] of [
  ["while its fill is under way", false],
  ["after its fill", true],
] as const)
  test(`a deposit under another hash replaces one that was reorged out ${when}`, async () => {
    const agreed = await agree();
    // The default for a hub file without `fillLeadSeconds`.
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

test("a second deposit that waits for its refund replaces the first one if a reorg removes only the first", async () => {
  const agreed = await agree();
  await mined(agreed);
  await world.watch(world.origin);
  await world.work();
  await world.origin.reorg(1);
  // The transaction is reported before the watcher sees the reorg.
  await minedUnderAnotherHash(agreed);
  const { transactions } = await world.origin.client.getBlock();
  const txHash = transactions.at(-1) ?? "0x";
  await indexTransaction(world.services, { chainId: world.origin.chain.id, txHash });
  expect((await world.depositsOf(agreed.requestId))[1]).toMatchObject({ txHash, disposition: "refund" });
  await world.watch(world.origin);
  await filledOnce(agreed);
  expect((await world.depositsOf(agreed.requestId))[1]).toMatchObject({ txHash, disposition: "accepted" });
});

test("refunds a stranger's deposit once when it is orphaned and mined again, and never changes the request", async () => {
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

test("after downtime, reads all blocks in bounded ranges, in order, without skipping or recording anything twice", async () => {
  const agreed: QuotedRequest[] = [];
  for (let at = 0; at < 4; at++) {
    agreed.push(await agree());
    await deposit(world.origin, world.user, agreed[at] as QuotedRequest);
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
  for (const request of agreed) {
    expect(await world.depositsOf(request.requestId)).toHaveLength(1);
    await filledOnce(request);
  }
});

test("after failed scans, block ranges grow with each committed range, before the newest block is reached", async () => {
  const { origin } = world;
  await world.watch(origin);
  await origin.mine(64);
  const trail = await loadTrail(world.services, origin.connected);
  const pace = createScanPace(500, () => 0);
  for (let at = 0; at < 6; at++) pace.noteFailure();
  const scannedBefore = world.events.of("chain_scanned").length;
  await scanChain(world.services, origin.connected, trail, await origin.announce(), pace);
  const sizes = world.events
    .of("chain_scanned")
    .slice(scannedBefore)
    .map(({ facts: { from, to } }) => (to as bigint) - (from as bigint) + 1n);
  expect(sizes).toEqual([8n, 16n, 32n, 8n]);
});

test("a crash between two block ranges neither repeats nor skips a range", async () => {
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

test("a reorg is reported once, by the commit that records it", async () => {
  const { origin, services } = world;
  await mined(await agree());
  await world.watch(origin);
  await origin.reorg(1);
  const trail = await loadTrail(services, origin.connected);
  const head = await origin.announce();
  const reported = world.events.of("reorg").length;
  const dying = {
    ...services,
    uow: {
      run: async <T>(work: Parameters<typeof services.uow.run<T>>[0]): Promise<T> =>
        await services.uow.run(async (tx) => {
          await work(tx);
          throw new Error("the process ends here");
        }),
    },
  };
  await expect(scanChain(dying, origin.connected, trail, head)).rejects.toThrow("ends here");
  expect(world.events.of("reorg")).toHaveLength(reported);
  await scanChain(services, origin.connected, trail, head);
  expect(world.events.of("reorg")).toHaveLength(reported + 1);
});

test("of two concurrent watchers, one commits and the other finds the cursor moved, and no deposit counts twice", async () => {
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

test("a deposit that a client reports is recorded before the watcher reads its block, in which the watcher then finds nothing new", async () => {
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

test("a reported deposit in a block that never became canonical is removed when the watcher reaches its height", async () => {
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

/** Services whose origin node keeps returning its current answers about the transaction and its block. */
async function staleNode(txHash: TxHash): Promise<typeof world.services> {
  const { connected } = world.origin;
  const { reader } = connected.connection;
  const [transaction, block] = [await reader.transaction(txHash), await reader.head()];
  const stale = {
    ...connected,
    connection: {
      ...connected.connection,
      reader: { ...reader, transaction: async () => transaction, block: async () => block },
    },
  };
  return { ...world.services, chains: { ...world.services.chains, get: () => stale } };
}

test("a lagging node cannot restore a deposit of a block that the watcher dropped", async () => {
  const agreed = await agree();
  const txHash = await deposit(world.origin, world.user, agreed);
  await world.origin.mine();
  const stale = await staleNode(txHash);
  await world.watch(world.origin);
  await world.origin.reorg(1);
  await world.watch(world.origin);
  await expect(indexTransaction(stale, { chainId: world.origin.chain.id, txHash })).rejects.toMatchObject({
    code: "TRANSACTION_NOT_FOUND",
  });
  expect((await world.status(agreed.requestId)).status).toBe("waiting");
});

test("blocks that are announced but not read do not confirm a reported deposit, because they may not contain it", async () => {
  const { origin } = world;
  const agreed = await agree({ amount: "20000000000" });
  const txHash = await deposit(origin, world.user, agreed);
  await origin.mine();
  const { reader } = origin.connected.connection;
  const [stale, block] = [await reader.transaction(txHash), await reader.head()];
  await origin.reorg(1);
  await origin.mine(20);
  await origin.announce();
  // Another node behind the same URL still has the old branch.
  const lagging = {
    ...origin.connected,
    connection: {
      ...origin.connected.connection,
      reader: { ...reader, transaction: async () => stale, block: async () => block },
    },
  };
  const laggingServices = { ...world.services, chains: { ...world.services.chains, get: () => lagging } };
  expect(await indexTransaction(laggingServices, { chainId: origin.chain.id, txHash })).toEqual({
    message: "Transaction indexed",
  });
  expect((await world.request(agreed.requestId)).state.name, "1 of 4").toBe("deposited");
  await world.work();
  expect(await world.services.reads.slotOfLeg("fill", agreed.requestId)).toBeUndefined();
  await world.watch(origin);
  await world.work();
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "waiting", inTxHashes: [] });
});

test("a reported deposit counts scanned blocks as confirmations", async () => {
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

test("a report of a transaction that is unknown, failed or contains no deposit changes nothing", async () => {
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
    "Transaction contains no deposit",
    "Transaction reverted, nothing to index",
  ]);
});

test("native tokens deposited with the order id are filled in another currency", async () => {
  const agreed = await agree({ originCurrency: NATIVE_CURRENCY, amount: "40000000000000000" });
  await world.pay(agreed);
  await world.origin.mine();
  await world.watch(world.origin);
  await filledOnce(agreed);
});

/** The deposits in blocks above `since`, according to the chain's logs and to the table. */
async function loggedAndStored(since: bigint): Promise<{ logged: string[]; stored: string[] }> {
  const { chain, client, connected } = world.origin;
  const to = await client.getBlockNumber();
  const logged = await connected.connection.reader.depositsIn({ from: since + 1n, to, hashes: new Map() });
  const { rows } = await world.pool.query<{ id: number }>(
    "select id from deposits where chain_id = $1 and canonical and block_number > $2",
    [chain.id, since],
  );
  const stored = await Promise.all(
    rows.map(async ({ id }) => await world.services.reads.deposit(String(id))),
  );
  return {
    logged: logged.map((fact) => `${factKey(fact)} ${fact.blockHash}`).toSorted(),
    stored: stored.flatMap((row) => (row ? [`${depositKey(row)} ${row.blockHash}`] : [])).toSorted(),
  };
}

/**
 * The services of a process that crashes before its database transaction with the index `dies`, from 0; -1:
 * never. `between` runs before each transaction but the first.
 */
function crashing(
  dies: number,
  between: () => Promise<unknown> = async () => undefined,
): typeof world.services {
  let commits = 0;
  return {
    ...world.services,
    uow: {
      run: async (work) => {
        if (commits++ === dies) throw new Error("the process ends here");
        if (commits > 1) await between();
        return await world.services.uow.run(work);
      },
    },
  };
}

const jobsOf = async (text: string): Promise<number> =>
  (await world.pool.query("select from outbox where payload like '%' || $1 || '%'", [text])).rows.length;

/** A block with 600 one-wei deposits by a stranger that name a request, followed by a usual deposit. */
interface PiledBlock {
  readonly since: bigint;
  readonly named: QuotedRequest;
  readonly honest: QuotedRequest;
  readonly raws: readonly TxHash[];
}

async function aPiledBlock(): Promise<PiledBlock> {
  await world.watch(world.origin);
  return await pileBlock();
}

async function pileBlock(): Promise<PiledBlock> {
  const { origin, stranger } = world;
  const since = await origin.client.getBlockNumber();
  const [named, honest] = [await agree(), await agree()];
  const { orderId: id } = named.terms;
  await pileDeposits(origin, stranger, { depositor: world.anAddress(), id, count: 600 });
  await deposit(origin, world.user, honest);
  await origin.mine();
  const { transactions } = await origin.client.getBlock();
  return { since, named, honest, raws: await Promise.all(transactions.map(rawOf)) };
}

test("a block of hundreds of deposits is committed in slices, and a crash between two slices neither loses nor repeats a deposit", async () => {
  const { origin } = world;
  const { since, named, honest } = await aPiledBlock();
  const { logged } = await loggedAndStored(since);
  expect(logged).toHaveLength(601);
  const trail = await loadTrail(world.services, origin.connected);
  const head = await origin.announce();
  for (const [dies, stored] of [
    [1, 250],
    [2, 500],
  ] as const) {
    await expect(scanChain(crashing(dies), origin.connected, trail, head)).rejects.toThrow("ends here");
    expect((await loggedAndStored(since)).stored).toHaveLength(stored);
    expect(await world.services.reads.cursor(origin.chain.id)).toMatchObject({ number: since });
  }
  await world.watch(origin);
  expect((await loggedAndStored(since)).stored).toEqual(logged);
  expect(await world.services.reads.cursor(origin.chain.id)).toMatchObject({ number: head.number });
  expect(await jobsOf(honest.requestId)).toBe(1);
  expect((await world.status(named.requestId)).status).toBe("waiting");
  await filledOnce(honest);
});

/**
 * The database calls of two scans: that of the block with these deposits, and that of their confirmation.
 */
async function callsFor(deposits: readonly (readonly [QuotedRequest, count: number])[]): Promise<string[][]> {
  const { origin, user } = world;
  await world.watch(origin);
  for (const [agreed, count] of deposits) for (let n = 0; n < count; n++) await deposit(origin, user, agreed);
  const scans: string[][] = [];
  for (const seen of ["in its block", "confirmed"]) {
    await origin.mine();
    const process = crashingServices(world.services);
    const trail = await loadTrail(world.services, origin.connected);
    await scanChain(process, origin.connected, trail, await origin.announce());
    expect(process.moments.length, seen).toBeGreaterThan(0);
    scans.push([...process.moments]);
  }
  return scans;
}

test("many deposits in one block are recorded and confirmed in as many database calls as one", async () => {
  const large = { amount: "2000000000" };
  const [alone, ...others] = await Promise.all(Array.from({ length: 9 }, async () => await agree(large)));
  if (alone === undefined) throw new Error("invariant violated: no quote");
  const singleCalls = await callsFor([[alone, 1]]);
  expect(await callsFor(others.map((agreed) => [agreed, 1]))).toEqual(singleCalls);
  for (const { requestId } of [alone, ...others]) {
    expect((await world.request(requestId)).state.name).toBe("fillable");
    expect(await jobsOf(requestId)).toBe(1);
    expect(await world.statusesOf(requestId)).toEqual(["waiting", "pending"]);
  }
});

test("several deposits for each of several requests are judged in their order", async () => {
  const [first, second] = [await agree(), await agree()];
  await callsFor([
    [first, 3],
    [second, 2],
  ]);
  for (const [{ requestId }, count] of [
    [first, 3],
    [second, 2],
  ] as const) {
    const deposits = await world.depositsOf(requestId);
    const { state, inTxHashes } = await world.request(requestId);
    const [accepted, ...refunded] = deposits.toSorted((a, b) => Number(a.id) - Number(b.id));
    expect(deposits).toHaveLength(count);
    expect(state).toMatchObject({ name: "fillable", depositId: accepted?.id });
    expect(accepted).toMatchObject({ disposition: "accepted" });
    for (const found of refunded)
      expect(found).toMatchObject({ disposition: "refund", reason: "DOUBLE_SPEND" });
    expect(inTxHashes).toEqual([accepted, ...refunded].map((found) => found?.txHash));
    expect(await jobsOf(requestId)).toBe(1);
  }
});

test("a client's report is recorded between two slices of a block that is being scanned", async () => {
  const { origin } = world;
  const { since, honest, raws } = await aPiledBlock();
  const trail = await loadTrail(world.services, origin.connected);
  const head = await origin.announce();
  const { transactions } = await origin.client.getBlock();
  const txHash = transactions[raws.length - 1] ?? "0x";
  const answers: string[] = [];
  const report = async () =>
    answers.push((await indexTransaction(world.services, { chainId: origin.chain.id, txHash })).message);
  await scanChain(crashing(-1, report), origin.connected, trail, head);
  expect(answers).toEqual(["Transaction indexed", "Transaction indexed"]);
  const { logged, stored } = await loggedAndStored(since);
  expect(stored).toEqual(logged);
  expect(await jobsOf(honest.requestId)).toBe(1);
  await filledOnce(honest);
});

test("a reorg between two slices of a block removes the committed slices", async () => {
  const { origin } = world;
  const { since, honest, raws } = await aPiledBlock();
  const trail = await loadTrail(world.services, origin.connected);
  await expect(scanChain(crashing(1), origin.connected, trail, await origin.announce())).rejects.toThrow();
  await origin.reorg(1);
  await world.watch(origin);
  expect(await loggedAndStored(since)).toEqual({ logged: [], stored: [] });
  expect(await world.status(honest.requestId)).toMatchObject({ status: "waiting", inTxHashes: [] });
  await mineAgain(raws);
  await world.watch(origin);
  const { logged, stored } = await loggedAndStored(since);
  expect(logged).toHaveLength(601);
  expect(stored).toEqual(logged);
  await filledOnce(honest);
});

test("the last slice of a block undoes a report about an orphaned block", async () => {
  const { origin } = world;
  await world.watch(origin);
  const gone = await agree();
  const txHash = await deposit(origin, world.user, gone);
  await origin.mine();
  const stale = await staleNode(txHash);
  await origin.reorg(1);
  const { since, honest } = await pileBlock();
  const trail = await loadTrail(world.services, origin.connected);
  const reports: string[] = [];
  const report = async () =>
    reports.push((await indexTransaction(stale, { chainId: origin.chain.id, txHash })).message);
  await scanChain(crashing(-1, report), origin.connected, trail, await origin.announce());
  expect(reports).toEqual(["Transaction indexed", "Transaction indexed"]);
  const { logged, stored } = await loggedAndStored(since - 1n);
  expect(stored).toEqual(logged);
  expect(await world.status(gone.requestId)).toMatchObject({ status: "waiting", inTxHashes: [] });
  await filledOnce(honest);
  expect(await world.services.reads.slotOfLeg("fill", gone.requestId)).toBeUndefined();
});

test("a report that moves a deposit back to an orphaned block between two slices is corrected by the last one", async () => {
  const { origin } = world;
  const { since, honest, raws } = await aPiledBlock();
  await world.watch(origin);
  const { transactions } = await origin.client.getBlock();
  const txHash = transactions[raws.length - 1] ?? "0x";
  const stale = await staleNode(txHash);
  await origin.client.request({ method: "anvil_reorg" as never, params: [1, []] as never });
  await mineAgain(raws);
  const trail = await loadTrail(world.services, origin.connected);
  const report = async () => await indexTransaction(stale, { chainId: origin.chain.id, txHash });
  await scanChain(crashing(-1, report), origin.connected, trail, await origin.announce());
  const { logged, stored } = await loggedAndStored(since);
  expect(logged).toHaveLength(601);
  expect(stored).toEqual(logged);
  await filledOnce(honest);
});

const aHash = (): Hex => `0x${randomBytes(32).toString("hex")}`;

/**
 * A node with another newest block. The block has a deposit for the quoted order, copied from `model`, and
 * 300 one-unit deposits for unknown orders.
 */
async function anotherBranch(model: DepositFact, { terms }: QuotedRequest) {
  const { connected, announce } = world.origin;
  const { connection } = connected;
  const head = { ...(await announce()), hash: aHash() };
  const facts = Array.from({ length: 301 }, (_, at) => ({
    ...model,
    ...(at === 0 ? { id: terms.orderId } : { id: aHash(), amount: 1n, depositor: world.anAddress() }),
    txHash: aHash(),
    blockNumber: head.number,
    blockHash: head.hash,
  }));
  const reader = { ...connection.reader, depositsIn: async () => facts, topUpsIn: async () => [] };
  return { connected: { ...connected, connection: { ...connection, reader } }, head };
}

/** The deposit of a request as the newest block shows it. */
async function newestFact({ terms }: QuotedRequest): Promise<DepositFact> {
  const { client, connected } = world.origin;
  const to = await client.getBlockNumber();
  const facts = await connected.connection.reader.depositsIn({ from: to, to, hashes: new Map() });
  const fact = facts.find(({ id }) => id === terms.orderId);
  if (fact === undefined) throw new Error(`block ${to} has no deposit of ${terms.requestId}`);
  return fact;
}

test("after a crash between slices of an orphaned branch, only the canonical branch's deposits remain", async () => {
  const { origin } = world;
  await world.watch(origin);
  const since = await origin.client.getBlockNumber();
  const [lasting, phantom] = [await agree(), await agree()];
  await mined(lasting);
  await world.watch(origin);
  const trail = await loadTrail(world.services, origin.connected);
  const branch = await anotherBranch(await newestFact(lasting), phantom);
  await expect(scanChain(crashing(1), branch.connected, trail, branch.head)).rejects.toThrow("ends here");
  expect((await world.request(phantom.requestId)).state.name).toBe("fillable");
  expect((await world.request(lasting.requestId)).state.name).toBe("quoted");

  await origin.mine();
  await world.watch(origin);
  const { logged, stored } = await loggedAndStored(since);
  expect(logged).toHaveLength(1);
  expect(stored).toEqual(logged);
  expect(await world.status(phantom.requestId)).toMatchObject({ status: "waiting", inTxHashes: [] });
  await filledOnce(lasting);
});

test("when two leaders commit slices of two branches, the scan that started last wins", async () => {
  const { origin } = world;
  const { since, honest } = await aPiledBlock();
  const phantom = await agree();
  const trail = await loadTrail(world.services, origin.connected);
  const head = await origin.announce();
  const branch = await anotherBranch(await newestFact(honest), phantom);
  let scans = 0;
  const another = async (): Promise<void> => {
    if (scans++ > 0) return;
    await expect(scanChain(crashing(1), branch.connected, trail, branch.head)).rejects.toThrow("ends here");
  };
  const scan = scanChain(crashing(-1, another), origin.connected, trail, head);
  await expect(scan).rejects.toThrow(TrailMoved);

  await world.watch(origin);
  const { logged, stored } = await loggedAndStored(since);
  expect(logged).toHaveLength(601);
  expect(stored).toEqual(logged);
  expect((await world.status(phantom.requestId)).status).toBe("waiting");
  await filledOnce(honest);
});

for (const dies of [-1, 1, 2])
  test(`a reorg that moves a block of hundreds of deposits removes none of them${dies < 0 ? "" : `, with a crash after slice ${dies}`}`, async () => {
    const { origin } = world;
    const { since, named, honest, raws } = await aPiledBlock();
    await world.watch(origin);
    expect((await world.request(honest.requestId)).state.name).toBe("fillable");
    await origin.client.request({ method: "anvil_reorg" as never, params: [1, []] as never });
    await mineAgain(raws);
    const trail = await loadTrail(world.services, origin.connected);
    const removed = world.events.of("deposit_removed").length;
    const scan = scanChain(crashing(dies), origin.connected, trail, await origin.announce());
    if (dies < 0) await scan;
    else {
      await expect(scan).rejects.toThrow("ends here");
      await world.watch(origin);
    }
    const { logged, stored } = await loggedAndStored(since);
    expect(logged).toHaveLength(601);
    expect(stored).toEqual(logged);
    expect(world.events.of("deposit_removed")).toHaveLength(removed);
    expect((await world.status(named.requestId)).status).toBe("waiting");
    await filledOnce(honest);
  });

test("the second reading of a final block records, in slices, the deposits that a lagging node hid", async () => {
  const { origin } = world;
  const { since, honest } = await aPiledBlock();
  const { connection } = origin.connected;
  const reader = { ...connection.reader, depositsIn: async () => [] };
  const lagging = { ...origin.connected, connection: { ...connection, reader } };
  await origin.mine(16);
  const trail = await scanChain(
    world.services,
    lagging,
    await loadTrail(world.services, origin.connected),
    await origin.announce(),
  );
  expect((await loggedAndStored(since)).stored).toEqual([]);
  const final = { ...origin.connected, chain: { ...origin.chain, finalityBlocks: 1 } };
  const missed = world.events.of("deposit_missed").length;
  await world.pool.query("update chain_cursors set rechecked_block = $1 where chain_id = $2", [
    since,
    origin.chain.id,
  ]);
  await expect(recheckFinalBlocks(crashing(1), final, trail)).rejects.toThrow("ends here");
  expect((await loggedAndStored(since)).stored).toHaveLength(250);
  expect(await world.services.reads.recheckedBlock(origin.chain.id)).toBe(since);
  await recheckFinalBlocks(world.services, final, trail);
  const { logged, stored } = await loggedAndStored(since);
  expect(stored).toEqual(logged);
  // One event for the usual deposit, and one per commit for the others.
  expect(world.events.of("deposit_missed").length - missed).toBeLessThanOrEqual(4);
  await filledOnce(honest);
});

test("reports unrefundable deposits once per transaction, without jobs or alarms", async () => {
  const { origin, stranger } = world;
  await world.watch(origin);
  const agreed = await agree();
  const [depositor, unknown] = [world.anAddress(), `0x${"77".repeat(32)}`] as const;
  const piles = [
    await pileDeposits(origin, stranger, { depositor, id: agreed.terms.orderId, count: 3 }),
    await pileDeposits(origin, stranger, { depositor, id: unknown, count: 3 }),
  ];
  await origin.mine();
  const before = await world.pool.query("select from outbox");
  const alarms = world.events.of("deposit_unattributed").length;
  await world.watch(origin);
  await origin.mine(3);
  await world.watch(origin);
  expect((await world.pool.query("select from outbox")).rows).toHaveLength(before.rows.length);
  expect(world.events.of("deposit_unattributed")).toHaveLength(alarms);
  const trace = await world.pool.query("select from request_events where request_id = $1", [
    agreed.requestId,
  ]);
  expect(trace.rows).toEqual([]);
  const ever = { sinceBeforeMs: Number.MAX_SAFE_INTEGER, nowMs: Number.MAX_SAFE_INTEGER };
  expect(await world.services.reads.overdueRefunds(ever, 100)).toEqual([]);
  const shown = (await strandedFunds(sqlOn(world.pool))).filter(
    (row) => "depositor" in row && row.depositor === depositor,
  );
  expect(shown).toMatchObject([
    {
      tx_hash: piles[0],
      amount: 3n,
      deposits: 3,
      order_id: agreed.terms.orderId,
      request_id: agreed.requestId,
      disposition: "refund",
      reason: "INCORRECT_DEPOSIT_CURRENCY",
      refund_state: "impossible",
      refund_fail_reason: "AMOUNT_TOO_LOW_TO_REFUND",
    },
    { tx_hash: piles[1], amount: 3n, deposits: 3, request_id: null, disposition: "unattributed" },
  ]);
  // The deposits of strangers do not affect the request.
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "waiting", inTxHashes: [] });
  await deposit(origin, world.user, agreed);
  await origin.mine();
  await world.watch(origin);
  await filledOnce(agreed);
});

test("a request's history lists twenty of the strangers' deposits that are too small to refund, and all others", async () => {
  const { origin, stranger, pool } = world;
  await world.watch(origin);
  const agreed = await agree();
  const { orderId: id } = agreed.terms;
  await pileDeposits(origin, stranger, { depositor: world.anAddress(), id, count: 30 });
  await origin.mine();
  const txHash = await deposit(origin, world.user, agreed);
  await origin.mine();
  await world.watch(origin);
  expect(await world.depositsOf(agreed.requestId)).toHaveLength(31);
  const stories = await postgresRequestHistory(sqlOn(pool)).stories([agreed.requestId]);
  const listed = stories.get(agreed.requestId)?.deposits ?? [];
  expect(listed).toHaveLength(21);
  expect(listed.at(-1)).toMatchObject({ txHash, disposition: "accepted" });
});

test("one-wei deposits are checked one by one while their refund cost is unknown", async () => {
  const { origin, stranger, prices } = world;
  await world.watch(origin);
  const agreed = await agree();
  const { orderId: id } = agreed.terms;
  prices.set("ethereum", undefined);
  await pileDeposits(origin, stranger, { depositor: world.anAddress(), id, count: 2 });
  await origin.mine();
  await world.watch(origin);
  prices.set("ethereum", "2500");
  const deposits = await world.depositsOf(agreed.requestId);
  expect(deposits).toMatchObject([
    { disposition: "refund", refundState: "none" },
    { disposition: "refund", refundState: "none" },
  ]);
  for (const stored of deposits) expect(await jobsOf(`"depositId":"${stored.id}"`)).toBe(1);
  await origin.mine(4);
  await world.watch(origin);
  await world.work();
  expect(await world.depositsOf(agreed.requestId)).toMatchObject([
    { refundFailReason: "AMOUNT_TOO_LOW_TO_REFUND" },
    { refundFailReason: "AMOUNT_TOO_LOW_TO_REFUND" },
  ]);
});

test("reports that wait for a chain's scan are answered in time, and leave database connections to others", async () => {
  const { origin, stranger, services, pool } = world;
  await world.watch(origin);
  const agreed = await agree();
  const chainId = origin.chain.id;
  const passed = await deposit(origin, world.user, agreed);
  const lost = await pileDeposits(origin, stranger, {
    depositor: world.anAddress(),
    id: `0x${"55".repeat(32)}`,
    count: 1,
  });
  await origin.mine();
  await world.watch(origin);
  await pool.query("delete from deposits where tx_hash = $1", [lost]);
  const ahead = await Promise.all(
    Array.from({ length: 24 }, async (_, nonce) => {
      const { depository } = origin.chain.contracts;
      const data = depositNativeCalldata(world.anAddress(), agreed.terms.orderId);
      const from = await origin.client.getTransactionCount({ address: stranger.address });
      return await origin.send(stranger, { to: depository, data, value: 1n, nonce: from + nonce });
    }),
  );
  await origin.mine();
  const turnOf = createReportTurns(services.uow, { ...REPORT_LIMITS, maxWaitMs: 300, lockTimeoutMs: 100 });
  const report = async (txHash: TxHash, caller: string) =>
    await indexTransaction({ ...services, uow: turnOf({ caller, chainId }) }, { chainId, txHash });
  const scan = await pool.connect();
  await scan.query("begin");
  await scan.query("select from chain_cursors where chain_id = $1 for update", [chainId]);
  try {
    const reports = Promise.all(ahead.map(async (txHash) => await report(txHash, "mallory")));
    // Of the pool's eight connections one scans and two wait for that scan.
    await Promise.all(Array.from({ length: 10 }, async () => await agree()));
    const waits = await pool.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    expect(waits.rows.length).toBeLessThanOrEqual(2);
    expect(new Set((await reports).map(({ message }) => message))).toEqual(
      new Set(["Transaction will be indexed when its block is scanned"]),
    );
    expect(await report(passed, "alice")).toEqual({ message: "Transaction indexed" });
    // No later scan reads this block.
    await expect(report(lost, "alice")).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      retryable: true,
    });
  } finally {
    await scan.query("rollback");
    scan.release();
  }
  expect((await report(lost, "alice")).message).toMatch(
    /^Transaction indexed, .* does not match any known request/,
  );
  expect((await pool.query("select from deposits where tx_hash = $1", [lost])).rows).toHaveLength(1);
  await world.watch(origin);
  const { logged, stored } = await loggedAndStored(await origin.client.getBlockNumber().then((n) => n - 1n));
  expect(logged).toHaveLength(24);
  expect(stored).toEqual(logged);
});

test("reports a transaction as indexed if the scan recorded it while the report waited", async () => {
  const { origin, services } = world;
  const chainId = origin.chain.id;
  const agreed = await agree();
  const txHash = await deposit(origin, world.user, agreed);
  await origin.mine();
  const uow: UnitOfWork = {
    run: async () => {
      await world.watch(origin);
      throw new ReportsBusy(chainId);
    },
  };
  expect(await indexTransaction({ ...services, uow }, { chainId, txHash })).toEqual({
    message: "Transaction indexed",
  });
  await filledOnce(agreed);
});
