import { formatAmount, NATIVE_CURRENCY } from "@causeway/domain";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { honest } from "./fake-oracle.ts";
import { startWithdrawalWorld, type WithdrawalWorld } from "./withdrawal-world.ts";

/**
 * The balance before each test, in base units: more than any test withdraws. One fill earns twice as much.
 */
const MIN_BALANCE = 50_000_000n;

let world: WithdrawalWorld;
beforeAll(async () => {
  world = await startWithdrawalWorld();
  await world.earn();
}, 120_000);
afterAll(async () => await world.stop());
beforeEach(async () => {
  if ((await world.solverOnHub()) < MIN_BALANCE) await world.earn();
});

test("pays a hub balance out of the depository, and burns it on the hub", async () => {
  const balanceBefore = await world.solverOnHub();
  const order = world.order({ amount: 5_000_000n });
  const { progress, steps } = await world.withdraw(order);
  expect(progress).toEqual({ kind: "done", outcome: "executed" });
  expect(await world.balance(order.recipient)).toBe(5_000_000n);
  expect(await world.solverOnHub()).toBe(balanceBefore - 5_000_000n);
  expect(await world.reservedOnHub(order)).toBe(0n);
  expect(steps).toEqual([
    "ordered",
    "initiated: signed by 2 oracles",
    "initiated on the hub",
    "payload made",
    "recorded on the hub",
    "executed by the depository",
    "burned: signed by 2 oracles",
    "burned on the hub",
  ]);
});

test("repeating a completed withdrawal with the same nonce changes nothing, and reports the result", async () => {
  const order = world.order({ amount: 1_000_000n });
  await world.withdraw(order);
  const [balanceBefore, paid] = [await world.solverOnHub(), await world.balance(order.recipient)];
  const repeated = await world.withdraw(order);
  expect(repeated).toEqual({ progress: { kind: "done", outcome: "executed" }, steps: ["ordered"] });
  expect([await world.solverOnHub(), await world.balance(order.recipient)]).toEqual([balanceBefore, paid]);
});

test("a payload that expires before its execution is never executed, and its amount is returned on the hub", async () => {
  const balanceBefore = await world.solverOnHub();
  const order = world.order({ amount: 2_000_000n });
  world.setAllocatorDown(true);
  await expect(world.withdraw(order)).rejects.toThrow("unreachable");
  world.setAllocatorDown(false);
  await world.passChainTime(3_601);
  const { progress } = await world.withdraw(order);
  expect(progress).toEqual({ kind: "done", outcome: "expired" });
  expect(await world.balance(order.recipient)).toBe(0n);
  expect(await world.solverOnHub()).toBe(balanceBefore);
});

test("no second payload is signed for a nonce, neither for another amount nor if the hub has recorded another payload", async () => {
  const order = world.order({ amount: 1_000_000n });
  world.setAllocatorDown(true);
  await expect(world.withdraw(order)).rejects.toThrow("unreachable");
  world.setAllocatorDown(false);
  await expect(world.withdraw({ ...order, amount: 2_000_000n })).rejects.toThrow("--nonce belongs to");
  // Simulates that the database lost the payload after the hub recorded it.
  await world.forgetPayload(order);
  const signed = world.signedCount();
  await expect(world.withdraw(order)).rejects.toThrow("already recorded another payload");
  expect(world.signedCount()).toBe(signed);
  expect(await world.balance(order.recipient)).toBe(0n);
});

test("a payload is not signed before its record is final on the hub", async () => {
  const order = world.order({ amount: 1_000_000n });
  world.setHubMining(false);
  const waiting = await world.withdraw(order, 1_500);
  expect(waiting.progress).toMatchObject({ kind: "waits" });
  world.setHubMining(true);
  world.delayFinality(true);
  const signed = world.signedCount();
  const { progress } = await world.withdraw(order, 1_500);
  expect(progress).toMatchObject({ kind: "waits" });
  expect(world.signedCount()).toBe(signed);
  world.delayFinality(false);
  expect((await world.withdraw(order)).progress).toEqual({ kind: "done", outcome: "executed" });
});

test("after a crash at any step, a repeated withdrawal with the same nonce pays once", async () => {
  const steps = ["submit", "record", "sign", "execute", "addExecutions", "choosePayload", "close"];
  for (const step of steps)
    for (const when of ["before", "after"] as const) {
      const balanceBefore = await world.solverOnHub();
      const order = world.order({ amount: 3_000_000n });
      await expect(world.withdraw(order, 30_000, { step, when }), `${when} ${step}`).rejects.toThrow("died");
      const { progress } = await world.withdraw(order);
      expect(progress, `${when} ${step}`).toEqual({ kind: "done", outcome: "executed" });
      expect(await world.balance(order.recipient), `${when} ${step}`).toBe(3_000_000n);
      expect(await world.solverOnHub(), `${when} ${step}`).toBe(balanceBefore - 3_000_000n);
    }
}, 300_000);

test("two operators that make the same withdrawal concurrently pay it once", async () => {
  const balanceBefore = await world.solverOnHub();
  const order = world.order({ amount: 4_000_000n });
  // One of them may fail because the allocator's nonce is used; its operator then repeats the withdrawal.
  await Promise.allSettled([world.withdraw(order), world.withdraw(order)]);
  expect((await world.withdraw(order)).progress).toEqual({ kind: "done", outcome: "executed" });
  expect(await world.balance(order.recipient)).toBe(4_000_000n);
  expect(await world.solverOnHub()).toBe(balanceBefore - 4_000_000n);
});

test("moves nothing with signatures for another withdrawal or too few signatures", async () => {
  const order = world.order({ amount: 1_000_000n });
  for (const lie of ["fewSignatures", "anotherAmount"] as const) {
    world.setLie(lie);
    // The first request may take a second on a busy machine.
    const { progress } = await world.withdraw(order, 1_500);
    expect(progress, lie).toMatchObject({ kind: "waits" });
    expect(await world.reservedOnHub(order), lie).toBe(0n);
  }
  world.setLie(undefined);
  expect((await world.withdraw(order)).progress).toEqual({ kind: "done", outcome: "executed" });
});

test("a used nonce with another recipient or currency starts no second withdrawal", async () => {
  const order = world.order({ amount: 1_000_000n });
  await world.withdraw(order);
  const balanceBefore = await world.solverOnHub();
  const { recipient } = world.order({ amount: 1n });
  const options = `--amount 1 --currency ${order.currency} --chain ${order.chainName} --recipient ${order.recipient}`;
  for (const change of [{ recipient }, { currency: NATIVE_CURRENCY }])
    await expect(world.withdraw({ ...order, ...change })).rejects.toThrow(
      `--nonce belongs to another withdrawal: use its options (${options}), or another nonce`,
    );
  expect(await world.solverOnHub()).toBe(balanceBefore);
  expect(await world.balance(recipient)).toBe(0n);
});

test("only one of two concurrent orders with one nonce is executed", async () => {
  const order = world.order({ amount: 1_000_000n });
  const otherOrder = { ...order, recipient: world.order({ amount: 1n }).recipient };
  await Promise.allSettled([world.withdraw(order), world.withdraw(otherOrder)]);
  const paid = [await world.balance(order.recipient), await world.balance(otherOrder.recipient)];
  expect(paid.toSorted()).toEqual([0n, 1_000_000n]);
});

test("a withdrawal above the solver's hub balance is refused with both amounts, before anything is stored", async () => {
  const balance = await world.solverOnHub();
  const order = world.order({ amount: balance + 1n });
  await expect(world.withdraw(order)).rejects.toThrow(
    `--amount ${formatAmount(balance + 1n, 6)} USDC exceeds the solver's final balance on the hub, ${formatAmount(balance, 6)} USDC`,
  );
  expect(await world.isStored(order)).toBe(false);
});

test("a hub balance that is not final cannot be withdrawn yet; a started withdrawal continues with an empty balance", async () => {
  const order = world.order({ amount: await world.solverOnHub() });
  world.delayFinality(true);
  await expect(world.withdraw(order)).rejects.toThrow(/final balance on the hub, 0 USDC$/);
  world.delayFinality(false);
  world.setAllocatorDown(true);
  await expect(world.withdraw(order)).rejects.toThrow("unreachable");
  world.setAllocatorDown(false);
  expect(await world.solverOnHub()).toBe(0n);
  expect((await world.withdraw(order)).progress).toEqual({ kind: "done", outcome: "executed" });
});

test("moves nothing with a key that is not the allocator of the depository or of the hub", async () => {
  const balanceBefore = await world.solverOnHub();
  const order = world.order({ amount: 1_000_000n });
  world.setAllocatorKey(`0x${"d4".repeat(32)}`);
  await expect(world.withdraw(order)).rejects.toThrow(", the allocator of the depository on");
  world.setAllocatorKey(undefined);
  await world.revokeAllocatorRole(true);
  await expect(world.withdraw(order)).rejects.toThrow("is not an allocator of the Allocator contract");
  await world.revokeAllocatorRole(false);
  expect(await world.isStored(order)).toBe(false);
  expect(await world.solverOnHub()).toBe(balanceBefore);
  expect((await world.withdraw(order)).progress).toEqual({ kind: "done", outcome: "executed" });
});

test("on a timeout, reports the oracles' last answer and not the aborted request", async () => {
  const order = world.order({ amount: 1_000_000n });
  const notFinal = { status: 400, json: { message: "12 blocks to go", code: "not_final", retryAfter: 5 } };
  world.setOracleAnswer(async () => notFinal);
  expect((await world.withdraw(order, 6_000)).progress).toMatchObject({ kind: "waits" });
  let requests = 0;
  // The first request is answered; the next one would take longer than the remaining time.
  world.setOracleAnswer(async () => {
    if (requests++ > 0) await setTimeout(1_900);
    return notFinal;
  });
  // The first request may take a second on a busy machine.
  const { progress } = await world.withdraw(order, 1_500);
  expect(requests).toBe(2);
  expect(progress).toEqual({
    kind: "waits",
    reason: expect.stringMatching(/^127\.0\.0\.1:\d+: not_final: 12 blocks to go$/) as string,
  });
  world.setOracleAnswer(honest);
  expect((await world.withdraw(order)).progress).toEqual({ kind: "done", outcome: "executed" });
});

test("if every oracle rejects a withdrawal, fails immediately with their reason", async () => {
  const order = world.order({ amount: 1_000_000n });
  world.setOracleAnswer(async () => ({
    status: 400,
    json: { message: "another payload", code: "rejected" },
  }));
  const startedMs = performance.now();
  await expect(world.withdraw(order, 15_000)).rejects.toThrow(
    /the oracles reject the withdrawal: .*: rejected: another payload/,
  );
  expect(performance.now() - startedMs).toBeLessThan(10_000);
  world.setOracleAnswer(honest);
  expect((await world.withdraw(order)).progress).toEqual({ kind: "done", outcome: "executed" });
});
