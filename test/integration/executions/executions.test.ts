import { pay } from "../../../apps/api/src/payments/pay-leg.ts";
import { executionLeg } from "../../../apps/api/src/payments/legs/execution-leg.ts";
import { ONE_USD } from "@causeway/domain";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Tx } from "../../../apps/api/src/db/unit-of-work.port.ts";
import { creditTopUp } from "../../../apps/api/src/balances/credit-top-up.ts";
import { executeCalls, type ExecuteServices } from "../../../apps/api/src/executions/execute-calls.ts";
import { acceptExecution } from "../../../apps/api/src/executions/accept-execution.ts";
import { openLane } from "../../../apps/api/src/payments/open-lane.ts";
import { pauseStore } from "../../../apps/api/src/payments/policy/policy.postgres.ts";
import { sqlOn } from "../../../apps/api/src/db/pool.postgres.ts";
import { unreliable } from "../../fakes/adjustable-prices.ts";
import {
  approveCall,
  startExecutionWorld,
  transferFromCall,
  type ExecutionWorld,
} from "../../support/execution-world.ts";
import { aSponsor } from "../../support/sponsors.ts";
import { someHash } from "../../support/terms.ts";

let world: ExecutionWorld;

beforeEach(async () => {
  world = await startExecutionWorld({ chain: { finalityBlocks: 2 } });
});
afterEach(async () => {
  expect(await world.violatedInvariants()).toEqual([]);
  await world.stop();
});

const INITIAL_BALANCE = 1_000_000_000n;

test("sends a sponsored call from the executor and charges the app its actual cost", async () => {
  const { origin, usdc, executor } = world;
  const recipient = world.anAddress();
  const requestId = await world.execute(world.mintCall(recipient, 7n));
  expect((await world.status(requestId)).status).toBe("waiting");
  const reserved = await world.book();
  expect(reserved.balance + reserved.pending).toBe(INITIAL_BALANCE);
  expect(reserved.pending).toBeGreaterThan(0n);

  const before = await origin.balance(executor, "0x0000000000000000000000000000000000000000");
  const end = await world.untilFinal(requestId);
  expect(await origin.balance(recipient, usdc)).toBe(7n);
  const [sent] = await origin.sentBy(executor);
  expect(end).toMatchObject({ status: "success", fundsAt: "user", txHashes: [], inTxHashes: [sent?.hash] });
  expect(await world.statusesOf(requestId)).toEqual(["waiting", "success"]);

  const spentWei = before - (await origin.balance(executor, "0x0000000000000000000000000000000000000000"));
  const { costUsd, settled } = await world.execution(requestId);
  expect(settled).toBe(true);
  expect(costUsd).toBe(spentWei * 2_500n + origin.chain.fees.flatUsd);
  // Both amounts are converted at the rate of the reservation, and each is rounded up.
  const charged = INITIAL_BALANCE - (await world.book()).balance;
  expect(charged * 10n ** 12n - costUsd).toBeLessThan(2n * 10n ** 12n);
  expect(charged * 10n ** 12n).toBeGreaterThanOrEqual(costUsd);
  expect(await world.book()).toEqual({ balance: INITIAL_BALANCE - charged, pending: 0n, fees: charged });
});

test("on a rollup, the maximum data fee is reserved too, and a call is refused if the balance does not cover it", async () => {
  const { origin, anAddress } = world;
  // Code for the predeploy that reports the data fee: always 0.001 ETH, or $2.50. Twice as much is reserved.
  const fee = (10n ** 15n).toString(16).padStart(16, "0");
  await origin.client.setCode({
    address: "0x420000000000000000000000000000000000000F",
    bytecode: `0x67${fee}5f5260205ff3`,
  });
  await origin.mine();
  await world.watch(origin);
  const poor = await world.anApp({}, 4_900_000n);
  await expect(world.execute(world.mintCall(anAddress()), poor)).rejects.toMatchObject({
    code: "INSUFFICIENT_FUNDS",
  });
  const requestId = await world.execute(world.mintCall(anAddress()));
  const { pending } = await world.book();
  expect(pending).toBeGreaterThan(5_000_000n);
  expect(pending).toBeLessThan(7_000_000n);
  await world.untilFinal(requestId);
  // In the end the chain charged no data fee.
  expect((await world.book()).fees).toBeLessThan(1_000_000n);
});

test("a call that reverts in the newest state is not accepted, and nothing is stored or reserved", async () => {
  const { usdc, user, anAddress } = world;
  const outcome = await world.tryExecute(transferFromCall(usdc, user.address, anAddress(), 1n));
  expect(outcome).toMatchObject({
    kind: "reverts",
    failure: { label: "ERC20_INSUFFICIENT_ALLOWANCE", details: { revert: { type: "customError" } } },
  });
  expect(await world.book()).toMatchObject({ balance: INITIAL_BALANCE, pending: 0n });
  expect((await world.pool.query("select from executions")).rowCount).toBe(0);
  expect((await world.pool.query("select from requests")).rowCount).toBe(0);
});

test("a call that reverts after it was accepted is not broadcast, and the app's reservation is released", async () => {
  const { origin, usdc, user, executor, anAddress } = world;
  await origin.send(user, approveCall(usdc, executor, 10n));
  await origin.mine();
  const requestId = await world.execute(transferFromCall(usdc, user.address, anAddress(), 10n));
  await origin.send(user, approveCall(usdc, executor, 0n));
  await origin.mine();
  const end = await world.untilFinal(requestId);
  expect(end).toMatchObject({ status: "failure", failReason: "EXECUTION_REVERTED", inTxHashes: [] });
  expect(await origin.sentBy(executor)).toEqual([]);
  expect(await world.book()).toEqual({ balance: INITIAL_BALANCE, pending: 0n, fees: 0n });
  expect(await world.execution(requestId)).toMatchObject({ settled: true, costUsd: 0n });
  const { rows } = await world.pool.query<{ detail: string }>(
    "select detail from request_events where request_id = $1 and event = 'executionImpossible'",
    [requestId],
  );
  expect(JSON.parse(rows[0]?.detail ?? "{}")).toMatchObject({
    label: "ERC20_INSUFFICIENT_ALLOWANCE",
    details: { revert: { name: "ERC20InsufficientAllowance" } },
  });
});

test("a call that reverts in its block fails, and the app pays only the gas", async () => {
  const { origin, usdc, user, executor, anAddress } = world;
  await origin.send(user, approveCall(usdc, executor, 10n));
  await origin.mine();
  const requestId = await world.execute(transferFromCall(usdc, user.address, anAddress(), 10n));
  await world.work();
  // The user's transaction is first in the block, because of its higher fee.
  await origin.send(user, approveCall(usdc, executor, 0n));
  await origin.mine();
  const [sent] = await origin.sentBy(executor);
  expect(sent?.succeeded).toBe(false);
  await world.watch(origin);
  expect(await world.status(requestId)).toMatchObject({
    status: "failure",
    failReason: "TRANSACTION_REVERTED",
  });
  expect((await world.book()).fees).toBe(0n);
  await world.untilFinal(requestId);
  const receipt = await origin.client.getTransactionReceipt({ hash: sent?.hash ?? "0x" });
  const { costUsd } = await world.execution(requestId);
  expect(costUsd).toBe(receipt.gasUsed * receipt.effectiveGasPrice * 2_500n);
  const { balance, pending, fees } = await world.book();
  expect({ pending, total: balance + fees }).toEqual({ pending: 0n, total: INITIAL_BALANCE });
  expect(fees * 10n ** 12n - costUsd).toBeLessThan(2n * 10n ** 12n);
});

test("reverts the result and the charge of an orphaned call, and mines the same bytes again", async () => {
  const { origin, usdc, anAddress } = world;
  const recipient = anAddress();
  const requestId = await world.execute(world.mintCall(recipient, 7n));
  await world.work();
  await origin.mine();
  await world.watch(origin);
  const first = await world.status(requestId);
  expect(first).toMatchObject({ status: "success", final: false });
  expect((await world.book()).fees).toBe(0n);
  await origin.reorg(1);
  await world.watch(origin);
  expect(await world.status(requestId)).toMatchObject({ status: "waiting", inTxHashes: [] });
  const end = await world.untilFinal(requestId);
  expect(end).toMatchObject({ status: "success", inTxHashes: first.inTxHashes });
  expect(await origin.balance(recipient, usdc)).toBe(7n);
  expect((await world.book()).pending).toBe(0n);
});

test("a call whose nonce was lost in a failover is neither broadcast again nor abandoned, however late it is", async () => {
  const { services, pool, origin, usdc, executor, clock, anAddress } = world;
  const recipient = anAddress();
  const requestId = await world.execute(world.mintCall(recipient, 7n));
  await world.work();
  await origin.mine();
  // The database failed over to a copy without the commit that planned the call.
  const slot = await services.reads.slotOfLeg("execution", requestId);
  if (slot === undefined) throw new Error("the call has no nonce");
  await pool.query("delete from attempts where slot_id = $1", [slot.id]);
  await pool.query("delete from slots where id = $1", [slot.id]);
  await pool.query("update lanes set next_nonce = $3 where chain_id = $1 and sender = $2", [
    slot.chainId,
    executor,
    slot.nonce,
  ]);
  for (let round = 0; round < 3; round++) {
    await openLane(services, origin.connected);
    expect(await pay(services, executionLeg, requestId)).toMatchObject({
      why: "the sending key used a nonce that the database does not know",
    });
    clock.forward(601_000);
    await world.round();
  }
  expect(world.events.of("payment_unrecorded")[0]?.facts).toMatchObject({ requestId, sender: executor });
  expect(await world.status(requestId)).toMatchObject({ status: "waiting" });
  expect(await origin.sentBy(executor)).toHaveLength(1);
  expect(await origin.balance(recipient, usdc)).toBe(7n);
  expect((await world.book()).pending).toBeGreaterThan(0n);
});

test("a stuck call is replaced at the same nonce, runs once and is charged once, within its reservation", async () => {
  const { origin, usdc, executor, clock, anAddress } = world;
  const recipient = anAddress();
  const requestId = await world.execute(world.mintCall(recipient, 7n));
  const { pending } = await world.book();
  await world.work();
  clock.forward(world.services.enginePolicy.stuckAfterMs + 1);
  await world.maintainLaneOf(origin);
  const slot = await world.services.reads.slotOfLeg("execution", requestId);
  expect(slot?.attempts).toHaveLength(2);
  const end = await world.untilFinal(requestId, 5_000);
  expect(end).toMatchObject({ status: "success", inTxHashes: [slot?.attempts[1]?.txHash] });
  expect(await origin.balance(recipient, usdc)).toBe(7n);
  expect(await origin.sentBy(executor)).toHaveLength(1);
  expect((await world.book()).fees).toBeLessThanOrEqual(pending);
  expect(world.events.of("execution_overrun")).toEqual([]);
});

test("a call that is never mined frees its nonce, and the app's reservation is released", async () => {
  const { origin, clock, executor, anAddress } = world;
  const requestId = await world.execute(world.mintCall(anAddress()));
  await world.work();
  clock.forward(601_000);
  await world.maintainLaneOf(origin);
  const end = await world.untilFinal(requestId);
  expect(end).toMatchObject({ status: "failure", failReason: "TRANSACTION_NOT_INCLUDED", inTxHashes: [] });
  expect(await origin.sentBy(executor)).toMatchObject([{ to: executor, input: "0x" }]);
  expect(await world.book()).toEqual({ balance: INITIAL_BALANCE, pending: 0n, fees: 0n });
});

test("while the executor lacks native tokens, accepted calls wait, an alert is raised, and the calls are finally abandoned", async () => {
  const { origin, executor, clock, anAddress } = world;
  const requestId = await world.execute(world.mintCall(anAddress()));
  await origin.client.setBalance({ address: executor, value: 0n });
  await world.watch(origin);
  await world.work();
  expect(await world.status(requestId)).toMatchObject({ status: "waiting" });
  expect(world.events.of("execution_waits")).not.toEqual([]);
  clock.forward(world.services.enginePolicy.inventoryWaitMs + 1);
  await world.work();
  expect(await world.status(requestId)).toMatchObject({
    status: "failure",
    failReason: "TRANSACTION_NOT_INCLUDED",
  });
  expect(await world.book()).toEqual({ balance: INITIAL_BALANCE, pending: 0n, fees: 0n });
});

test("a call that one process abandoned is not broadcast by another process that had read it before", async () => {
  const { services, clock, origin, executor } = world;
  const requestId = await world.execute(world.mintCall(world.anAddress()));
  let isFirst = true;
  const slow = {
    ...services,
    uow: {
      run: async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
        if (isFirst) {
          isFirst = false;
          clock.forward(601_000);
          await pay(services, executionLeg, requestId);
        }
        return await services.uow.run(work);
      },
    },
  };
  await pay(slow, executionLeg, requestId);
  expect(await world.status(requestId)).toMatchObject({ status: "failure" });
  expect(await services.reads.slotOfLeg("execution", requestId)).toBeUndefined();
  await origin.mine();
  expect(await origin.sentBy(executor)).toEqual([]);
  expect(await world.book()).toEqual({ balance: INITIAL_BALANCE, pending: 0n, fees: 0n });
});

test("a call that one process broadcast is not abandoned by another process whose deadline passed", async () => {
  const { services, clock, origin, executor, anAddress } = world;
  const requestId = await world.execute(world.mintCall(anAddress()));
  let isFirst = true;
  const lateServices = {
    ...services,
    clock: { nowMs: () => clock.nowMs() + 601_000 },
    uow: {
      run: async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
        if (isFirst) {
          isFirst = false;
          await pay(services, executionLeg, requestId);
        }
        return await services.uow.run(work);
      },
    },
  };
  await pay(lateServices, executionLeg, requestId);
  expect((await world.book()).pending).toBeGreaterThan(0n);
  expect(await world.untilFinal(requestId, 5_000)).toMatchObject({ status: "success" });
  expect(await origin.sentBy(executor)).toHaveLength(1);
  expect((await world.book()).fees).toBeGreaterThan(0n);
});

test("broadcasts a call once, however many processes submit it", async () => {
  const { services, origin, executor } = world;
  const requestId = await world.execute(world.mintCall(world.anAddress()));
  await Promise.all(Array.from({ length: 8 }, async () => await pay(services, executionLeg, requestId)));
  await world.untilFinal(requestId);
  expect(await origin.sentBy(executor)).toHaveLength(1);
});

test("broadcasts only as many calls as the executor's native tokens cover together, and the others wait", async () => {
  const { origin, executor, anAddress } = world;
  const requestIds = [
    await world.execute(world.mintCall(anAddress())),
    await world.execute(world.mintCall(anAddress())),
  ];
  const { gasLimit } = await world.execution(requestIds[0] ?? "0x");
  const singleCost = gasLimit * origin.connected.pulse.gasPrices().maxFeePerGas;
  await origin.client.setBalance({ address: executor, value: singleCost + singleCost / 2n });
  await world.watch(origin);
  await world.work();
  const slots = await world.services.reads.unsettledSlots(origin.chain.id, executor);
  expect(slots).toHaveLength(1);
  expect(world.events.of("execution_waits")).toMatchObject([
    { facts: { why: "the executor lacks the native token" } },
  ]);
  await origin.client.setBalance({ address: executor, value: 10n ** 19n });
  for (const requestId of requestIds)
    expect(await world.untilFinal(requestId, 5_000)).toMatchObject({ status: "success" });
  expect(await origin.sentBy(executor)).toHaveLength(2);
});

test("the sponsor is charged for a call's value, and only as far as its rules allow", async () => {
  const { origin, anAddress } = world;
  const recipient = anAddress();
  const value = 10n ** 15n;
  const requestId = await world.execute({ to: recipient, value });
  await world.untilFinal(requestId);
  expect(await origin.balance(recipient, "0x0000000000000000000000000000000000000000")).toBe(value);
  const { costUsd } = await world.execution(requestId);
  expect(costUsd).toBeGreaterThan(value * 2_500n);
  const strictApp = { ...world.app, rules: { maxCallValueUsd: 2n * ONE_USD } };
  await expect(world.tryExecute({ to: recipient, value }, strictApp)).rejects.toThrow(/maxCallValueUsd/);
});

test.each([
  ["in a group", {}],
  ["with a daily budget", { dailyUsd: 1_000n * ONE_USD }],
])("refuses a call %s whose value would come from held funds", async (_, rules) => {
  const { origin, anAddress } = world;
  const sponsor = await aSponsor(world, 1_000, {
    rules: { maxCallValueUsd: 100n * ONE_USD, ...rules },
  });
  const agreed = await world.quote({ recipient: anAddress(), amount: "980000000" });
  await sponsor.fastFill(agreed);
  // The call's value of 0.01 ETH is $25 of the $1,000, of which $980 are held.
  const recipient = anAddress();
  const call = { to: recipient, value: 10n ** 16n };
  await expect(world.tryExecute(call, sponsor.key)).rejects.toMatchObject({
    code: "INSUFFICIENT_FUNDS",
    message: expect.stringContaining("not held for fast fills") as string,
  });
  expect(await world.book(sponsor.key)).toMatchObject({ balance: INITIAL_BALANCE, pending: 0n });
  const requestId = await world.execute({ to: recipient, value: 10n ** 15n }, sponsor.key);
  await world.untilFinal(requestId);
  expect(await origin.balance(recipient, "0x0000000000000000000000000000000000000000")).toBe(10n ** 15n);
});

test("refuses a call that carries value while the native token's price is disputed", async () => {
  const sponsor = await aSponsor(world, 1_000, { rules: { maxCallValueUsd: 100n * ONE_USD } });
  const to = world.anAddress();
  world.prices.trust("ethereum", unreliable.disputed);
  await expect(world.tryExecute({ to, value: 10n ** 15n }, sponsor.key)).rejects.toMatchObject({
    code: "PRICE_FETCH_FAILED",
  });
  // Gas is charged even at a disputed price, if the call has no value.
  await world.untilFinal(await world.execute({ to, value: 0n }, sponsor.key));
  world.prices.trust("ethereum", undefined);
  await world.untilFinal(await world.execute({ to, value: 10n ** 15n }, sponsor.key));
});

test("charges a call's native value with the service fee and spread of its pair, and its gas without them", async () => {
  const { origin, anAddress } = world;
  // A spread of 20 bps for the age of the price, plus the service fee of 6 bps.
  world.prices.trust("ethereum", { ageMs: 60_000, volatilityBps: 10 });
  const value = 10n ** 15n;
  const requestId = await world.execute({ to: anAddress(), value });
  const reservedUsd = (await world.execution(requestId)).costUsd;
  await world.untilFinal(requestId);
  const { costUsd } = await world.execution(requestId);
  const slot = await world.services.reads.slotOfLeg("execution", requestId);
  const gasWei = (slot?.gasUsed ?? 0n) * (slot?.effectiveGasPrice ?? 0n);
  expect(costUsd).toBe((value * 25_065n) / 10n + gasWei * 2_500n + origin.chain.fees.flatUsd);
  expect(reservedUsd).toBeGreaterThan(costUsd);
  expect((INITIAL_BALANCE - (await world.book()).balance) * 10n ** 12n).toBeGreaterThanOrEqual(costUsd);
});

test("a balance in the native token pays for a call's value without a fee", async () => {
  const { origin, services, anAddress } = world;
  const caller = await world.anApp({}, 0n);
  const wallet = caller.fundingAddress ?? anAddress();
  const asset = { chainId: origin.chain.id, currency: origin.chain.native.address };
  const topUp = 10n ** 17n;
  await services.uow.run((tx) =>
    creditTopUp(services, tx, { wallet, asset, amount: topUp, movementKey: "given" }),
  );
  world.prices.trust("ethereum", { ageMs: 60_000, volatilityBps: 10 });
  const value = 10n ** 15n;
  const requestId = await world.execute({ to: anAddress(), value }, caller);
  // The same price is on both sides, so it is not checked again.
  world.prices.set("ethereum", "2600");
  await world.untilFinal(requestId);
  const slot = await services.reads.slotOfLeg("execution", requestId);
  const gasWei = (slot?.gasUsed ?? 0n) * (slot?.effectiveGasPrice ?? 0n);
  expect((await world.execution(requestId)).costUsd).toBe(
    (value + gasWei) * 2_500n + origin.chain.fees.flatUsd,
  );
});

test("refuses a call if its native token was priced differently than the native or wrapped balance that pays for it", async () => {
  const { origin, services, anAddress } = world;
  const { native } = origin.chain;
  const wrapped = { ...native, id: "weth", symbol: "WETH", address: anAddress() };
  const value = 10n ** 15n;
  for (const currency of [native, wrapped]) {
    const caller = await world.anApp({}, 0n);
    const wallet = caller.fundingAddress ?? anAddress();
    const asset = { chainId: origin.chain.id, currency: currency.address };
    await services.uow.run((tx) =>
      creditTopUp(services, tx, { wallet, asset, amount: 10n ** 17n, movementKey: currency.symbol }),
    );
    const servicesWithBalance = {
      ...services,
      appBalance: { ...services.appBalance, currencies: [currency] },
    };
    // The price changes after the call was priced.
    const acceptAt = (usd: string) => {
      const executeServices: ExecuteServices = {
        ...servicesWithBalance,
        random: { bytes32: someHash },
        accept: async (acceptable) => {
          world.prices.set("ethereum", usd);
          return await acceptExecution(executeServices, acceptable);
        },
      };
      world.prices.set("ethereum", "2500");
      return executeCalls(executeServices, caller, world.body({ to: anAddress(), value }), undefined);
    };
    for (const usd of ["2600", "2400"])
      await expect(acceptAt(usd)).rejects.toMatchObject({
        code: "SERVICE_UNAVAILABLE",
        message: "The price of ETH changed during the request; try again",
      });
    const { rows } = await world.pool.query<{ account: string; total: bigint }>(
      "select account, sum(amount) as total from ledger_entries where wallet = $1 and account <> 'funding' group by 1",
      [wallet],
    );
    expect(rows).toEqual([{ account: "balance", total: 10n ** 17n }]);
    expect((await world.pool.query("select from price_exposure")).rowCount).toBe(0);
    expect(await acceptAt("2500")).toMatchObject({ kind: "accepted" });
    const reserved = await world.pool.query<{ total: bigint }>(
      "select sum(amount) as total from ledger_entries where wallet = $1 and account = 'pending'",
      [wallet],
    );
    expect(reserved.rows[0]?.total).toBeGreaterThan(value);
  }
});

test("counts the value of accepted calls, and not that of refused calls, against the exposure limit per minute", async () => {
  const { enginePolicy } = world.services;
  const limitedServices = { ...world.services, enginePolicy: { ...enginePolicy, maxPriceExposureUsd: 6 } };
  const call = (value: bigint) =>
    world.tryExecute({ to: world.anAddress(), value }, world.app, limitedServices);
  const before = await world.book();
  // The clock moves to the start of a minute, so that all calls are in the same minute.
  world.clock.forward(60_000 - (world.clock.nowMs() % 60_000));
  // The exposure is $2.50, then $5.00.
  expect(await call(10n ** 15n)).toMatchObject({ kind: "accepted" });
  const afterFirstCall = await world.book();
  expect(afterFirstCall.balance).toBeLessThan(before.balance);
  await expect(call(2n * 10n ** 15n)).rejects.toMatchObject({
    code: "PRICE_FETCH_FAILED",
    message: expect.stringMatching(
      /^The limit per minute on trades with \S+ is used up; try again in the next minute$/,
    ) as string,
  });
  expect(await world.book()).toEqual(afterFirstCall);
  expect(await call(10n ** 15n)).toMatchObject({ kind: "accepted" });
  await expect(call(10n ** 15n)).rejects.toMatchObject({ code: "PRICE_FETCH_FAILED" });
  // Paying for gas alone is not a trade.
  expect(await call(0n)).toMatchObject({ kind: "accepted" });
  world.clock.forward(60_000);
  expect(await call(2n * 10n ** 15n)).toMatchObject({ kind: "accepted" });
});

test("does not send an accepted call with value while the native token costs more than was charged or its price is disputed", async () => {
  const { clock, origin, executor } = world;
  const call = { to: world.anAddress(), value: 10n ** 15n };
  const sentId = await world.execute(call);
  const waitReasons = (): unknown[] => world.events.of("execution_waits").map(({ facts }) => facts["why"]);
  // 14 bps more than charged. A rise of at most the pair's fee (6 bps) is tolerated.
  world.prices.set("ethereum", "2503.5");
  await world.work();
  expect(waitReasons()).toEqual(["ETH for the calls costs more than was reserved"]);
  world.prices.set("ethereum", "2500");
  world.prices.trust("ethereum", unreliable.disputed);
  clock.forward(2_000);
  await world.work();
  expect(waitReasons().at(-1)).toMatch(/contradicted/);
  expect(await origin.sentBy(executor)).toEqual([]);
  world.prices.trust("ethereum", undefined);
  world.prices.set("ethereum", "2501");
  expect(await world.untilFinal(sentId)).toMatchObject({ status: "success" });

  const book = await world.book();
  const abandonedId = await world.execute(call);
  world.prices.set("ethereum", "2600");
  await world.work();
  clock.forward(world.services.enginePolicy.inventoryWaitMs + 1);
  await world.work();
  expect(await world.status(abandonedId)).toMatchObject({
    status: "failure",
    failReason: "TRANSACTION_NOT_INCLUDED",
  });
  expect(await world.book()).toEqual(book);
  expect(await origin.sentBy(executor)).toHaveLength(1);
});

test("while a chain is paused, new calls on it are refused, and earlier accepted calls wait until it is resumed", async () => {
  const { origin, usdc } = world;
  const recipient = world.anAddress();
  const requestId = await world.execute(world.mintCall(recipient, 7n));
  const scope = { kind: "chain", chainId: origin.chain.id } as const;
  const pause = { scope, pausedBy: "ann", reason: "drill", sinceMs: 1 };
  const store = pauseStore(sqlOn(world.pool));
  await store.add(pause);
  const pausedServices = { ...world.services, pauses: () => [pause] };
  await expect(
    world.tryExecute(world.mintCall(world.anAddress()), world.app, pausedServices),
  ).rejects.toMatchObject({
    code: "SERVICE_UNAVAILABLE",
    facts: { data: { pausedScope: `chain:${origin.chain.id}` } },
  });
  const { balance, pending } = await world.book();
  expect(balance + pending).toBe(INITIAL_BALANCE);
  for (let round = 0; round < 4; round++) await world.round();
  expect(await origin.balance(recipient, usdc)).toBe(0n);
  expect((await world.status(requestId)).status).toBe("waiting");
  await store.remove(scope);
  world.clock.forward(6_000);
  expect((await world.untilFinal(requestId)).status).toBe("success");
  expect(await origin.balance(recipient, usdc)).toBe(7n);
});
