import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startWithdrawalWorld, type WithdrawalWorld } from "./withdrawal-world.ts";

let world: WithdrawalWorld;
beforeAll(async () => {
  world = await startWithdrawalWorld();
}, 120_000);
afterAll(async () => await world.stop());
beforeEach(async () => {
  await world.earn();
});

test("a balance on the hub is paid out of the depository, and burned on the hub", async () => {
  const owned = await world.solverOnHub();
  const order = world.order({ amount: 5_000_000n });
  const { progress, steps } = await world.withdraw(order);
  expect(progress).toEqual({ kind: "done", outcome: "executed" });
  expect(await world.balance(order.recipient)).toBe(5_000_000n);
  expect(await world.solverOnHub()).toBe(owned - 5_000_000n);
  expect(await world.onHub(order)).toBe(0n);
  expect(steps).toEqual([
    "ordered",
    "initiated: signed by 2 oracles",
    "initiated on the hub",
    "payload made",
    "recorded on the hub",
    "executed by the depository",
    "executed: signed by 2 oracles",
    "executed on the hub",
  ]);
});

test("run again with the same nonce it does nothing, and says how it ended", async () => {
  const order = world.order({ amount: 1_000_000n });
  await world.withdraw(order);
  const [owned, paid] = [await world.solverOnHub(), await world.balance(order.recipient)];
  const again = await world.withdraw(order);
  expect(again).toEqual({ progress: { kind: "done", outcome: "executed" }, steps: ["ordered"] });
  expect([await world.solverOnHub(), await world.balance(order.recipient)]).toEqual([owned, paid]);
});

test("a payload that expires before it is executed is never executed, and its money goes back on the hub", async () => {
  const owned = await world.solverOnHub();
  const order = world.order({ amount: 2_000_000n });
  world.allocatorIsAway(true);
  await expect(world.withdraw(order)).rejects.toThrow("away");
  world.allocatorIsAway(false);
  await world.chainTimePasses(3_601);
  const { progress } = await world.withdraw(order);
  expect(progress).toEqual({ kind: "done", outcome: "expired" });
  expect(await world.balance(order.recipient)).toBe(0n);
  expect(await world.solverOnHub()).toBe(owned);
});

test("no second payload is ever signed: neither for another amount nor when the hub has recorded another", async () => {
  const order = world.order({ amount: 1_000_000n });
  world.allocatorIsAway(true);
  await expect(world.withdraw(order)).rejects.toThrow("away");
  world.allocatorIsAway(false);
  await expect(world.withdraw({ ...order, amount: 2_000_000n })).rejects.toThrow("this nonce belongs to");
  // As if the database had been lost after the record: the payload that the hub knows is forgotten.
  await world.forgetPayload(order);
  const signed = world.signed();
  await expect(world.withdraw(order)).rejects.toThrow("has recorded another payload");
  expect(world.signed()).toBe(signed);
  expect(await world.balance(order.recipient)).toBe(0n);
});

test("nothing is signed before the record is final on the hub", async () => {
  const order = world.order({ amount: 1_000_000n });
  world.hubMines(false);
  const waiting = await world.withdraw(order, 1_500);
  expect(waiting.progress).toMatchObject({ kind: "waits" });
  world.hubMines(true);
  world.finalityIsFar(true);
  const signed = world.signed();
  const { progress } = await world.withdraw(order, 3_000);
  expect(progress).toMatchObject({ kind: "waits" });
  expect(world.signed()).toBe(signed);
  world.finalityIsFar(false);
  expect((await world.withdraw(order)).progress).toEqual({ kind: "done", outcome: "executed" });
});

test("whenever it dies, running it again with the same nonce pays once", async () => {
  const steps = ["submit", "record", "sign", "execute", "addExecutions", "choosePayload", "close"];
  for (const step of steps)
    for (const when of ["before", "after"] as const) {
      await world.earn();
      const owned = await world.solverOnHub();
      const order = world.order({ amount: 3_000_000n });
      await expect(world.withdraw(order, 30_000, { step, when }), `${when} ${step}`).rejects.toThrow("died");
      const { progress } = await world.withdraw(order);
      expect(progress, `${when} ${step}`).toEqual({ kind: "done", outcome: "executed" });
      expect(await world.balance(order.recipient), `${when} ${step}`).toBe(3_000_000n);
      expect(await world.solverOnHub(), `${when} ${step}`).toBe(owned - 3_000_000n);
    }
}, 300_000);

test("two operators who withdraw the same at once pay it once", async () => {
  const owned = await world.solverOnHub();
  const order = world.order({ amount: 4_000_000n });
  // One of them may be told that the allocator's nonce is taken, and runs it again.
  await Promise.allSettled([world.withdraw(order), world.withdraw(order)]);
  expect((await world.withdraw(order)).progress).toEqual({ kind: "done", outcome: "executed" });
  expect(await world.balance(order.recipient)).toBe(4_000_000n);
  expect(await world.solverOnHub()).toBe(owned - 4_000_000n);
});

test("oracles that sign for another withdrawal, or too few of them, move nothing", async () => {
  const order = world.order({ amount: 1_000_000n });
  for (const lie of ["fewSignatures", "anotherAmount"] as const) {
    world.lie(lie);
    const { progress } = await world.withdraw(order, 1_000);
    expect(progress, lie).toMatchObject({ kind: "waits" });
    expect(await world.onHub(order), lie).toBe(0n);
  }
  world.lie(undefined);
  expect((await world.withdraw(order)).progress).toEqual({ kind: "done", outcome: "executed" });
});
