import { refundLeg } from "../../../apps/api/src/payments/legs/refund-leg.ts";
import { pay } from "../../../apps/api/src/payments/pay-leg.ts";
import { NATIVE_CURRENCY } from "@causeway/domain";
import { depositErc20Calldata } from "@causeway/domain";
import type { Address, Hex, TxHash } from "@causeway/domain";
import { RpcFault } from "@causeway/chains";
import { testTokenAbi } from "@causeway/contracts";
import { encodeFunctionData, parseEther } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createChainDirectory } from "../../../apps/api/src/chains/directory.adapter.ts";
import { strandedFunds } from "../../../apps/api/src/payments/operator-reads.postgres.ts";
import { postgresRequestHistory } from "../../../apps/api/src/requests/history/request-history.postgres.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { listRequests } from "../../../apps/api/src/requests/history/list-requests.ts";
import { createSearchLimiter } from "../../../apps/api/src/requests/history/search-limiter.ts";
import { indexTransaction } from "../../../apps/api/src/deposits/index-transaction.ts";
import { openLane } from "../../../apps/api/src/payments/open-lane.ts";
import { returnUnattributed } from "../../../apps/api/src/deposits/return-unattributed.ts";
import { isCrash, crashingServices } from "../../fakes/crashing-services.ts";
import { batchCode } from "../../support/batch-code.ts";
import { deposit, type Deviation } from "../../support/deposits.ts";
import { startEngineWorld, type QuotedRequest, type EngineWorld } from "../../support/engine-world.ts";
import { loseRows } from "../../support/lost-rows.ts";
import { runOperatorRefund } from "../../support/operator-refund.ts";
import { aServer } from "../../support/route-server.ts";
import { someHash } from "../../support/terms.ts";

const HOUR_MS = 3_600_000;
const AMOUNT = 100_000_000n;
const FINALITY_BLOCKS = 3;
let world: EngineWorld;
let agreed: QuotedRequest;

beforeAll(async () => {
  world = await startEngineWorld({
    chain: { finalityBlocks: FINALITY_BLOCKS },
    policy: { unattributedRefundAfterMs: HOUR_MS },
  });
  agreed = await world.quote();
});
afterAll(async () => await world.stop());
beforeEach(async () => {
  await world.pool.query("update deposits set unrepaid_at_ms = 0 where unrepaid_at_ms is not null");
});

interface ListAnswer {
  readonly requests: readonly unknown[];
  readonly unattributedDeposits?: readonly unknown[];
}

interface Row {
  readonly id: number;
  readonly disposition: string;
  readonly reason: string | null;
  readonly refund_state: string;
  readonly refund_fail_reason: string | null;
  readonly refund_waits: string | null;
  readonly unrepaid_usd: bigint | null;
}

async function rowOf(txHash: TxHash): Promise<Row> {
  const { rows } = await world.pool.query<Row>("select * from deposits where tx_hash = $1", [txHash]);
  const [row, ...moreRows] = rows;
  if (row === undefined || moreRows.length > 0) throw new Error(`${rows.length} deposits of ${txHash}`);
  return row;
}

/** Makes a deposit for an unknown order, in a scanned block. */
async function makeStrayDeposit(deviation: Deviation = {}): Promise<TxHash> {
  const hash = await deposit(world.origin, world.user, agreed, { id: someHash(), ...deviation });
  await world.origin.mine();
  await world.watch(world.origin);
  return hash;
}

const returnUnattributedNow = async (workerServices: WorkerServices = world.services): Promise<void> => {
  const tip = await workerServices.reads.cursor(world.origin.chain.id);
  await returnUnattributed(workerServices, world.origin.connected, tip?.number ?? 0n);
};

/**
 * Runs the worker's checks and payments an hour later. With more blocks per round, fewer rounds are needed.
 */
async function runAnHourLater(
  workerServices: WorkerServices = world.services,
  blocks = 1,
  rounds = 5,
): Promise<void> {
  world.clock.forward(HOUR_MS);
  for (let round = 0; round < rounds; round++) {
    await world.round(workerServices, blocks);
    await returnUnattributedNow(workerServices);
    await world.work(workerServices);
  }
}

async function expectSentBack(
  hash: TxHash,
  holder: Address,
  currency: Address,
  before: bigint,
): Promise<bigint> {
  const gained = (await world.origin.balance(holder, currency)) - before;
  const payments = (await world.origin.sentBy(world.solver.address)).filter(
    ({ input, succeeded }) => succeeded && input.endsWith(hash.slice(2)),
  );
  expect(payments).toHaveLength(1);
  return gained;
}

for (const [description, id] of [
  ["of an unknown order", someHash()],
  ["of no order", `0x${"00".repeat(32)}`],
] as const)
  test(`a deposit ${description} is returned to its depositor after an hour, once, minus the gas`, async () => {
    const depositor = world.anAddress();
    const hash = await makeStrayDeposit({ id, depositor });
    world.clock.forward(HOUR_MS - 60_000);
    for (let round = 0; round < 5; round++) await world.round();
    await returnUnattributedNow();
    await world.work();
    expect(await rowOf(hash)).toMatchObject({ disposition: "unattributed", refund_state: "none" });

    await runAnHourLater();
    const gained = await expectSentBack(hash, depositor, world.usdc, 0n);
    expect(gained).toBeGreaterThan((AMOUNT * 9n) / 10n);
    expect(gained).toBeLessThan(AMOUNT);
    expect(await rowOf(hash)).toMatchObject({
      disposition: "refund",
      reason: "ORPHANED_DEPOSIT_REFUND",
      refund_state: "final",
    });
    expect((await rowOf(hash)).unrepaid_usd).toBe(gained * 10n ** 12n);
    await runAnHourLater();
    expect(await expectSentBack(hash, depositor, world.usdc, 0n)).toBe(gained);
  });

test("a deposit of native tokens for an unknown order is returned too", async () => {
  const depositor = world.anAddress();
  const hash = await makeStrayDeposit({ currency: NATIVE_CURRENCY, amount: parseEther("0.05"), depositor });
  await runAnHourLater();
  expect(await expectSentBack(hash, depositor, NATIVE_CURRENCY, 0n)).toBeGreaterThan(parseEther("0.04"));
});

test("a deposit for an unknown order that is not final waits, however much time has passed", async () => {
  const hash = await makeStrayDeposit({ depositor: world.anAddress() });
  world.clock.forward(2 * HOUR_MS);
  await returnUnattributedNow();
  expect((await rowOf(hash)).disposition).toBe("unattributed");
  for (let block = 0; block < 2; block++) await world.round();
  await returnUnattributedNow();
  expect((await rowOf(hash)).disposition).toBe("refund");
  await runAnHourLater();
});

test("a deposit that a reorg drops before its refund is signed is not refunded", async () => {
  const depositor = world.anAddress();
  const hash = await makeStrayDeposit({ depositor });
  world.clock.forward(HOUR_MS);
  for (let block = 0; block < 3; block++) await world.round();
  await returnUnattributedNow();
  expect((await rowOf(hash)).disposition).toBe("refund");
  await world.origin.reorg(4);
  await world.watch(world.origin);
  await world.work();
  await runAnHourLater();
  expect(await world.origin.balance(depositor, world.usdc)).toBe(0n);
  expect((await rowOf(hash)).refund_state).toBe("none");
});

test("a return above the daily limit waits until the operator releases it, and reports say so", async () => {
  const depositor = world.anAddress();
  const hash = await makeStrayDeposit({ depositor });
  const withRefundLimit = {
    ...world.services,
    enginePolicy: { ...world.services.enginePolicy, maxUnrepaidRefundsUsd: 50n * 10n ** 18n },
  };
  await runAnHourLater(withRefundLimit);
  const { id } = await rowOf(hash);
  expect(await rowOf(hash)).toMatchObject({
    refund_state: "impossible",
    refund_fail_reason: "MANUAL_REFUND_REQUIRED",
    refund_waits: expect.stringMatching(
      /^the deposit names no order; .* exceeds half of UNREPAID_REFUNDS_DAILY_USD/,
    ),
  });
  expect(await strandedFunds(sqlOn(world.pool))).toContainEqual(expect.objectContaining({ id }));
  expect(await runOperatorRefund(world, String(id), "--yes")).toMatchObject({ code: 0, stderr: "" });
  for (let round = 0; round < 5; round++) await world.round(withRefundLimit);
  expect(await expectSentBack(hash, depositor, world.usdc, 0n)).toBeGreaterThan(0n);
});

test("returns for unknown orders use at most half of the daily limit, so that refunds of requests keep the other half", async () => {
  const depositor = world.anAddress();
  const withRefundLimit = {
    ...world.services,
    enginePolicy: { ...world.services.enginePolicy, maxUnrepaidRefundsUsd: 300n * 10n ** 18n },
  };
  const [first, second] = [await makeStrayDeposit({ depositor }), await makeStrayDeposit({ depositor })];
  await runAnHourLater(withRefundLimit);
  const rows = [await rowOf(first), await rowOf(second)];
  expect(rows.map(({ refund_state }) => refund_state).toSorted()).toEqual(["final", "none"]);
  const waiting = rows[0]?.refund_state === "none" ? first : second;
  expect(await world.origin.balance(depositor, world.usdc)).toBeLessThan(AMOUNT);
  const { message } = await indexTransaction(world.services, {
    chainId: world.origin.chain.id,
    txHash: waiting,
  });
  expect(message).toContain("waits until the daily limit of such refunds has room");
  // A day later the limit is available again.
  world.clock.forward(24 * HOUR_MS);
  await runAnHourLater(withRefundLimit);
  expect((await rowOf(waiting)).refund_state).toBe("final");
});

test("the operator can return a deposit before the hour is over", async () => {
  const depositor = world.anAddress();
  const hash = await makeStrayDeposit({ depositor });
  for (let round = 0; round < 5; round++) await world.round();
  expect(await runOperatorRefund(world, hash, "--yes")).toMatchObject({ code: 0, stderr: "" });
  for (let round = 0; round < 5; round++) await world.round();
  const gained = await expectSentBack(hash, depositor, world.usdc, 0n);
  await runAnHourLater();
  expect(await expectSentBack(hash, depositor, world.usdc, 0n)).toBe(gained);
});

test("nothing is sent to placeholders, or to accounts and contracts of the service", async () => {
  const { depository, router, multicall3 } = world.origin.chain.contracts;
  const depositors: readonly Address[] = [
    "0x000000000000000000000000000000000000dead",
    world.solver.address,
    depository,
    router,
    multicall3,
    world.usdc,
  ];
  const hashes: TxHash[] = [];
  for (const depositor of depositors) hashes.push(await makeStrayDeposit({ depositor }));
  await runAnHourLater();
  for (const [index, hash] of hashes.entries())
    expect(await rowOf(hash), depositors[index]).toMatchObject({
      refund_state: "impossible",
      refund_fail_reason: "MANUAL_REFUND_REQUIRED",
      refund_waits: expect.any(String) as string,
    });
  const [toPlaceholder = "0x"] = hashes;
  expect(await runOperatorRefund(world, toPlaceholder, "--yes")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /no refund recipient is known \(0x0*dead is a placeholder\), so this command cannot pay it: see "Returning a deposit without a recipient" in docs\/operations\/refunds\.md/,
    ) as string,
  });
});

test("dust is marked in one statement, without a payment or an alarm", async () => {
  const hash = await makeStrayDeposit({ amount: 1n });
  const alarms = world.events.of("refund_impossible").length;
  await runAnHourLater();
  expect(await rowOf(hash)).toMatchObject({
    refund_state: "impossible",
    refund_fail_reason: "AMOUNT_TOO_LOW_TO_REFUND",
  });
  expect(world.events.of("refund_impossible")).toHaveLength(alarms);
});

test("two concurrent workers return a deposit once", async () => {
  const depositor = world.anAddress();
  const hash = await makeStrayDeposit({ depositor });
  world.clock.forward(HOUR_MS);
  for (let round = 0; round < 4; round++) await world.round();
  await Promise.all([returnUnattributedNow(), returnUnattributedNow()]);
  await Promise.all([world.work(), world.work()]);
  await runAnHourLater();
  await expectSentBack(hash, depositor, world.usdc, 0n);
});

test("after a crash of the worker at any step, another worker returns the deposit once", async () => {
  const crashes = new Set<string>();
  for (let crashAt = 0; ; crashAt++) {
    const depositor = world.anAddress();
    const hash = await makeStrayDeposit({ depositor });
    world.clock.forward(HOUR_MS);
    await world.round(world.services, FINALITY_BLOCKS);
    const crashing = crashingServices(world.services, crashAt);
    try {
      await returnUnattributedNow(crashing);
      await world.work(crashing);
    } catch (error) {
      if (!crashing.hasCrashed() || !isCrash(error)) throw error;
    }
    await runAnHourLater(world.services, FINALITY_BLOCKS + 1, 3);
    const moment = crashing.moments.at(-1) ?? "before anything";
    expect(await expectSentBack(hash, depositor, world.usdc, 0n), moment).toBeGreaterThan(0n);
    if (!crashing.hasCrashed()) break;
    crashes.add(moment);
  }
  expect(crashes.size).toBeGreaterThan(3);
}, 240_000);

test("a deposit that a reorg drops after its refund is reported as exposed, and under another hash it is not refunded again", async () => {
  const { origin } = world;
  const fields = { depositor: world.anAddress(), id: someHash() };
  const first = await makeStrayDeposit(fields);
  await origin.mine(3);
  await world.watch(origin);
  world.clock.forward(HOUR_MS);
  await returnUnattributedNow();
  await world.work();
  const { id, refund_state: state } = await rowOf(first);
  expect(state).toBe("sent");
  await origin.reorg(4);
  await world.watch(origin);
  expect(world.events.of("deposit_exposed").at(-1)?.facts).toMatchObject({ depositId: String(id) });

  await origin.send(world.user, { to: world.anAddress(), value: 1n });
  const second = await makeStrayDeposit(fields);
  expect(second).not.toBe(first);
  await runAnHourLater();
  expect(await rowOf(second)).toMatchObject({
    disposition: "refund",
    refund_state: "none",
    refund_waits: expect.stringContaining("may replace an orphaned one that was already refunded"),
  });
});

test("a deposit whose refund waits is returned only after the operator releases it", async () => {
  const depositor = world.anAddress();
  const hash = await makeStrayDeposit({ depositor });
  await world.pool.query(
    "update deposits set refund_waits = 'the operator may have returned it by hand' where tx_hash = $1",
    [hash],
  );

  await runAnHourLater();
  expect(await rowOf(hash)).toMatchObject({
    disposition: "unattributed",
    refund_waits: expect.stringContaining("may have returned it by hand"),
  });
  expect(await world.origin.balance(depositor, world.usdc)).toBe(0n);
  expect(await runOperatorRefund(world, hash, "--yes")).toMatchObject({ code: 0 });
  await runAnHourLater();
  expect(await world.origin.balance(depositor, world.usdc)).toBeGreaterThan(0n);
});

test("a refund that was planned without a request is not made once the deposit belongs to a request", async () => {
  const hash = await makeStrayDeposit({ depositor: world.anAddress() });
  const id = String((await rowOf(hash)).id);
  await world.origin.mine(3);
  await world.watch(world.origin);
  world.clock.forward(HOUR_MS);
  await returnUnattributedNow();
  const { reads } = world.services;
  // The request becomes known between the job's first read and its commit.
  const readThenAssign = async (depositId: string) => {
    const before = await reads.deposit(depositId);
    await world.pool.query("update deposits set request_id = $2 where id = $1", [
      depositId,
      agreed.requestId,
    ]);
    return before;
  };
  await pay({ ...world.services, reads: { ...reads, deposit: readThenAssign } }, refundLeg, id);
  expect(await rowOf(hash)).toMatchObject({ disposition: "refund", refund_state: "none" });
  await world.pool.query("delete from deposits where id = $1", [id]);
});

test("a deposit that another account's transaction triggered at a contract is returned only by the operator's release", async () => {
  const { origin, usdc } = world;
  const contract = world.anAddress();
  const { depository } = origin.chain.contracts;
  const call = (name: "approve" | "mint", account: Address) => ({
    to: usdc,
    data: encodeFunctionData({ abi: testTokenAbi, functionName: name, args: [account, AMOUNT] }),
  });
  await origin.send(world.stranger, call("mint", contract));
  const data: Hex = depositErc20Calldata(contract, usdc, AMOUNT, someHash());
  const bytecode = batchCode([call("approve", depository), { to: depository, data }]);
  await origin.client.setCode({ address: contract, bytecode });
  const hash = await origin.send(world.user, { to: contract });
  await origin.mine();
  await world.watch(origin);
  await runAnHourLater();
  expect(await origin.balance(contract, usdc)).toBe(0n);
  expect(await rowOf(hash)).toMatchObject({ refund_waits: expect.stringContaining("then release it") });
  await runOperatorRefund(world, hash, "--yes");
  await runAnHourLater();
  expect(await origin.balance(contract, usdc)).toBeGreaterThan(0n);
});

test("a report of the transaction says that its deposit matches no request, and when it is returned", async () => {
  const depositor = world.anAddress();
  const hash = await makeStrayDeposit({ depositor });
  const chainId = world.origin.chain.id;
  const answer = async () => (await indexTransaction(world.services, { chainId, txHash: hash })).message;
  const prefix = "Transaction indexed, but one of its deposits does not match any known request: ";
  const until = new Date(world.clock.nowMs() + HOUR_MS).toISOString().slice(0, 16);
  const message = await answer();
  expect(message).toContain(`${prefix}it is refunded to ${depositor}, minus gas, after ${until}`);
  await world.origin.mine(3);
  await world.watch(world.origin);
  world.clock.forward(HOUR_MS);
  await returnUnattributedNow();
  expect(await answer()).toBe(`${prefix}its refund to ${depositor}, minus gas, is in progress`);
  await runAnHourLater();
  expect(await answer()).toBe(`${prefix}it was refunded to ${depositor}`);
});

test("request lists filtered by the deposit's transaction show it in each state, and other lists do not", async () => {
  const { pool, services, origin } = world;
  const sql = sqlOn(pool);
  const historyServices = {
    ...services,
    history: postgresRequestHistory(sql),
    searchLimiter: createSearchLimiter(),
  };
  const { app } = await aServer({
    listRequests: (...args) => listRequests(historyServices, ...args),
  });
  const list = async (query: string) => (await app.inject(`/requests/v2?${query}`)).json<ListAnswer>();
  const depositor = world.anAddress();
  const hash = await makeStrayDeposit({ depositor });
  const expectedDeposit = {
    chainId: origin.chain.id,
    txHash: hash,
    depositor,
    currency: world.usdc,
    amount: String(AMOUNT),
  };
  const prefix = "The deposit does not match any known request: ";
  for (const name of ["hash", "depositTxHash", "term"]) {
    const { requests, unattributedDeposits } = await list(`${name}=${hash}`);
    expect(requests).toEqual([]);
    expect(unattributedDeposits).toEqual([
      {
        ...expectedDeposit,
        state: "waiting",
        message: expect.stringContaining(`${prefix}it is refunded to ${depositor}`),
      },
    ]);
  }
  for (const query of [`fillTxHash=${hash}`, `hash=${someHash()}`, `user=${depositor}`])
    expect(await list(query)).not.toHaveProperty("unattributedDeposits");
  await runAnHourLater();
  for (let block = 0; block < 3; block++) await world.round();
  expect((await list(`hash=${hash}`)).unattributedDeposits).toEqual([
    { ...expectedDeposit, state: "refunded", message: `${prefix}it was refunded to ${depositor}` },
  ]);
  const dust = await makeStrayDeposit({ amount: 1n });
  await runAnHourLater();
  expect((await list(`hash=${dust}`)).unattributedDeposits).toEqual([
    expect.objectContaining({ state: "held", message: expect.stringContaining("worth less than the gas") }),
  ]);
  const paidQuote = await world.quote();
  const paidTx = await world.pay(paidQuote);
  await origin.mine();
  await world.watch(origin);
  const listed = await list(`hash=${paidTx}`);
  expect(listed.requests).toHaveLength(1);
  expect(listed).not.toHaveProperty("unattributedDeposits");
  await app.close();
});

/**
 * Simulates a failover to a copy without the request: only its deposit remains, and it names an unknown
 * order.
 */
async function loseRequest({ requestId }: QuotedRequest): Promise<void> {
  const { pool } = world;
  await pool.query("delete from request_events where request_id = $1", [requestId]);
  await pool.query("delete from request_history where request_id = $1", [requestId]);
  await pool.query(
    `update deposits set request_id = null, disposition = 'unattributed', refund_state = 'none', seen_at_ms = $2
     where request_id = $1`,
    [requestId, world.clock.nowMs()],
  );
  await pool.query("delete from requests where request_id = $1", [requestId]);
}

test("a deposit whose request a failover lost together with its fill is returned only by the operator's release", async () => {
  const { origin, destination, user, usdc, services } = world;
  const filled = await world.quote({ recipient: world.anAddress() });
  const hash = await world.pay(filled);
  for (let round = 0; round < 5; round++) await world.round();
  expect(await destination.balance(filled.terms.recipient, usdc)).toBeGreaterThan(0n);
  const slot = await services.reads.slotOfLeg("fill", filled.requestId);
  if (slot === undefined) throw new Error("the fill has no slot");
  await loseRows(world.pool, slot);
  await loseRequest(filled);
  await openLane(services, destination.connected);
  const before = await origin.balance(user.address, usdc);

  await runAnHourLater();
  expect(await origin.balance(user.address, usdc)).toBe(before);
  expect(await rowOf(hash)).toMatchObject({
    refund_fail_reason: "MANUAL_REFUND_REQUIRED",
    refund_waits: expect.stringContaining(slot.attempts[0]?.txHash ?? "a hash"),
  });
  expect(await runOperatorRefund(world, hash, "--yes")).toMatchObject({ code: 0 });
  await runAnHourLater();
  expect(await origin.balance(user.address, usdc)).toBeGreaterThan(before);
});

test("a deposit of an unknown order is not returned while an EVM chain cannot show whether the order was paid", async () => {
  const { origin, destination, services, usdc } = world;
  const depositor = world.anAddress();
  const hash = await makeStrayDeposit({ depositor });
  const silent = {
    ...destination.connected,
    connection: {
      ...destination.connected.connection,
      reader: {
        ...destination.connected.connection.reader,
        nonce: () =>
          Promise.reject(
            new RpcFault({
              kind: "network",
              method: "eth_getTransactionCount",
              reason: "connection refused",
            }),
          ),
      },
    },
  };
  const chains = createChainDirectory([origin.connected, silent]);
  world.clock.forward(HOUR_MS);
  for (let round = 0; round < 4; round++) await world.round();
  await returnUnattributedNow();
  const { id } = await rowOf(hash);
  expect(await pay({ ...services, chains }, refundLeg, String(id))).toMatchObject({
    waitMs: expect.any(Number) as number,
    why: expect.stringContaining("the node does not respond") as string,
  });
  expect(await origin.balance(depositor, usdc)).toBe(0n);
  await runAnHourLater();
  expect(await origin.balance(depositor, usdc)).toBeGreaterThan(0n);
});

// This test is the last one, because the world's lane plans no more transactions afterwards.
test("a refund whose rows a failover lost is found on the chain, and not repeated", async () => {
  const depositor = world.anAddress();
  const hash = await makeStrayDeposit({ depositor });
  await runAnHourLater();
  const gained = await expectSentBack(hash, depositor, world.usdc, 0n);
  const { id } = await rowOf(hash);
  const slot = await world.services.reads.slotOfLeg("refund", String(id));
  if (slot === undefined) throw new Error("the refund has no slot");
  const restore = await loseRows(world.pool, slot);
  await world.pool.query(
    "update deposits set refund_state = 'none', disposition = 'unattributed' where id = $1",
    [id],
  );
  await openLane(world.services, world.origin.connected);
  await runAnHourLater();
  expect(await expectSentBack(hash, depositor, world.usdc, 0n)).toBe(gained);
  expect(world.events.of("payment_unrecorded").at(-1)?.facts).toMatchObject({ requestId: hash });
  await restore();
});

test("returns no deposit without the operator if no waiting time is configured", async () => {
  const hash = await makeStrayDeposit();
  const withoutWaitingTime = {
    ...world.services,
    enginePolicy: { ...world.services.enginePolicy, unattributedRefundAfterMs: undefined },
  };
  world.clock.forward(HOUR_MS);
  for (let round = 0; round < 4; round++) await world.round(withoutWaitingTime);
  await returnUnattributedNow(withoutWaitingTime);
  expect((await rowOf(hash)).disposition).toBe("unattributed");
});
