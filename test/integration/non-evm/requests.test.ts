import { refundLeg } from "../../../apps/api/src/payments/legs/refund-leg.ts";
import { pay } from "../../../apps/api/src/payments/pay-leg.ts";
import { fillLeg } from "../../../apps/api/src/payments/legs/fill-leg.ts";
import { RpcFault, RateLimitShareExceeded, type NonEvmConnection } from "@causeway/chains";
import { NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import { formatTransactionId } from "@causeway/families";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { strandedFunds } from "../../../apps/api/src/payments/operator-reads.postgres.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { leaderLocks } from "../../../apps/api/src/db/leader-locks.postgres.ts";
import { watchNonEvm } from "../../../apps/api/src/watch/watch-non-evm.job.ts";
import { indexTransaction } from "../../../apps/api/src/deposits/index-transaction.ts";
import type { Slot } from "../../../apps/api/src/db/records.port.ts";
import type { ConnectedNonEvmChain } from "../../../apps/api/src/chains/chains.port.ts";
import { readArrivals } from "../../../apps/api/src/deposits/non-evm/read-arrivals.ts";
import { reconcileRequests } from "../../../apps/api/src/reconcile/reconcile-requests.ts";
import {
  anAccount,
  startNonEvmWorld,
  type NonEvmRequest,
  type NonEvmTestChain,
  type NonEvmWorld,
  type NonEvmWorldOptions,
} from "../../support/non-evm-world.ts";
import { archiveFiles } from "../../../apps/api/src/reconcile/archive/archive-files.adapter.ts";
import { archiveMonths, youngestArchivable } from "../../../apps/api/src/reconcile/archive/archive-months.ts";
import { archiveStore } from "../../../apps/api/src/reconcile/archive/archive.postgres.ts";
import { allOf } from "../../support/all-of.ts";
import { runOperatorRefund } from "../../support/operator-refund.ts";
import { createEndpointOrder } from "../../../packages/chains/src/nodes/endpoint-order.ts";
import { createSharedArrivals } from "../../../packages/chains/src/non-evm-arrivals.ts";

let world: NonEvmWorld;
const worlds = new Map<string, NonEvmWorld>();

/**
 * Starts a world with these options, or reuses the last one with the same options. Requests are independent
 * of each other.
 */
async function start(options: NonEvmWorldOptions = {}): Promise<void> {
  const key = JSON.stringify(Object.entries(options).map(String));
  world = worlds.get(key) ?? (await startNonEvmWorld(options));
  worlds.set(key, world);
}
afterEach(() => {
  for (const { network } of [world.origin, world.destination])
    Object.assign(network, { lag: 0, isDown: false, losesBytes: false, refusal: undefined, repeats: false });
});
afterAll(async () => {
  for (const started of worlds.values()) await started.stop();
});

const formatted = ({ chain }: NonEvmTestChain, ...ids: readonly Hex[]) =>
  ids.map((id) => formatTransactionId(chain, id));
const stranded = async () => await strandedFunds(sqlOn(world.pool));
const received = (account: Hex, { network }: NonEvmTestChain) => network.received(account, network.native);

/** Makes the deposit final, reads it, and runs its job. */
async function depositAndFill(agreed: NonEvmRequest): Promise<void> {
  world.pay(agreed);
  world.origin.network.mineUntilFinal();
  await world.watch(world.origin);
  await world.work();
}

async function expectFilledOnce(agreed: NonEvmRequest): Promise<void> {
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
  // Finishes all work that is still in progress.
  for (let more = 0; more < 8; more++) await world.round();
  expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  expect(received(agreed.terms.recipient, world.destination)).toBe(95_000n);
  expect(world.paymentsOf(agreed, world.origin)).toEqual([]);
}

async function expectRefundedOnce(agreed: NonEvmRequest, to = agreed.terms.refundTo): Promise<void> {
  expect((await world.untilFinal(agreed.requestId)).status).toBe("refund");
  for (let more = 0; more < 8; more++) await world.round();
  const payments = world.paymentsOf(agreed, world.origin);
  expect(payments).toHaveLength(1);
  // The payment's cost is deducted from the refund.
  expect(received(to, world.origin)).toBe(100_000n - world.origin.network.cost);
  expect(world.paymentsOf(agreed, world.destination)).toEqual([]);
  expect((await world.status(agreed.requestId)).refundTxHashes).toEqual(formatted(world.origin, ...payments));
}

test("a deposit fills its request once it is final, and every interim status is accurate", async () => {
  await start();
  const agreed = await world.storeRequest();
  const deposit = world.pay(agreed);
  world.origin.network.mine();
  await world.watch(world.origin);
  expect((await world.status(agreed.requestId)).status).toBe("waiting");
  world.origin.network.mineUntilFinal();
  await world.watch(world.origin);
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "pending",
    inTxHashes: formatted(world.origin, deposit),
  });
  await world.work();
  expect((await world.status(agreed.requestId)).status).toBe("submitted");
  world.destination.network.mine();
  await world.track(world.destination);
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "success",
    final: false,
    txHashes: formatted(world.destination, ...world.paymentsOf(agreed, world.destination)),
  });
  await expectFilledOnce(agreed);
});

test("records the deposits that a read found before a fault, and reports the fault", async () => {
  await start();
  const agreed = await world.storeRequest();
  const deposit = world.pay(agreed);
  world.origin.network.mineUntilFinal();
  const { id } = world.origin.chain;
  const connected = world.services.chains.nonEvmChains.find(({ chain }) => chain.id === id);
  if (connected === undefined) throw new Error("no connection for the origin chain");
  const fault = new RpcFault({ kind: "http", method: "txDetails", reason: "HTTP status 429: " });
  const arrivals: NonEvmConnection["arrivals"] = async (cursor) => ({
    ...(await connected.connection.arrivals(cursor)),
    fault,
  });
  const limited = { ...connected, connection: { ...connected.connection, arrivals } };
  const before = await world.services.reads.nonEvmCursor(id);
  await expect(readArrivals(world.services, limited, before)).rejects.toBe(fault);
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "pending",
    inTxHashes: formatted(world.origin, deposit),
  });
  const after = await world.services.reads.nonEvmCursor(id);
  expect(after).not.toBe(before);
  // With nothing more to read, the fault is still reported.
  await expect(readArrivals(world.services, limited, after)).rejects.toBe(fault);
  await expectFilledOnce(agreed);
});

test("deposits are committed once, even while another process holds the cursor", async () => {
  await start();
  const agreed = await world.storeRequest();
  world.pay(agreed);
  world.origin.network.mineUntilFinal();
  const { id } = world.origin.chain;
  const connected = world.services.chains.nonEvmChains.find(({ chain }) => chain.id === id);
  if (connected === undefined) throw new Error("no connection for the origin chain");
  const cursor = await world.services.reads.nonEvmCursor(id);
  const arrivals: NonEvmConnection["arrivals"] = async (from) => ({
    ...(await connected.connection.arrivals(from)),
    cursor: from ?? "",
  });
  const held = { ...connected, connection: { ...connected.connection, arrivals } };
  const recorded = new Set<string>();
  let commits = 0;
  const uow: typeof world.services.uow = {
    ...world.services.uow,
    run: async (work) => {
      commits++;
      return await world.services.uow.run(work);
    },
  };
  for (let readings = 0; readings < 3; readings++)
    await readArrivals({ ...world.services, uow }, held, cursor, { recorded });
  expect(commits).toBe(1);
  expect((await world.status(agreed.requestId)).status).toBe("pending");
  // The next cursor is committed, whatever another process recorded.
  await readArrivals({ ...world.services, uow }, connected, cursor, { recorded });
  expect(commits).toBe(2);
  await expectFilledOnce(agreed);
});

/** Reads in a new process, which knows only what is stored. */
function aReader(
  connected: ConnectedNonEvmChain,
  endpoints: readonly NonEvmConnection[],
  now = () => performance.now(),
): () => Promise<void> {
  const order = createEndpointOrder(endpoints.map((_, at) => `endpoint ${at}`));
  const arrivals = createSharedArrivals(endpoints, order, { quorum: 2, onDisagreement: () => {}, now });
  const together = { ...connected, connection: { ...connected.connection, ...arrivals } };
  const { reads } = world.services;
  return async () => {
    const { id } = connected.chain;
    const checked = await reads.nonEvmChecked(id);
    await readArrivals(world.services, together, await reads.nonEvmCursor(id), { checked });
  };
}

test("a deposit that the lead hid before a restart is recorded after it, and filled once", async () => {
  await start();
  const agreed = await world.storeRequest();
  const deposit = world.pay(agreed);
  world.origin.network.mineUntilFinal();
  const { id } = world.origin.chain;
  const connected = world.services.chains.nonEvmChains.find(({ chain }) => chain.id === id);
  if (connected === undefined) throw new Error("no connection for the origin chain");
  const { connection } = connected;
  const hiding: NonEvmConnection = {
    ...connection,
    arrivals: async (cursor) => ({ ...(await connection.arrivals(cursor)), deposits: [] }),
    arrivalsOf: async () => await Promise.resolve({ kind: "absent" }),
  };
  let nowMs = 0;
  const endpoints = [hiding, connection, connection];
  const before = await world.services.reads.nonEvmCursor(id);
  await aReader(connected, endpoints, () => nowMs)();
  expect(await world.services.reads.nonEvmCursor(id)).not.toBe(before);
  expect((await world.status(agreed.requestId)).status).toBe("waiting");
  const read = aReader(connected, endpoints, () => nowMs);
  for (let minutes = 0; minutes < 3; minutes++) {
    await read();
    nowMs += 60_000;
    // The second reading runs in the background.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "pending",
    inTxHashes: formatted(world.origin, deposit),
  });
  await expectFilledOnce(agreed);
});

test("deposits are committed once while another one waits for so long that it is a fault", async () => {
  await start();
  const agreed = await world.storeRequest();
  world.pay(agreed);
  world.origin.network.mineUntilFinal();
  const { id } = world.origin.chain;
  const connected = world.services.chains.nonEvmChains.find(({ chain }) => chain.id === id);
  if (connected === undefined) throw new Error("no connection for the origin chain");
  const fault = new RpcFault({ kind: "inconsistent", method: "deposits", reason: "waits for a quorum" });
  let readings = 0;
  const arrivals: NonEvmConnection["arrivals"] = async (from) => {
    readings++;
    return { ...(await connected.connection.arrivals(from)), cursor: from ?? "", fault };
  };
  const held = { ...connected, connection: { ...connected.connection, arrivals } };
  let commits = 0;
  const events: typeof world.services.events = {
    ...world.services.events,
    fault: () => {},
    happened: (name) => void (commits += name === "chain_scanned" ? 1 : 0),
  };
  const lead = () =>
    Promise.resolve({ lost: new AbortController().signal, reportWork: () => {}, release: async () => {} });
  const watcher = watchNonEvm({ ...world.services, events }, held, lead);
  try {
    await vi.waitFor(() => expect(readings).toBeGreaterThan(2), { timeout: 15_000 });
  } finally {
    await watcher.close();
  }
  expect(commits).toBe(1);
  await expectFilledOnce(agreed);
});

test.each<[string, (next: string, from: string | undefined) => string]>([
  ["a held cursor", (next, from) => from ?? next],
  ["an idle chain", (next) => next],
])("a deposit whose commit a failover lost is recorded again within a minute: %s", async (_, cursorOf) => {
  await start();
  const agreed = await world.storeRequest();
  const deposit = world.pay(agreed);
  world.origin.network.mineUntilFinal();
  const { id } = world.origin.chain;
  const connected = world.services.chains.nonEvmChains.find(({ chain }) => chain.id === id);
  if (connected === undefined) throw new Error("no connection for the origin chain");
  const arrivals: NonEvmConnection["arrivals"] = async (from) => {
    const found = await connected.connection.arrivals(from);
    return { ...found, cursor: cursorOf(found.cursor, from) };
  };
  const end = { ...connected, connection: { ...connected.connection, arrivals } };
  let readings = 0;
  let isLost = false;
  const uow: typeof world.services.uow = {
    ...world.services.uow,
    run: async (work) => {
      let lost: { readonly result: Awaited<ReturnType<typeof work>> } | undefined;
      try {
        return await world.services.uow.run(async (tx) => {
          let setsCursor = false;
          const setCursor: typeof tx.nonEvm.setCursor = async (...position) => {
            setsCursor = true;
            await tx.nonEvm.setCursor(...position);
          };
          const result = await work({ ...tx, nonEvm: { ...tx.nonEvm, setCursor } });
          if (!setsCursor || isLost) return result;
          isLost = true;
          lost = { result };
          throw new Error("the former primary confirmed this commit, and the new one lacks it");
        });
      } catch (error) {
        if (lost === undefined) throw error;
        return lost.result;
      }
    },
  };
  const lead = () =>
    Promise.resolve({
      lost: new AbortController().signal,
      reportWork: () => void readings++,
      release: async () => {},
    });
  const watcher = watchNonEvm({ ...world.services, uow }, end, lead);
  try {
    await vi.waitFor(() => expect(readings).toBeGreaterThan(1), { timeout: 15_000 });
    expect(isLost).toBe(true);
    expect((await world.status(agreed.requestId)).status).toBe("waiting");
    world.clock.forward(60_000);
    await vi.waitFor(
      async () =>
        expect(await world.status(agreed.requestId)).toMatchObject({
          status: "pending",
          inTxHashes: formatted(world.origin, deposit),
        }),
      { timeout: 5_000 },
    );
  } finally {
    await watcher.close();
  }
  await expectFilledOnce(agreed);
});

test("a deposit that waits for a second endpoint is recorded after a restart, and filled once", async () => {
  await start();
  const agreed = await world.storeRequest();
  const deposit = world.pay(agreed);
  world.origin.network.mineUntilFinal();
  const { id } = world.origin.chain;
  const connected = world.services.chains.nonEvmChains.find(({ chain }) => chain.id === id);
  if (connected === undefined) throw new Error("no connection for the origin chain");
  const { connection } = connected;
  const down = new RpcFault({ kind: "network", method: "arrivalsOf", reason: "refused" });
  let isDown = true;
  const second: NonEvmConnection = {
    ...connection,
    arrivalsOf: async (...args) => {
      if (isDown) throw down;
      return await connection.arrivalsOf(...args);
    },
  };
  for (let readings = 0; readings < 3; readings++) {
    await aReader(connected, [connection, second])();
    expect((await world.status(agreed.requestId)).status).toBe("waiting");
  }
  isDown = false;
  for (let readings = 0; readings < 2; readings++) await aReader(connected, [connection, second])();
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "pending",
    inTxHashes: formatted(world.origin, deposit),
  });
  await expectFilledOnce(agreed);
});

for (const origin of ["outputs", "expiring"] as const)
  test(`a deposit that a reorg replaces before it is final is recorded and refunded once: ${origin}`, async () => {
    await start({ origin });
    const agreed = await world.storeRequest();
    const { network, chain } = world.origin;
    const first = world.pay(agreed, { amount: 99_999n });
    network.mine();
    await world.watch(world.origin);
    await indexTransaction(world.services, { chainId: chain.id, txHash: first });
    expect(await world.depositsAt(first)).toEqual([]);
    network.reorg(1);
    const second = world.pay(agreed, { amount: 99_999n });
    expect(second).not.toBe(first);
    network.mineUntilFinal();
    for (let more = 0; more < 8; more++) await world.round();
    expect(await world.depositsAt(first)).toEqual([]);
    expect(await world.depositsAt(second)).toMatchObject([{ refundState: "final" }]);
    expect(received(agreed.terms.refundTo, world.origin)).toBe(99_989n);
    expect(world.paymentsOf(agreed, world.origin)).toHaveLength(1);
  });

test("a deposit that is reported twice, by the chain and by a client, is one deposit", async () => {
  await start();
  const agreed = await world.storeRequest();
  const txHash = world.pay(agreed);
  const chainId = world.origin.chain.id;
  const hint = async () => (await indexTransaction(world.services, { chainId, txHash })).message;
  expect(await hint()).toMatch(/waiting for finality/);
  await expect(indexTransaction(world.services, { chainId, txHash: anAccount() })).rejects.toMatchObject({
    code: "TRANSACTION_NOT_FOUND",
  });
  world.origin.network.mineUntilFinal();
  expect(await hint()).toBe("Transaction indexed");
  world.origin.network.repeatsDeposits = true;
  for (let more = 0; more < 3; more++) {
    await world.watch(world.origin);
    world.origin.network.mine();
  }
  await hint();
  expect(await world.depositsAt(txHash)).toHaveLength(1);
  await expectFilledOnce(agreed);
});

test("refunds a deposit that differs from the agreed one, minus the cost, and a stranger's deposit to the stranger", async () => {
  await start();
  const agreed = await world.storeRequest();
  const stranger = anAccount();
  world.pay(agreed, { from: stranger });
  world.origin.network.mineUntilFinal();
  for (let more = 0; more < 8; more++) await world.round();
  expect(received(stranger, world.origin)).toBe(99_990n);
  expect((await world.status(agreed.requestId)).status).toBe("waiting");

  world.pay(agreed, { amount: 99_999n });
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({
    status: "refund",
    failReason: "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL",
  });
  expect(received(agreed.terms.refundTo, world.origin)).toBe(99_989n);
});

test("a stranger's deposit for another user's order is refunded within the daily limit, and above it is left to the operator", async () => {
  await start();
  const { enginePolicy } = world.services;
  const limited = { ...world.services, enginePolicy: { ...enginePolicy, maxUnrepaidRefundsUsd: 1n } };
  const agreed = await world.storeRequest();
  const stranger = anAccount();
  const txHash = world.pay(agreed, { from: stranger });
  world.origin.network.mineUntilFinal();
  for (let more = 0; more < 8; more++) await world.round(limited);
  expect(received(stranger, world.origin)).toBe(0n);
  expect(await stranded()).toContainEqual(
    expect.objectContaining({ tx_hash: txHash, refund_fail_reason: "MANUAL_REFUND_REQUIRED" }),
  );
  expect((await world.status(agreed.requestId)).status).toBe("waiting");
});

test("on Bitcoin any address can pay an order by its id, and refunds go to the order's refund address", async () => {
  await start({ origin: "outputs" });
  const agreed = await world.storeRequest();
  const { refundTo } = agreed.terms;
  const another = (): Hex => `0x00${randomBytes(20).toString("hex")}`;

  const wrong = world.pay(agreed, { from: another(), amount: 99_999n });
  world.origin.network.mineUntilFinal();
  for (let more = 0; more < 8; more++) await world.round();
  expect(received(refundTo, world.origin)).toBe(99_989n);
  const waiting = await world.status(agreed.requestId);
  expect(waiting).toMatchObject({ status: "waiting", nextAction: "send_deposit" });
  expect(waiting.inTxHashes).toEqual(formatted(world.origin, wrong));
  expect(waiting.refundTxHashes).toEqual(formatted(world.origin, ...world.paymentsOf(agreed, world.origin)));
  expect(waiting.refundTxHashes).toHaveLength(1);

  const right = world.pay(agreed, { from: another() });
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({
    status: "success",
    inTxHashes: formatted(world.origin, wrong, right),
  });
  expect(received(agreed.terms.recipient, world.destination)).toBe(95_000n);

  // A payment of the same order by another account belongs to the order's owner.
  const stranger = another();
  world.pay(agreed, { from: stranger });
  world.origin.network.mineUntilFinal();
  for (let more = 0; more < 8; more++) await world.round();
  expect(received(refundTo, world.origin)).toBe(2n * 99_989n + 1n);
  expect(received(stranger, world.origin)).toBe(0n);
  const { rows } = await world.pool.query("select unrepaid_reason from deposits where request_id = $1", [
    agreed.requestId,
  ]);
  expect(rows).toEqual([{ unrepaid_reason: null }, { unrepaid_reason: null }, { unrepaid_reason: null }]);
});

test("a transfer without a mapping is returned to its depositor, not to a relayer that paid its fee", async () => {
  await start();
  const [relayer, depositor] = [anAccount(), anAccount()];
  const { network } = world.origin;
  network.deposit({ from: relayer, depositor, currency: network.native, amount: 100_000n, nonce: 77n });
  network.mineUntilFinal();
  await world.watch(world.origin);
  world.clock.forward(HOUR_MS + 60_000);
  for (let more = 0; more < 8; more++) {
    await world.round();
    world.clock.forward(6_000);
  }
  expect(received(depositor, world.origin)).toBe(99_990n);
  expect(received(relayer, world.origin)).toBe(0n);
});

test("a deposit too low for a refund pays for the gas that its fills used", async () => {
  await start();
  const agreed = await world.storeRequest();
  const { requestId } = agreed;
  const txHash = world.pay(agreed, { amount: 10n });
  world.origin.network.mineUntilFinal();
  await world.watch(world.origin);
  const [depositRow] = await world.depositsAt(txHash);
  const request = await world.services.reads.request(requestId);
  const deposit = depositRow && (await world.services.reads.deposit(depositRow.id));
  if (!deposit || !request) throw new Error("the deposit was not read");
  const { chainId } = agreed.terms.destination;
  await world.pool.query(
    "insert into fill_burns (slot_id, request_id, chain_id, wei, unpaid_wei, at_ms) values (-2, $1, $2, 1, 1, 1)",
    [requestId, chainId],
  );
  const revertedSlot: Slot = {
    id: "-2",
    chainId,
    sender: NATIVE_CURRENCY,
    leg: { kind: "fill", id: requestId, requestId },
    call: { to: `0x${"c0".repeat(20)}`, value: 0n, data: "0x" },
    gasLimit: 1n,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 0n,
    outflow: { currency: NATIVE_CURRENCY, amount: 1n },
    cancelAfterMs: 0,
    nonce: 1,
    state: "dead",
    cancelReason: undefined,
    minedAttempt: 1,
    minedBlockNumber: 1n,
    minedBlockHash: undefined,
    minedStatus: "reverted",
    gasUsed: 1n,
    effectiveGasPrice: 1n,
    unexplainedSince: undefined,
    createdAtMs: 0,
    attempts: [],
  };
  const reads: typeof world.services.reads = {
    ...world.services.reads,
    request: async () => ({ ...request, state: { ...request.state, depositId: deposit.id } }),
    revertedSlotsOfLeg: async () => [revertedSlot],
  };
  await pay({ ...world.services, reads }, refundLeg, deposit.id);
  const { rows } = await world.pool.query("delete from fill_burns where slot_id = -2 returning unpaid_wei");
  expect(rows).toEqual([{ unpaid_wei: 0n }]);
});

test("a refund that would cost more than the rest is not sent, and an alarm is raised", async () => {
  await start();
  const agreed = await world.storeRequest();
  world.pay(agreed, { amount: 10n });
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({
    status: "failure",
    refundFailReason: "AMOUNT_TOO_LOW_TO_REFUND",
  });
  expect(await stranded()).toContainEqual(expect.objectContaining({ request_id: agreed.requestId }));
});

test("funds for an unknown order stay where they are and are reported to the operator", async () => {
  await start();
  const currency = world.origin.network.native;
  const from = anAccount();
  const txHash = world.origin.network.deposit({ from, currency, amount: 500n, id: anAccount() });
  for (let more = 0; more < 6; more++) await world.round();
  expect(await stranded()).toContainEqual(
    expect.objectContaining({ tx_hash: txHash, disposition: "unattributed" }),
  );
  expect(received(from, world.origin)).toBe(0n);
});

test("funds for an unknown order are returned to their depositor once the operator releases them", async () => {
  await start();
  const { network } = world.origin;
  const from = anAccount();
  network.deposit({ from, currency: network.native, amount: 100_000n, id: anAccount() });
  const txHash = network.deposit({ from, currency: network.native, amount: 50_000n, id: anAccount() });
  for (let more = 0; more < 6; more++) await world.round();
  const name = formatTransactionId(world.origin.chain, txHash);
  expect(await runOperatorRefund(world, name, "--yes")).toMatchObject({
    code: 0,
    steps: [{ txHash: name, why: "the deposit names no known order" }, { step: "released" }],
  });
  for (let more = 0; more < 8; more++) await world.round();
  expect(await runOperatorRefund(world, name, "--yes")).toMatchObject({
    code: 0,
    steps: [{ step: "already", refundState: "final" }],
  });
  expect(received(from, world.origin)).toBe(49_990n);
  const { rows } = await world.pool.query("select unrepaid_reason from deposits where tx_hash = $1", [
    txHash,
  ]);
  expect(rows).toEqual([{ unrepaid_reason: "the deposit names no order" }]);
});

test("refunds the deposit if the recipient cannot be paid", async () => {
  await start();
  const agreed = await world.storeRequest();
  world.destination.network.refusePaymentsTo(agreed.terms.recipient, "the account accepts no payments");
  await depositAndFill(agreed);
  expect((await world.status(agreed.requestId)).failReason).toBe("DESTINATION_TOKEN_TRANSFER_REJECTED");
  await expectRefundedOnce(agreed);
});

test("a refund deducts the gas that a fill used in its block", async () => {
  await start();
  const filled = await world.storeRequest();
  await depositAndFill(filled);
  await expectFilledOnce(filled);
  const slot = await world.services.reads.slotOfLeg("fill", filled.requestId);
  if (slot === undefined) throw new Error("the request was not filled");
  const agreed = await world.storeRequest();
  world.destination.network.refusePaymentsTo(agreed.terms.recipient, "the account accepts no payments");
  const reverted = {
    ...slot,
    call: { ...slot.call, to: anAccount() as Address },
    gasUsed: 40n,
    effectiveGasPrice: 10n,
  };
  const reads = {
    ...world.services.reads,
    revertedSlotsOfLeg: async (_: string, requestId: string) =>
      requestId === agreed.requestId ? [reverted] : [],
  };
  const burning = { ...world.services, reads };
  world.pay(agreed);
  world.origin.network.mineUntilFinal();
  await world.watch(world.origin);
  for (let more = 0; more < 8; more++) await world.round(burning);
  expect((await world.status(agreed.requestId)).status).toBe("refund");
  expect(received(agreed.terms.refundTo, world.origin)).toBe(99_990n - 400n);
});

test("a fill waits for the solver's funds, and its deposit is refunded if they do not arrive", async () => {
  await start({ opening: 800_000n });
  const agreed = await Promise.all(Array.from({ length: 9 }, async () => await world.storeRequest()));
  for (const request of agreed) world.pay(request);
  world.origin.network.mineUntilFinal();
  await world.watch(world.origin);
  await world.work();
  const ends = [];
  for (const { requestId } of agreed) ends.push(await world.untilFinal(requestId, 20_000));
  expect(ends.filter(({ status }) => status === "success")).toHaveLength(8);
  expect(ends.find(({ status }) => status === "refund")).toMatchObject({
    failReason: "SOLVER_BALANCE_TOO_LOW",
  });
});

test("broadcasts bytes that nodes lost again, replaces expired ones, and pays once", async () => {
  await start();
  const agreed = await world.storeRequest();
  world.destination.network.losesBytes = true;
  await depositAndFill(agreed);
  expect((await world.status(agreed.requestId)).status).toBe("submitted");
  world.destination.network.mine(5);
  world.clock.forward(6_000);
  await world.track(world.destination);
  const attempts = async () =>
    (await world.services.reads.slotOfLeg("fill", agreed.requestId))?.attempts ?? [];
  expect(await attempts()).toHaveLength(1);
  world.destination.network.mine(12);
  await world.track(world.destination);
  expect(await attempts()).toHaveLength(2);
  world.destination.network.losesBytes = false;
  await expectFilledOnce(agreed);
});

test("refunds the deposit if all bytes of its fill expired before the fill's deadline", async () => {
  await start();
  const agreed = await world.storeRequest({ fillDeadlineMs: world.clock.nowMs() + 60_000 });
  world.destination.network.losesBytes = true;
  await depositAndFill(agreed);
  const { cancelAfterDeadlineMs } = world.services.enginePolicy;
  world.clock.forward(60_000 + cancelAfterDeadlineMs + 1);
  // The fill stays submitted until all its bytes are known to be dead.
  await world.track(world.destination);
  expect((await world.status(agreed.requestId)).status).toBe("submitted");
  await expectRefundedOnce(agreed);
  expect(received(agreed.terms.recipient, world.destination)).toBe(0n);
});

test("does not end a payment because of expired bytes if another attempt was signed after the payment was read", async () => {
  await start();
  const agreed = await world.storeRequest({ fillDeadlineMs: world.clock.nowMs() + 60_000 });
  world.destination.network.losesBytes = true;
  await depositAndFill(agreed);
  const { reads, enginePolicy } = world.services;
  const slotOf = async () => await reads.slotOfLeg("fill", agreed.requestId);
  const stale = [await slotOf()].filter((slot) => slot !== undefined);
  const slow = { ...world.services, reads: { ...reads, unsettledSlots: async () => stale } };
  world.destination.network.mine(17);
  await world.track(world.destination);
  expect((await slotOf())?.attempts).toHaveLength(2);

  world.clock.forward(60_000 + enginePolicy.cancelAfterDeadlineMs + 1);
  await world.track(world.destination, slow);
  expect(await slotOf()).toMatchObject({ state: "open" });
  const ends = world.events.of("slot_dead").filter(({ facts }) => facts["requestId"] === agreed.requestId);
  expect(ends).toEqual([]);
  await expectRefundedOnce(agreed);
});

test("broadcasts the same bytes again when a payment's block is orphaned", async () => {
  await start();
  const agreed = await world.storeRequest();
  await depositAndFill(agreed);
  world.destination.network.mine();
  await world.track(world.destination);
  const [first] = world.paymentsOf(agreed, world.destination);
  world.destination.network.reorg(1);
  await world.track(world.destination);
  expect((await world.status(agreed.requestId)).status).toBe("submitted");
  await expectFilledOnce(agreed);
  expect(world.paymentsOf(agreed, world.destination)).toEqual([first]);
});

test("replaces a stuck payment with bytes that spend the same output, so that only one of them pays", async () => {
  await start({ destination: "outputs" });
  const agreed = await world.storeRequest();
  world.destination.network.refusal = "fee too low";
  await depositAndFill(agreed);
  expect((await world.status(agreed.requestId)).status).toBe("pending");
  world.clock.forward(world.services.enginePolicy.stuckAfterMs + 1);
  await world.track(world.destination);
  world.destination.network.refusal = undefined;
  const { attempts = [] } = (await world.services.reads.slotOfLeg("fill", agreed.requestId)) ?? {};
  expect(attempts).toHaveLength(2);
  // The first attempt still reaches a node.
  for (const { raw } of attempts) world.destination.network.addToPool(raw);
  await expectFilledOnce(agreed);
});

test("a stuck payment that cannot be replaced is broadcast again unchanged", async () => {
  // The balance suffices for the first bytes, but not for more expensive ones.
  await start({ destination: "outputs", opening: 95_016n });
  const agreed = await world.storeRequest();
  world.destination.network.losesBytes = true;
  await depositAndFill(agreed);
  world.destination.network.losesBytes = false;
  world.clock.forward(world.services.enginePolicy.stuckAfterMs + 1);
  await world.track(world.destination);
  const { attempts = [] } = (await world.services.reads.slotOfLeg("fill", agreed.requestId)) ?? {};
  expect(attempts).toHaveLength(1);
  await expectFilledOnce(agreed);
});

test("cancels a lost payment past its deadline with a payment to the solver itself, and then refunds the deposit", async () => {
  await start({ destination: "outputs" });
  const agreed = await world.storeRequest({ fillDeadlineMs: world.clock.nowMs() + 60_000 });
  world.destination.network.refusal = "fee too low";
  await depositAndFill(agreed);
  world.clock.forward(60_000 + world.services.enginePolicy.cancelAfterDeadlineMs + 1);
  world.destination.network.refusal = undefined;
  await world.track(world.destination);
  await expectRefundedOnce(agreed);
  expect(received(agreed.terms.recipient, world.destination)).toBe(0n);
});

test("a payment that is in the mempool is not canceled, however late it is", async () => {
  await start({ destination: "outputs" });
  const agreed = await world.storeRequest({ fillDeadlineMs: world.clock.nowMs() + 60_000 });
  await depositAndFill(agreed);
  world.clock.forward(60_000 + world.services.enginePolicy.cancelAfterDeadlineMs + 1);
  await world.track(world.destination);
  await expectFilledOnce(agreed);
});

test("payments do not change while nodes do not answer, and continue once they do", async () => {
  await start();
  const agreed = await world.storeRequest();
  await depositAndFill(agreed);
  world.destination.network.isDown = true;
  world.destination.network.mine(40);
  await expect(world.track(world.destination)).rejects.toThrow(/maintenance failed for/);
  expect((await world.status(agreed.requestId)).status).toBe("submitted");
  world.destination.network.isDown = false;
  await expectFilledOnce(agreed);
});

test("a lagging node does not cause a second payment", async () => {
  await start();
  const agreed = await world.storeRequest();
  await depositAndFill(agreed);
  world.destination.network.mine(2);
  world.destination.network.lag = 2;
  world.clock.forward(60_000);
  for (let more = 0; more < 4; more++) await world.track(world.destination);
  world.destination.network.lag = 0;
  await expectFilledOnce(agreed);
});

test("at most two jobs of each kind wait for a chain's rate limit, and each payment is made once", async () => {
  await start();
  const paid = await Promise.all(Array.from({ length: 5 }, async () => await world.storeRequest()));
  const barred = await Promise.all(Array.from({ length: 4 }, async () => await world.storeRequest()));
  for (const request of [...paid, ...barred]) world.pay(request);
  for (const { terms } of barred)
    world.destination.network.refusePaymentsTo(terms.recipient, "the account accepts no payments");
  world.origin.network.mineUntilFinal();
  await world.watch(world.origin);
  for (const { requestId } of barred) await pay(world.services, fillLeg, requestId);
  const { chains } = world.services;
  let release = (): void => undefined;
  const turn = new Promise<void>((resolve) => (release = resolve));
  const usedUp = new RateLimitShareExceeded("preTransferCheck", { perMinute: 300, waitMs: 3_500 });
  const limited = (wait: () => Promise<void>): NonEvmWorld["services"] => {
    const nonEvmChains = chains.nonEvmChains.map((chain) => {
      const paymentCost: NonEvmConnection["paymentCost"] = async (...args) => {
        await wait();
        return await chain.connection.paymentCost(...args);
      };
      return { ...chain, isRateLimited: true as const, connection: { ...chain.connection, paymentCost } };
    });
    const nonEvm = (id: number) => nonEvmChains.find(({ chain }) => chain.id === id);
    return { ...world.services, chains: { ...chains, nonEvmChains, nonEvm } };
  };
  const waiting = limited(async () => await turn);
  const depositIds = await Promise.all(
    barred.map(async ({ requestId }) => (await world.request(requestId)).state.depositId ?? "0"),
  );
  const jobs = [
    ...paid.map(async ({ requestId }) => await pay(waiting, fillLeg, requestId)),
    ...depositIds.map(async (depositId) => await pay(waiting, refundLeg, depositId)),
  ];
  const ended: unknown[] = [];
  for (const job of jobs) void job.then((progress) => ended.push(progress));
  await vi.waitFor(() => expect(ended).toHaveLength(5));
  expect(ended).toEqual(
    Array.from({ length: 5 }, () => ({ waitMs: 2_000, why: expect.stringContaining("rate limit of") })),
  );
  release();
  expect((await Promise.all(jobs)).filter(({ waitMs }) => waitMs === 0)).toHaveLength(4);
  // A request that a rate limit delays is not a fault of the fill, however long the limit lasts.
  const beyond = limited(async () => await Promise.reject(usedUp));
  const states = await Promise.all(paid.map(async ({ requestId }) => await world.request(requestId)));
  const unpaid = states.find(({ state }) => state.name === "fillable");
  if (unpaid === undefined) throw new Error("expected a fill that still waits");
  for (let minute = 0; minute < 12; minute++) {
    const progress = await pay(beyond, fillLeg, unpaid.terms.requestId);
    expect(progress).toMatchObject({ waitMs: 4_000, why: usedUp.message });
    world.clock.forward(60_000);
  }
  for (const request of paid) await expectFilledOnce(request);
  for (const request of barred) await expectRefundedOnce(request);
});

test("spends no output twice and makes each payment once when two processes pay concurrently", async () => {
  await start({ destination: "outputs" });
  const agreed = await Promise.all(Array.from({ length: 6 }, async () => await world.storeRequest()));
  for (const request of agreed) world.pay(request);
  world.origin.network.mineUntilFinal();
  await world.watch(world.origin);
  const another = { ...world.services, chains: anotherDirectory() };
  await Promise.all(
    agreed.flatMap(({ requestId }) => [
      pay(world.services, fillLeg, requestId),
      pay(another, fillLeg, requestId),
    ]),
  );
  world.destination.network.mineUntilFinal();
  const outputs = world.destination.network.payments().flatMap(({ payment }) => payment.outputs ?? []);
  expect(new Set(outputs).size).toBe(outputs.length);
  for (const request of agreed) await expectFilledOnce(request);
});

/** The same chains in another process, which signs with its own timestamps. */
function anotherDirectory(): NonEvmWorld["services"]["chains"] {
  const { chains } = world.services;
  const nonEvmChains = chains.nonEvmChains.map((chain) => ({
    ...chain,
    connection: { ...chain.connection },
  }));
  return { ...chains, nonEvmChains, nonEvm: (id) => nonEvmChains.find(({ chain }) => chain.id === id) };
}

const NONCE = 1_700_000_000_123n;
const HOUR_MS = 3_600_000;

/** A transfer that cannot carry an id. */
function transfer(agreed: NonEvmRequest, nonce = NONCE): Hex {
  const { user, origin } = agreed.terms;
  const { currency, amount } = origin;
  return world.origin.network.deposit({ from: user, currency, amount, nonce });
}

test("a transfer fills the order that its sender's nonce is mapped to", async () => {
  await start();
  const agreed = await world.storeRequest();
  const { user, orderId } = agreed.terms;
  world.setNonceMapping(user, NONCE, { id: orderId, depositor: user });
  transfer(agreed);
  await expectFilledOnce(agreed);
});

test("a transfer whose mapping is set later is shown as waiting, counts as one deposit, and is then filled", async () => {
  await start();
  const agreed = await world.storeRequest();
  const { user } = agreed.terms;
  const txHash = transfer(agreed);
  world.origin.network.mineUntilFinal();
  await world.watch(world.origin);
  const waiting = (await stranded()).find((row) => "tx_hash" in row && row.tx_hash === txHash);
  expect(waiting).toMatchObject({ disposition: "unattributed", wallet_nonce: NONCE });
  expect((waiting as { mapping_until_ms: number }).mapping_until_ms).toBeGreaterThan(
    world.clock.nowMs() + HOUR_MS - 60_000,
  );
  expect(await runOperatorRefund(world, txHash, "--yes")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("the sender may still authorize the deposit for an order"),
  });
  expect((await world.status(agreed.requestId)).status).toBe("waiting");

  world.setNonceMapping(user, NONCE, { id: agreed.terms.orderId, depositor: user });
  // The report reads the mapping before the watcher does.
  await indexTransaction(world.services, { chainId: world.origin.chain.id, txHash });
  expect(await world.depositsAt(txHash)).toHaveLength(1);
  await world.watch(world.origin);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "pending" });
  expect(await world.depositsAt(txHash)).toHaveLength(1);
  await expectFilledOnce(agreed);
});

test("attributes a transfer with a late mapping even if every read of the chain fails", async () => {
  await start();
  const agreed = await world.storeRequest();
  const { user, orderId } = agreed.terms;
  transfer(agreed);
  world.origin.network.mineUntilFinal();
  await world.watch(world.origin);
  world.setNonceMapping(user, NONCE, { id: orderId, depositor: user });
  const connected = world.services.chains.nonEvm(world.origin.chain.id);
  if (connected === undefined) throw new Error("no connection for the origin chain");
  const fault = new RpcFault({ kind: "http", method: "txDetails", reason: "HTTP status 429: " });
  let readings = 0;
  const arrivals = async () => {
    readings += 1;
    return await Promise.reject(fault);
  };
  const hurried = {
    ...world.services,
    enginePolicy: { ...world.services.enginePolicy, laneIntervalMs: 50 },
  };
  const limited = { ...connected, connection: { ...connected.connection, arrivals } };
  const locks = leaderLocks(world.databaseUrl, { onFault: (error) => expect.unreachable(String(error)) });
  const watcher = watchNonEvm(hurried, limited, locks.lead);
  try {
    await expect
      .poll(async () => (await world.status(agreed.requestId)).status, { timeout: 5_000 })
      .toBe("pending");
    expect(readings).toBeGreaterThan(0);
  } finally {
    await watcher.close();
    await locks.close();
  }
  await expectFilledOnce(agreed);
});

test("raises one alarm while transfers wait to be read, and reports when they are read", async () => {
  await start();
  const connected = world.services.chains.nonEvm(world.origin.chain.id);
  if (connected === undefined) throw new Error("no connection for the origin chain");
  let unreadSince: bigint | undefined = BigInt(Math.floor(world.services.clock.nowMs() / 1_000)) - 600n;
  const arrivals: NonEvmConnection["arrivals"] = async (cursor) => ({
    ...(await connected.connection.arrivals(cursor)),
    ...(unreadSince !== undefined && { unreadSince }),
  });
  const hurried = {
    ...world.services,
    enginePolicy: { ...world.services.enginePolicy, laneIntervalMs: 20 },
  };
  const crowded = { ...connected, connection: { ...connected.connection, arrivals } };
  const locks = leaderLocks(world.databaseUrl, { onFault: (error) => expect.unreachable(String(error)) });
  const watcher = watchNonEvm(hurried, crowded, locks.lead);
  try {
    await expect.poll(() => world.events.of("scan_behind")).toHaveLength(1);
    expect(world.events.of("scan_behind")[0]?.facts).toMatchObject({ chain: connected.chain.name });
    unreadSince = undefined;
    await expect.poll(() => world.events.of("scan_caught_up")).toHaveLength(1);
    expect(world.events.of("scan_behind")).toHaveLength(1);
  } finally {
    await watcher.close();
    await locks.close();
  }
});

test("a transfer without a mapping for an hour is returned to its sender, once, and affects no order", async () => {
  await start();
  const agreed = await world.storeRequest();
  const { user, orderId } = agreed.terms;
  // The only mapping is for another nonce.
  world.setNonceMapping(user, NONCE + 1n, { id: orderId, depositor: user });
  const txHash = transfer(agreed);
  world.origin.network.mineUntilFinal();
  await world.watch(world.origin);
  world.clock.forward(HOUR_MS - 60_000);
  await world.round();
  expect(received(user, world.origin)).toBe(0n);
  world.clock.forward(120_000);
  for (let more = 0; more < 8; more++) {
    await world.round();
    world.clock.forward(6_000);
  }
  expect(received(user, world.origin)).toBe(99_990n);
  const back = () => world.origin.network.payments().filter(({ payment }) => payment.to === user);
  expect(back()).toMatchObject([{ payment: { amount: 99_990n } }]);
  expect(back()[0]?.payment.id).toBeUndefined();
  expect(await world.depositsAt(txHash)).toMatchObject([{ disposition: "refund", refundState: "final" }]);
  // A mapping after the return has no effect.
  world.setNonceMapping(user, NONCE, { id: orderId, depositor: user });
  for (let more = 0; more < 4; more++) await world.round();
  expect(back()).toHaveLength(1);
  expect((await world.status(agreed.requestId)).status).toBe("waiting");
});

test("does not return a stranger's dust, even if the payment costs nothing", async () => {
  await start({ opening: 800_008n });
  const { network, chain } = world.origin;
  const usual = network.cost;
  network.cost = 0n;
  world.prices.set("native", "0.001");
  const dusts = [9n, 10n].map((amount) => {
    const from = anAccount();
    return { from, txHash: network.deposit({ from, currency: network.native, amount, nonce: NONCE }) };
  });
  network.mineUntilFinal();
  await world.watch(world.origin);
  world.clock.forward(HOUR_MS + 60_000);
  for (let more = 0; more < 4; more++) await world.round();
  expect(dusts.map(({ from }) => received(from, world.origin))).toEqual([0n, 10n]);
  expect(await world.depositsAt(dusts[0]!.txHash)).toMatchObject([
    { chainId: chain.id, refundState: "impossible" },
  ]);
  network.cost = usual;
});

test("dust that is never mapped delays no mapped transfer", async () => {
  await start();
  const agreed = await world.storeRequest();
  const { user, origin, orderId } = agreed.terms;
  for (let n = 0n; n < 210n; n++)
    world.origin.network.deposit({ from: anAccount(), currency: origin.currency, amount: 1n, nonce: n });
  transfer(agreed);
  world.origin.network.mineUntilFinal();
  await world.watch(world.origin);
  world.setNonceMapping(user, NONCE, { id: orderId, depositor: user });
  await world.services.uow.run((tx) =>
    tx.nonceMappings.store(
      {
        chainId: world.origin.chain.id,
        wallet: user,
        nonce: NONCE,
        id: orderId,
        depositor: user,
        signature: "0x",
        signatureChainId: 1,
        requestId: agreed.requestId,
      },
      world.clock.nowMs(),
    ),
  );
  await world.watch(world.origin);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "pending" });
  await expectFilledOnce(agreed);
});

test("ignores a mapping that was set too late, even if it exists when the transfer is first read", async () => {
  await start();
  const agreed = await world.storeRequest();
  const { user, orderId } = agreed.terms;
  transfer(agreed);
  world.origin.network.mineUntilFinal();
  world.clock.forward(HOUR_MS + 60_000);
  world.setNonceMapping(user, NONCE, { id: orderId, depositor: user });
  for (let more = 0; more < 8; more++) {
    await world.round();
    world.clock.forward(6_000);
  }
  expect(received(user, world.origin)).toBe(99_990n);
  expect((await world.status(agreed.requestId)).inTxHashes).toEqual([]);
});

test("one process at a time watches a non-EVM chain, and another takes over if that process crashes", async () => {
  await start();
  const hurried = {
    ...world.services,
    enginePolicy: { ...world.services.enginePolicy, laneIntervalMs: 50 },
  };
  const watch = () => {
    const locks = leaderLocks(world.databaseUrl, { onFault: (error) => expect.unreachable(String(error)) });
    const watchers = world.services.chains.nonEvmChains.map((chain) =>
      watchNonEvm(hurried, chain, locks.lead),
    );
    return async () => {
      await Promise.all(watchers.map(async (watcher) => await watcher.close()));
      await locks.close();
    };
  };
  const leads = () => world.events.of("chain_leads").length;
  const until = async (isSo: () => Promise<boolean> | boolean): Promise<void> => {
    while (!(await isSo())) {
      for (const { network } of [world.origin, world.destination]) network.mine();
      await world.work();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const before = leads();
  const first = watch();
  await until(() => leads() === before + 2);
  const second = watch();
  try {
    for (const end of [first, undefined]) {
      const agreed = await world.storeRequest();
      world.pay(agreed);
      await until(async () => (await world.status(agreed.requestId)).final);
      expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
      await end?.();
    }
    expect(leads()).toBe(before + 4);
  } finally {
    await second();
  }
});

test("jobs of non-EVM requests that the queue lost are queued again", async () => {
  await start();
  const agreed = await world.storeRequest();
  world.pay(agreed);
  world.origin.network.mineUntilFinal();
  await world.watch(world.origin);
  await world.pool.query("update outbox set published_at_ms = 1");
  world.clock.forward(world.services.enginePolicy.overdueAfterMs + 1);
  await reconcileRequests(world.services);
  await world.work();
  await expectFilledOnce(agreed);
});

test("does not pay a deposit of an archived request again when it is reported or read again", async () => {
  await start();
  const folder = await mkdtemp(join(tmpdir(), "archive-"));
  try {
    const agreed = await world.storeRequest();
    const txHash = world.pay(agreed);
    world.origin.network.mineUntilFinal();
    expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
    const status = await world.status(agreed.requestId);
    const nowMs = world.clock.nowMs() + 100 * 24 * 3_600_000;
    const client = await world.pool.connect();
    const services = {
      store: archiveStore(client),
      otherConnections: [],
      files: archiveFiles(folder),
      nowMs: () => nowMs,
    };
    const archived = await allOf(archiveMonths(services, youngestArchivable(nowMs)));
    client.release();
    expect(archived).not.toEqual([]);
    const left = await world.pool.query("select from request_history where request_id = $1", [
      agreed.requestId,
    ]);
    expect(left.rowCount).toBe(0);

    await indexTransaction(world.services, { chainId: world.origin.chain.id, txHash });
    await world.pool.query("delete from rail_cursors where chain_id = $1", [world.origin.chain.id]);
    for (let more = 0; more < 8; more++) await world.round();
    expect(await world.depositsAt(txHash)).toHaveLength(1);
    expect(world.paymentsOf(agreed, world.destination)).toHaveLength(1);
    expect(world.paymentsOf(agreed, world.origin)).toEqual([]);
    expect(await world.status(agreed.requestId)).toEqual(status);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
