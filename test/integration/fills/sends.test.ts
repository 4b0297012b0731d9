import { NATIVE_CURRENCY } from "@causeway/domain";
import type { TxHash } from "@causeway/domain";
import { transactionsOf } from "@causeway/wire";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { watchChain } from "../../../apps/api/src/watch/watch-chain.job.ts";
import type { SendRecord } from "../../../apps/api/src/db/records.port.ts";
import { followReports } from "../../../apps/api/src/deposits/follow-reports.ts";
import { createReportTurns, REQUEST_REPORT_LIMITS } from "../../../apps/api/src/db/report-turns.ts";
import { sharedAnswers } from "../../../apps/api/src/db/shared-answers.ts";
import {
  reportSingleTransaction,
  reportTransaction,
} from "../../../apps/api/src/deposits/report-transaction.ts";
import { recordSingleTransaction } from "../../../apps/api/src/deposits/record-single-transaction.ts";
import { scanChain, trailLength } from "../../../apps/api/src/deposits/scan-chain.ts";
import { trackSends } from "../../../apps/api/src/payments/track-sends.ts";
import {
  startEngineWorld,
  type QuotedRequest,
  type QuoteOverrides,
  type EngineWorld,
} from "../../support/engine-world.ts";
import { withChain } from "../../support/with-chain.ts";

let world: EngineWorld;

beforeAll(async () => {
  world = await startEngineWorld({ chain: { finalityBlocks: 2 } });
});
afterAll(async () => await world.stop());

/** A payment on one chain, directly from the user to the recipient. */
async function aSend(ask: QuoteOverrides = {}): Promise<QuotedRequest> {
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

const native: QuoteOverrides = { originCurrency: NATIVE_CURRENCY, destinationCurrency: NATIVE_CURRENCY };

const report = async ({ requestId }: QuotedRequest, txHash: TxHash): Promise<{ message: string }> =>
  await recordSingleTransaction(world.services, { chainId: world.origin.chain.id, txHash, requestId });

for (const [what, ask] of [
  ["a token", {}],
  ["native tokens", native],
] as const)
  test(`${what} sent on one chain arrives in full, and the request follows the payment until it is final`, async () => {
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
    // The solver sends nothing.
    expect(await world.origin.sentBy(world.solver.address, agreed.since.get(origin.chainId))).toEqual([]);
  });

test("a payment that is already mined when it is reported counts immediately, and another report changes nothing", async () => {
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

test("a burst of reported payments is recorded while reports of deposits wait for the chain's scan", async () => {
  const { origin, services, pool } = world;
  const chainId = origin.chain.id;
  const reporting = {
    ...services,
    reportTurnOf: createReportTurns(services.uow),
    requestTurnOf: createReportTurns(services.uow, REQUEST_REPORT_LIMITS),
    sharedReports: sharedAnswers<{ message: string }>({ keptMs: 0, limit: 100 }),
  };
  const bridge = await world.quote();
  const bridged = await world.pay(bridge);
  const sends: QuotedRequest[] = [];
  const hashes: TxHash[] = [];
  for (let n = 0; n < 40; n++) {
    const agreed = await aSend(native);
    sends.push(agreed);
    hashes.push(await world.pay(agreed));
  }
  await origin.mine();
  const scan = await pool.connect();
  await scan.query("begin");
  await scan.query("select from chain_cursors where chain_id = $1 for update", [chainId]);
  try {
    const deposits = Promise.allSettled(
      Array.from(
        { length: 32 },
        async (_, n) => await reportTransaction(reporting, { chainId, txHash: bridged }, `caller ${n % 2}`),
      ),
    );
    const answers = await Promise.all(
      sends.map(
        async ({ requestId }, n) =>
          await reportSingleTransaction(
            reporting,
            { chainId, txHash: hashes[n] as TxHash, requestId },
            "caller 0",
          ),
      ),
    );
    expect(new Set(answers.map(({ message }) => message))).toEqual(new Set(["Transaction recorded"]));
    await deposits;
  } finally {
    await scan.query("rollback");
    scan.release();
  }
  await world.watch(origin);
  for (const { requestId } of sends) expect((await world.status(requestId)).status).toBe("success");
}, 60_000);

test("one payment counts for only one request", async () => {
  const recipient = world.anAddress();
  const [first, second] = [await aSend({ ...native, recipient }), await aSend({ ...native, recipient })];
  const hash = await world.pay(first);
  await world.origin.mine();
  await world.watch(world.origin);
  await report(first, hash);
  await expect(report(second, hash)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  expect((await world.status(second.requestId)).status).toBe("waiting");
});

test("a payment that differs from the quote does not count", async () => {
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

test("a request whose payment reverted can be paid again", async () => {
  const agreed = await aSend({ user: world.stranger.address });
  const [data] = transactionsOf(agreed.answer.steps);
  const balance = await world.origin.balance(world.stranger.address, world.usdc);
  // Before the transaction is mined, the whole token balance leaves the account.
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

test("a request waits if its payment is orphaned, and the payment counts when it is mined again", async () => {
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

test("a block of another chain at the same height orphans no payment", async () => {
  const { origin, pool } = world;
  const agreed = await aSend();
  const hash = await world.pay(agreed);
  await report(agreed, hash);
  await origin.mine();
  await world.watch(origin);
  await pool.query(
    `insert into chain_blocks (chain_id, number, hash, parent_hash, timestamp)
     select 987654321, number, reverse(hash), parent_hash, timestamp from chain_blocks where chain_id = $1`,
    [origin.chain.id],
  );
  await world.watch(origin);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", txHashes: [hash] });
  await pool.query("delete from chain_blocks where chain_id = 987654321");
});

test("a payment that is reported again while its block is reorged out leaves its request waiting", async () => {
  const { origin } = world;
  const agreed = await aSend(native);
  const hash = await world.pay(agreed);
  await report(agreed, hash);
  await origin.mine();
  await world.watch(origin);
  expect((await world.status(agreed.requestId)).status).toBe("success");
  await world.pool.query(
    `insert into send_reports (chain_id, tx_hash, request_id, sender, created_at_ms)
     select chain_id, tx_hash, request_id, sender, $2 from sends where tx_hash = $1`,
    [hash, world.clock.nowMs()],
  );
  await origin.reorg(1);
  await world.watch(origin);
  expect((await world.status(agreed.requestId)).status).toBe("waiting");
});

test("a thousand reports of pending transactions cause a bounded number of reads per head, and each is read in turn", async () => {
  const { origin, services } = world;
  const trail = await world.watch(origin);
  await world.pool.query(
    `insert into send_reports (chain_id, tx_hash, request_id, sender, created_at_ms)
     select $1, '0x' || repeat('4', 60) || lpad(to_hex(n), 4, '0'), '0x' || repeat('5', 64), '0x' || repeat('6', 40), $2
     from generate_series(1, 1000) n`,
    [origin.chain.id, world.clock.nowMs()],
  );
  const { connected } = origin;
  const read: TxHash[] = [];
  const receipt = async (hash: TxHash) => {
    read.push(hash);
    return undefined;
  };
  const counted = {
    ...connected,
    connection: { ...connected.connection, reader: { ...connected.connection.reader, receipt } },
  };
  let last: SendRecord | undefined;
  do {
    const before = read.length;
    last = await followReports(services, counted, trail, last);
    expect(read.length - before).toBeLessThanOrEqual(96);
  } while (last !== undefined);
  expect(new Set(read.filter((hash) => hash.startsWith("0x4444"))).size).toBe(1_000);
  await world.pool.query("delete from send_reports where sender = '0x' || repeat('6', 40)");
});

test("a node that fails to serve a reported transaction does not delay the rest of a head", async () => {
  const { origin, services } = world;
  const honest = await aSend(native);
  const hash = await world.pay(honest);
  await report(honest, hash);
  const stuck = `0x${"8".repeat(64)}`;
  await world.pool.query(
    `insert into send_reports (chain_id, tx_hash, request_id, sender, created_at_ms) values ($1, $2, $3, $4, $5)`,
    [origin.chain.id, stuck, `0x${"9".repeat(64)}`, world.stranger.address, world.clock.nowMs()],
  );
  const { connected } = origin;
  const { reader } = connected.connection;
  const receipt = async (hash: TxHash) => {
    if (hash === stuck) throw new Error("the node failed");
    return await reader.receipt(hash);
  };
  const failing = {
    ...connected,
    connection: { ...connected.connection, reader: { ...reader, receipt } },
  };
  await origin.mine();
  const { number } = await origin.announce();
  const headsSeen: bigint[] = [];
  const lead = async () => ({
    lost: new AbortController().signal,
    reportWork: () => undefined,
    release: async () => undefined,
  });
  const watcher = watchChain(services, failing, lead, async (atBlock) => {
    headsSeen.push(atBlock);
  });
  await expect.poll(() => headsSeen).toContain(number);
  await expect.poll(async () => (await world.status(honest.requestId)).status).toBe("success");
  await watcher.close();
  await world.pool.query("delete from send_reports where tx_hash = $1", [stuck]);
});

const alwaysLeading = async () => ({
  lost: new AbortController().signal,
  reportWork: () => undefined,
  release: async () => undefined,
});

test("a scan whose endpoint fails every second request for logs catches up without growing pauses", async () => {
  const { origin, services } = world;
  const { connected } = origin;
  const { reader } = connected.connection;
  let requests = 0;
  const depositsIn: typeof reader.depositsIn = async (range) => {
    if (requests++ % 2 === 1) throw new Error("the node failed");
    return await reader.depositsIn(range);
  };
  const failing = {
    ...connected,
    connection: { ...connected.connection, reader: { ...reader, depositsIn } },
  };
  const enginePolicy = { ...services.enginePolicy, maxScanBlocks: 8 };
  await origin.mine(80);
  const { number } = await origin.announce();
  const watcher = watchChain({ ...services, enginePolicy }, failing, alwaysLeading);
  // There are ten steps. With pauses that double each time, they would take half a minute.
  await expect
    .poll(async () => (await services.reads.trail(origin.chain.id)).at(-1)?.number, { timeout: 10_000 })
    .toBe(number);
  await watcher.close();
});

test("blocks are scanned as far as the endpoint serves them while it is behind the announced head", async () => {
  const { origin, services } = world;
  const { connected } = origin;
  const { reader } = connected.connection;
  await origin.mine(3);
  const announced = await origin.announce();
  const served = announced.number - 1n;
  const depositsIn: typeof reader.depositsIn = async (range) => {
    if (range.to > served) throw new Error("unknown block");
    return await reader.depositsIn(range);
  };
  let heads = 0;
  const head: typeof reader.head = async () => {
    heads++;
    const block = await reader.block(served);
    if (block === undefined) throw new Error(`there is no block ${served}`);
    return { ...announced, ...block };
  };
  const behind = {
    ...connected,
    connection: { ...connected.connection, reader: { ...reader, depositsIn, head } },
  };
  let callbacks = 0;
  const onHead = async (): Promise<void> => void callbacks++;
  const watcher = watchChain(services, behind, alwaysLeading, onHead);
  await expect
    .poll(async () => (await services.reads.trail(origin.chain.id)).at(-1)?.number, { timeout: 5_000 })
    .toBe(served);
  const headsBefore = heads;
  await expect.poll(() => heads, { timeout: 5_000 }).toBeGreaterThan(headsBefore + 2);
  expect(callbacks, "work that follows a scanned block runs once").toBe(1);
  await watcher.close();
});

test("a single answer of a node that is far behind reverses nothing, even after a failed scan", async () => {
  const { origin, services } = world;
  const { connected } = origin;
  const { reader } = connected.connection;
  await origin.mine(trailLength(origin.chain));
  await world.watch(origin);
  const [lowest] = await services.reads.trail(origin.chain.id);
  const old = await reader.block((lowest?.number ?? 1n) - 1n);
  if (old === undefined) throw new Error("no block is below the trail");
  await origin.mine(3);
  const announced = await origin.announce();
  const reorgs = world.events.of("reorg").length;
  let [reads, headReads] = [0, 0];
  const depositsIn: typeof reader.depositsIn = async (range) => {
    if (++reads === 1) throw new Error("unknown block");
    return await reader.depositsIn(range);
  };
  const head: typeof reader.head = async () =>
    ++headReads === 1 ? { ...announced, ...old } : await reader.head();
  const lagging = {
    ...connected,
    connection: { ...connected.connection, reader: { ...reader, depositsIn, head } },
  };
  const watcher = watchChain(services, lagging, alwaysLeading);
  await expect
    .poll(async () => (await services.reads.trail(origin.chain.id)).at(-1)?.number, { timeout: 5_000 })
    .toBe(announced.number);
  await watcher.close();
  expect(headReads).toBeGreaterThan(0);
  expect((await services.reads.trail(origin.chain.id)).length).toBe(trailLength(origin.chain));
  expect(world.events.of("reorg")).toHaveLength(reorgs);
});

test("a payment that the wallet replaced with a higher fee is followed under its new hash", async () => {
  const agreed = await aSend(native);
  const [data] = transactionsOf(agreed.answer.steps);
  const nonce = await world.origin.client.getTransactionCount({ address: world.user.address });
  const slow = await world.origin.send(world.user, {
    to: (data?.to ?? "0x") as TxHash,
    data: (data?.data ?? "0x") as TxHash,
    value: BigInt(data?.value ?? 0),
    nonce,
  });
  await report(agreed, slow);
  const fast = await world.origin.client.sendTransaction({
    account: privateKeyToAccount(world.user.privateKey),
    to: (data?.to ?? "0x") as TxHash,
    data: (data?.data ?? "0x") as TxHash,
    value: BigInt(data?.value ?? 0),
    nonce,
    gas: 40_000n,
    maxFeePerGas: 900_000_000_000n,
    maxPriorityFeePerGas: 5_000_000_000n,
  });
  await report(agreed, fast);
  await world.origin.mine();
  await world.watch(world.origin);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", txHashes: [fast] });
});

test("a report that no block confirms is deleted after an hour and may be made again", async () => {
  const agreed = await aSend(native);
  const hash = await world.pay(agreed);
  await report(agreed, hash);
  const followed = async (): Promise<boolean> =>
    (await world.services.reads.sendReports(world.origin.chain.id, undefined, 200)).some(
      ({ txHash }) => txHash === hash,
    );
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

test("a payment in a block older than the watcher's trail is recognized when it is reported", async () => {
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

test("native tokens are sent to a contract through the router, without calldata, and count for its request", async () => {
  const recipient = world.anAddress();
  // Code that accepts native tokens and rejects calldata: CALLDATASIZE, JUMPI to INVALID, STOP.
  await world.origin.client.setCode({ address: recipient, bytecode: "0x36600557005bfe" });
  const agreed = await aSend({ ...native, recipient });
  const hash = await world.pay(agreed);
  await report(agreed, hash);
  await world.origin.mine();
  await world.watch(world.origin);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", txHashes: [hash] });
  expect(await world.origin.balance(recipient, NATIVE_CURRENCY)).toBe(agreed.terms.origin.amount);
});

test("a payment counts for the request that it names, even if a client first reported it for another request", async () => {
  const recipient = world.anAddress();
  const [first, second] = [await aSend({ ...native, recipient }), await aSend({ ...native, recipient })];
  const hash = await world.pay(first);
  await expect(report(second, hash)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  await report(first, hash);
  await world.origin.mine();
  await world.watch(world.origin);
  expect((await world.status(first.requestId)).status).toBe("success");
  expect((await world.status(second.requestId)).status).toBe("waiting");
});

test("the newest of a thousand unsettled payments is seen within two blocks", async () => {
  const { origin, services, pool, clock } = world;
  const trail = await world.watch(origin);
  const chainId = origin.chain.id;
  const { number, hash: blockHash } = await origin.client.getBlock();
  // Half of them wait to be mined, and half wait to be final.
  await pool.query(
    `insert into send_reports (chain_id, tx_hash, request_id, sender, created_at_ms)
     select $1, '0x' || repeat('9', 60) || lpad(to_hex(n), 4, '0'), '0x' || repeat('a', 60) || lpad(to_hex(n), 4, '0'),
       '0x' || repeat('9', 36) || lpad(to_hex(n % 250), 4, '0'), $2::bigint - n
     from generate_series(1, 500) n`,
    [chainId, clock.nowMs()],
  );
  await pool.query(
    `insert into sends (chain_id, tx_hash, request_id, sender, created_at_ms, block_number, block_hash)
     select $1, '0x' || repeat('b', 60) || lpad(to_hex(n), 4, '0'), '0x' || repeat('c', 60) || lpad(to_hex(n), 4, '0'), '', 0, $2, $3
     from generate_series(1, 500) n`,
    [chainId, number, blockHash],
  );
  const newest = await aSend();
  clock.forward(1);
  const hash = await world.pay(newest);
  await report(newest, hash);
  await origin.mine();
  // One round per head, like the watcher's. It does not loop over all reports.
  let scanned = trail;
  let last: SendRecord | undefined;
  for (let block = 0; block < 2; block++) {
    await origin.mine();
    scanned = await scanChain(services, origin.connected, scanned, await origin.announce());
    await trackSends(services, origin.connected, scanned);
    last = await followReports(services, origin.connected, scanned, last);
  }
  expect(await world.status(newest.requestId)).toMatchObject({ status: "success", txHashes: [hash] });
  await pool.query("delete from send_reports where tx_hash like '0x9999%'");
  await pool.query("delete from sends where tx_hash like '0xbbbb%'");
});

test("hundreds of reported transactions that are never mined do not delay a payment, and each sender has its own quota", async () => {
  const { origin, stranger } = world;
  const pending = async (nonce: number) => {
    const agreed = await aSend({ ...native, user: stranger.address });
    const { requestId, terms } = agreed;
    // The nonce follows one that is never broadcast.
    const call = { to: terms.recipient, value: terms.origin.amount, data: requestId, nonce };
    return await report(agreed, await origin.send(stranger, call));
  };
  for (let n = 0; n < 64; n++) await pending(100_000 + n);
  await expect(pending(200_000)).rejects.toMatchObject({ code: "RATE_LIMITED" });
  await world.pool.query(
    `insert into send_reports (chain_id, tx_hash, request_id, sender, created_at_ms)
     select $1, '0x' || lpad(to_hex(n), 64, '0'), '0x' || repeat('1', 60) || lpad(to_hex(n), 4, '0'), '0x' || lpad(to_hex(n), 40, '0'), $2
     from generate_series(1, 400) n`,
    [origin.chain.id, world.clock.nowMs() - 60_000],
  );
  const honest = await aSend();
  const hash = await world.pay(honest);
  await report(honest, hash);
  await origin.mine();
  await world.watch(origin);
  expect(await world.status(honest.requestId)).toMatchObject({ status: "success", txHashes: [hash] });
  world.clock.forward(3_600_000);
  await world.watch(origin);
  expect(await world.services.reads.sendReports(origin.chain.id, undefined, 200)).toEqual([]);
});

test.each([64, 4_800])(
  "a thousand mined payments that wait for %i blocks of finality hide no other payment, and all become final",
  async (finalityBlocks) => {
    const { origin } = world;
    const finalizing = withChain(world.services, origin.connected, { chain: { finalityBlocks } });
    const { number, hash: blockHash } = await origin.client.getBlock();
    await world.pool.query(
      `insert into sends (chain_id, tx_hash, request_id, sender, created_at_ms, block_number, block_hash)
       select $1, '0x' || repeat('7', 60) || lpad(to_hex(n), 4, '0'), '0x' || repeat('8', 60) || lpad(to_hex(n), 4, '0'), '', 0, $2, $3
       from generate_series(1, 1000) n`,
      [origin.chain.id, number, blockHash],
    );
    const agreed = await aSend();
    const hash = await world.pay(agreed);
    await report(agreed, hash);
    await origin.mine();
    await world.watch(origin, finalizing);
    expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", txHashes: [hash] });
    await origin.mine(10);
    await world.watch(origin, finalizing);
    expect((await world.status(agreed.requestId)).final).toBe(false);
    // Every payment waits until the chain reports it as final. Reports are read in pages, and no page hides
    // the rest.
    await trackSends(
      finalizing,
      { chain: { ...origin.chain, finalityBlocks: 10 } },
      await world.watch(origin, finalizing),
    );
    expect((await world.status(agreed.requestId)).final).toBe(true);
    const { rows } = await world.pool.query("select 1 from sends where not settled");
    expect(rows).toEqual([]);
    await world.pool.query("delete from sends where tx_hash like '0x7777%'");
  },
);

test("hundreds of mined payments that are not final hide no other payment, and all become final", async () => {
  const { origin } = world;
  const { number, hash: blockHash } = await origin.client.getBlock();
  await world.pool.query(
    `insert into sends (chain_id, tx_hash, request_id, sender, created_at_ms, block_number, block_hash)
     select $1, '0x' || repeat('2', 60) || lpad(to_hex(n), 4, '0'), '0x' || repeat('3', 60) || lpad(to_hex(n), 4, '0'), '', 0, $2, $3 from generate_series(1, 450) n`,
    [origin.chain.id, number, blockHash],
  );
  const agreed = await aSend();
  const hash = await world.pay(agreed);
  await report(agreed, hash);
  await origin.mine();
  await world.watch(origin);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "success", txHashes: [hash] });
  await origin.mine();
  await world.watch(origin);
  const { rows } = await world.pool.query("select 1 from sends where not settled");
  expect(rows).toEqual([]);
});
