import { pay } from "../../../apps/api/src/payments/pay-leg.ts";
import { executionLeg } from "../../../apps/api/src/payments/legs/execution-leg.ts";
import { ServiceError } from "@causeway/domain";
import type { RequestId } from "@causeway/domain";
import { randomBytes } from "node:crypto";
import { encodeFunctionData, parseAbi } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { idempotencyStore } from "../../../apps/api/src/http/idempotency-store.postgres.ts";
import { createPool, sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { postgresUnitOfWork } from "../../../apps/api/src/process/unit-of-work.postgres.ts";
import { usedContracts } from "../../../apps/api/src/payments/used-contracts.postgres.ts";
import { checkUsedContracts } from "../../../apps/api/src/payments/check-used-contracts.ts";
import { LeaseLost } from "../../../apps/api/src/http/idempotency.port.ts";
import { aPayingKey } from "../../support/paying-key.ts";
import {
  approveCall,
  startExecutionWorld,
  transferFromCall,
  type RequestedExecution,
  type ExecutionWorld,
} from "../../support/execution-world.ts";

let world: ExecutionWorld;
let secondPool: ReturnType<typeof createPool>;

beforeEach(async () => {
  world = await startExecutionWorld({ chain: { finalityBlocks: 2 } });
  secondPool = createPool(world.databaseUrl, {
    max: 8,
    statementTimeoutMs: 10_000,
    applicationName: "other",
  });
});
afterEach(async () => {
  expect(await world.violatedInvariants()).toEqual([]);
  await secondPool.end();
  await world.stop();
});

/**
 * A call and its maximum cost in base units of USDC. The cost is the same each time until a block is mined.
 */
async function pricedCall(): Promise<{ call: RequestedExecution; price: bigint }> {
  const probe = await world.anApp();
  const call = world.mintCall(world.anAddress());
  await world.execute(call, probe);
  return { call, price: (await world.book(probe)).pending };
}

/** The outcomes of concurrent calls. Half of the calls go to another process. */
async function concurrently(
  count: number,
  execute: (services: ExecutionWorld["services"], index: number) => Promise<RequestId>,
) {
  const other = { ...world.services, uow: postgresUnitOfWork(secondPool, world.events) };
  return await Promise.allSettled(
    Array.from(
      { length: count },
      async (_, index) => await execute(index % 2 === 0 ? world.services : other, index),
    ),
  );
}

test("accepts exactly forty of a hundred concurrent calls on two processes with a balance for forty, and refuses the rest with the available amount", async () => {
  const { call, price } = await pricedCall();
  const app = await world.anApp({}, 40n * price + price / 2n);
  const answers = await concurrently(100, async (services) => await world.execute(call, app, services));
  const refused = answers.flatMap((answer) =>
    answer.status === "rejected" ? [answer.reason as unknown] : [],
  );
  expect(answers.length - refused.length).toBe(40);
  for (const error of refused) {
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ code: "INSUFFICIENT_FUNDS" });
    expect((error as Error).message).toMatch(
      /has \$\d+\.\d{6} available, but this execution may cost \$\d+\.\d{6}/,
    );
  }
  const { balance, pending } = await world.book(app);
  expect({ balance, pending }).toEqual({ balance: price / 2n, pending: 40n * price });
  for (let round = 0; round < 6; round++) {
    world.clock.forward(5_000);
    await world.round();
  }
  const sent = (await world.origin.sentBy(world.executor)).filter(({ succeeded }) => succeeded);
  // One more than the forty, because of the first call that measured the cost.
  expect(sent).toHaveLength(41);
  expect((await world.book(app)).pending).toBe(0n);
});

test("enforces a daily budget across concurrent calls and releases what they do not spend", async () => {
  const { call, price } = await pricedCall();
  const maxUsd = (10n * price + price / 2n) * 10n ** 12n;
  const app = await world.anApp({}, 1_000_000_000n, { dailyUsd: maxUsd });
  const answers = await concurrently(30, async (services) => await world.execute(call, app, services));
  const refused = answers.flatMap((answer) => (answer.status === "rejected" ? [String(answer.reason)] : []));
  expect(answers.length - refused.length).toBe(10);
  for (const reason of refused) expect(reason).toMatch(/Not sponsored \(dailyUsd\)/);
  for (let round = 0; round < 6; round++) {
    world.clock.forward(5_000);
    await world.round();
  }
  // The calls cost less than was reserved.
  await world.execute(call, app);
  world.clock.forward(86_400_000);
  const tomorrow = await concurrently(5, async (services) => await world.execute(call, app, services));
  expect(tomorrow.every(({ status }) => status === "fulfilled")).toBe(true);
});

test("budgets of users and of targets are counted separately", async () => {
  const { call, price } = await pricedCall();
  const maxUsd = (price + price / 2n) * 10n ** 12n;
  const app = await world.anApp({}, 1_000_000_000n, { perTargetDailyUsd: maxUsd });
  await world.execute(call, app);
  await expect(world.execute(call, app)).rejects.toThrow(/perTargetDailyUsd/);
  await world.execute({ to: world.anAddress(), data: "0x" }, app);
  const personal = await world.anApp({}, 1_000_000_000n, { perUserDailyUsd: maxUsd });
  await world.execute(call, personal);
  await expect(world.execute(call, personal)).rejects.toThrow(/perUserDailyUsd/);
  await world.execute({ to: world.anAddress(), data: "0x" }, personal);
});

test("rules about targets and functions also apply deep inside a call", async () => {
  const target = world.mintCall(world.anAddress());
  const refusing = await world.anApp({}, 1_000_000_000n, { denySelectors: [{ selector: "0x40c10f19" }] });
  await expect(world.execute(target, refusing)).rejects.toThrow(/Not sponsored \(denySelectors\)/);
  const allowing = await world.anApp({}, 1_000_000_000n, { allowTargets: [world.usdc] });
  await world.execute(target, allowing);
  await expect(world.execute({ to: world.anAddress() }, allowing)).rejects.toThrow(/allowTargets/);
  // Multicall3 would call the token too.
  const aggregate = {
    to: world.origin.chain.contracts.multicall3,
    data: encodeFunctionData({
      abi: parseAbi([
        "function aggregate3((address target, bool allowFailure, bytes callData)[] calls) payable",
      ]),
      args: [[{ target: target.to, allowFailure: false, callData: target.data }]],
    }),
  };
  await world.execute(aggregate);
  await expect(world.execute(aggregate, refusing)).rejects.toThrow(/Not sponsored \(denySelectors\)/);
});

test("a key without a wallet, or with an insufficient balance, sponsors nothing", async () => {
  const walletless = await world.anApp({ fundingAddress: undefined }, 0n);
  await expect(world.execute(world.mintCall(world.anAddress()), walletless)).rejects.toThrow(
    /require an API key with a funding address/,
  );
  const poor = await world.anApp({}, 1n);
  await expect(world.execute(world.mintCall(world.anAddress()), poor)).rejects.toThrow(
    /The app balance of 0x[0-9a-f]{40} has \$0\.000001/,
  );
  expect((await world.pool.query("select from requests")).rowCount).toBe(0);
});

test("refuses a call that neither a sponsor nor a quote pays for, or that is not on an EVM chain", async () => {
  const call = { ...world.mintCall(world.anAddress()), subsidizeFees: false };
  await expect(world.execute(call)).rejects.toThrow(/subsidizeFees must be true without requestId/);
  const { requestId } = await world.quote();
  await expect(world.execute({ ...call, requestId })).rejects.toThrow(
    /for a quote without originGasOverhead/,
  );
  await expect(world.execute({ ...call, chainId: 5 })).rejects.toThrow(
    /data.chainId must be a supported EVM chain, got 5/,
  );
});

test("refuses a call that would take native tokens of the executor, or tokens of the solver", async () => {
  const { origin, usdc, solver, executor } = world;
  await origin.send(solver, approveCall(usdc, executor, 10n));
  await origin.mine();
  await expect(world.execute(transferFromCall(usdc, solver.address, world.anAddress(), 5n))).rejects.toThrow(
    /would take tokens from/,
  );
});

test("the commit that accepts a call stores the answer to its Idempotency-Key, and nothing is committed after a lost lease", async () => {
  const store = idempotencyStore(sqlOn(world.pool));
  const keyedCall = {
    scope: "app",
    endpoint: "POST /execute",
    key: randomBytes(8).toString("hex"),
    bodyHash: "h",
  };
  const begun = await store.begin(keyedCall, world.clock.nowMs());
  if (begun.kind !== "started") throw new Error(`expected a new call, got ${begun.kind}`);
  const call = world.mintCall(world.anAddress());
  const requestId = await world.execute(call, world.app, world.services, begun.lease);
  const again = await store.begin(keyedCall, world.clock.nowMs());
  expect(again).toEqual({
    kind: "answered",
    answer: { status: 200, body: JSON.stringify({ message: "Transaction submitted", requestId }) },
  });
  const late = world.execute(call, world.app, world.services, begun.lease);
  await expect(late).rejects.toBeInstanceOf(LeaseLost);
  expect((await world.pool.query("select from executions")).rowCount).toBe(1);
  expect((await world.pool.query("select from fee_reservations")).rowCount).toBe(1);
});

test("nothing is executed without a configured executor", async () => {
  const withoutExecutor = { ...world.services, executor: undefined };
  await expect(world.execute(world.mintCall(world.anAddress()), world.app, withoutExecutor)).rejects.toThrow(
    "Gasless execution is not enabled on this service",
  );
});

test("a quote is executed only by the key that requested it, or by another key of its funding address", async () => {
  const quotingKey = await aPayingKey(world, 0);
  const agreed = await world.quote({}, quotingKey.key.id);
  const { requestId } = agreed;
  const call = { ...world.mintCall(world.anAddress()), requestId };
  await expect(world.execute(call)).rejects.toThrow(
    `Request ${requestId} was quoted with another API key; use that key`,
  );
  // The funding address is the same, so the rules of the other key are checked next.
  const sibling = { ...world.app, fundingAddress: quotingKey.wallet };
  for (const key of [{ ...world.app, id: quotingKey.key.id }, sibling])
    await expect(world.execute(call, key)).rejects.toThrow(/does not make the deposit of the quote/);
  // Failed attempts of strangers do not affect the owner's deposit.
  expect((await world.status(requestId)).nextAction).toBe("send_deposit");
  await world.pay(agreed);
  expect((await world.untilFinal(requestId)).status).toBe("success");
});

test("a call whose authorization every node rejects is charged for the nonce that it used up", async () => {
  const { origin, services, usdc } = world;
  const account = privateKeyToAccount(generatePrivateKey());
  const signed = await account.signAuthorization({ chainId: origin.chain.id, address: usdc, nonce: 0 });
  const { r, s, yParity } = signed;
  const authorizationList = [
    { chainId: origin.chain.id, address: usdc, nonce: 0, yParity: yParity === 1 ? 1 : 0, r, s } as const,
  ];
  const balanceBefore = (await world.book()).balance;
  const requestId = await world.execute({ ...world.mintCall(world.anAddress()), authorizationList });
  const refusingChain = { ...origin.connected, connection: { ...origin.connected.connection } };
  refusingChain.connection.writer = {
    broadcast: async () =>
      await Promise.resolve({ kind: "rejected", reason: "authority already reserved" } as const),
  };
  const workerServices = { ...services, chains: { ...services.chains, get: () => refusingChain } };
  await pay(workerServices, executionLeg, requestId);
  for (let round = 0; round < 6; round++) {
    world.clock.forward(20_000);
    await world.round();
  }
  const slot = (await world.pool.query<{ dead_reason: string }>("select dead_reason from slots")).rows;
  expect(slot).toEqual([{ dead_reason: "TRANSACTION_SUBMISSION_FAILED" }]);
  const { costUsd } = await world.execution(requestId);
  expect(costUsd).toBeGreaterThan(0n);
  const { balance, pending } = await world.book();
  expect(pending).toBe(0n);
  expect(balance).toBeLessThan(balanceBefore);
});

test("refuses to start if a formerly used contract is not listed, and raises an alarm for open requests that name such a contract", async () => {
  const { origin, services, events, clock } = world;
  const store = usedContracts(sqlOn(world.pool));
  const start = async (change: object): Promise<void> =>
    await checkUsedContracts(services, store, [
      { ...origin.chain, contracts: { ...origin.chain.contracts, ...change } },
    ]);
  await start({});
  await start({});
  await world.quote();
  clock.forward(1_000);
  const depository = world.anAddress();
  await expect(start({ depository })).rejects.toThrow(
    `contracts.formerContracts must contain the former depository ${origin.chain.contracts.depository}`,
  );
  await expect(start({ depositAddressFactory: undefined })).rejects.toThrow(
    /must contain the former depositAddressFactory/,
  );
  expect(events.of("former_depository_quoted")).toEqual([]);
  const named = { depository, formerContracts: [origin.chain.contracts.depository] };
  await start(named);
  expect(events.of("former_depository_quoted").map(({ facts }) => facts)).toMatchObject([{ openQuotes: 1 }]);
  const watched = { ...named, formerDepositories: named.formerContracts };
  await start(watched);
  expect(events.of("former_depository_quoted"), "its deposits are read").toHaveLength(1);
  const { router } = origin.chain.contracts;
  expect(events.of("former_router_ordered")).toEqual([]);
  const nextRouter = world.anAddress();
  await start({ ...named, router: nextRouter, formerContracts: [...named.formerContracts, router] });
  expect(events.of("former_router_ordered").map(({ facts }) => facts)).toMatchObject([{ openQuotes: 1 }]);
  clock.forward(8 * 24 * 3_600_000);
  const before = events.of("former_depository_quoted").length;
  await start({ ...named, formerContracts: [...named.formerContracts, nextRouter] });
  expect(events.of("former_depository_quoted")).toHaveLength(before);
  expect(events.of("former_router_ordered")).toHaveLength(1);
});
