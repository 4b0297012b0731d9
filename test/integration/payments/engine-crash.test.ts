import { afterEach, beforeEach, expect, test } from "vitest";
import { startEngineWorld, type EngineWorld } from "../../support/engine-world.ts";
import { crashAtEveryStep } from "../../support/crash-at-every-step.ts";

let world: EngineWorld;

beforeEach(async () => {
  world = await startEngineWorld({ chain: { finalityBlocks: 2 } });
});
afterEach(async () => await world.stop());

const MOMENTS = [
  "before commit",
  "after commit",
  "before lanes.reserve",
  "before sign",
  "before lanes.addAttempts",
  "before broadcast",
  "after broadcast",
  "before lanes.setBroadcasts",
  "before lanes.setMined",
  "before lanes.setFinal",
];

test("whenever the process crashes between a deposit and the end of its fill, the recipient is paid exactly once", async () => {
  const { origin, destination, usdc } = world;
  const crashes = await crashAtEveryStep(world, {
    moments: MOMENTS,
    prepare: async () => {
      const agreed = await world.quote({ recipient: world.anAddress() });
      await world.pay(agreed);
      await origin.mine();
      return agreed;
    },
    run: async (workerServices) => {
      await world.watch(origin, workerServices);
      await world.work(workerServices);
      await destination.mine();
      await world.watch(destination, workerServices);
      await destination.mine(2);
      await world.watch(destination, workerServices);
    },
    verify: async (agreed, moment) => {
      const { recipient, destination: promised } = agreed.terms;
      const payments = await world.paymentsOf(agreed, destination);
      expect(payments, moment).toHaveLength(1);
      expect(await destination.balance(recipient, usdc), moment).toBe(promised.expectedAmount);
      // After a crash right after the broadcast, the service may first see the fill in a block.
      expect(await world.statusesOf(agreed.requestId), moment).toSatisfy((statuses: string[]) =>
        ["waiting pending submitted success", "waiting pending success"].includes(statuses.join(" ")),
      );
      expect(await world.status(agreed.requestId), moment).toMatchObject({
        status: "success",
        fundsAt: "recipient",
        txHashes: [payments[0]?.hash],
      });
    },
  });
  // The test really crashed at the important moments.
  for (const moment of MOMENTS) expect(crashes).toContain(moment);
}, 120_000);

test("whenever the process crashes during a refund, the deposit is refunded exactly once", async () => {
  const { origin, usdc } = world;
  const crashes = await crashAtEveryStep(world, {
    prepare: async () => {
      const agreed = await world.quote({ refundTo: world.anAddress(), referrer: "debug-force-refund" });
      await world.pay(agreed);
      await origin.mine();
      return agreed;
    },
    run: async (workerServices) => {
      await world.watch(origin, workerServices);
      await world.work(workerServices);
      await origin.mine();
      await world.watch(origin, workerServices);
      await origin.mine(2);
      await world.watch(origin, workerServices);
    },
    verify: async (agreed, moment) => {
      const payments = await world.paymentsOf(agreed, origin);
      expect(payments, moment).toHaveLength(1);
      expect(await origin.balance(agreed.terms.refundTo, usdc), moment).toBeGreaterThan(99_000_000n);
      expect(await world.paymentsOf(agreed, world.destination), moment).toEqual([]);
      expect(await world.statusesOf(agreed.requestId), moment).toEqual(["waiting", "pending", "refund"]);
      expect((await world.status(agreed.requestId)).refundTxHashes, moment).toEqual([payments[0]?.hash]);
    },
  });
  for (const moment of ["before sign", "after broadcast", "before deposits.setRefund"])
    expect(crashes).toContain(moment);
}, 120_000);

test("whenever the process crashes while it replaces a stuck fill, exactly one of the two variants pays", async () => {
  const { origin, destination, usdc, clock } = world;
  const crashes = await crashAtEveryStep(world, {
    prepare: async () => {
      const agreed = await world.quote({ recipient: world.anAddress() });
      await world.pay(agreed);
      await origin.mine();
      await world.watch(origin);
      await world.work();
      clock.forward(world.services.enginePolicy.stuckAfterMs + 1);
      return agreed;
    },
    run: async (workerServices) => {
      await world.maintainLaneOf(destination, workerServices);
      await destination.mine();
      await world.watch(destination, workerServices);
    },
    verify: async (agreed, moment) => {
      expect(await world.paymentsOf(agreed, destination), moment).toHaveLength(1);
      const { recipient, destination: promised } = agreed.terms;
      expect(await destination.balance(recipient, usdc), moment).toBe(promised.expectedAmount);
      expect((await world.status(agreed.requestId)).status, moment).toBe("success");
    },
  });
  expect(crashes).toContain("before lanes.addAttempts");
}, 120_000);

test("whenever the process crashes while it cancels a fill, either the deposit is refunded once or the fill is paid", async () => {
  const { origin, destination, usdc, clock } = world;
  const outcomes = new Set<string>();
  await crashAtEveryStep(world, {
    prepare: async () => {
      const agreed = await world.quote({
        recipient: world.anAddress(),
        refundTo: world.anAddress(),
        ttl: 300,
      });
      await world.pay(agreed);
      await origin.mine();
      // Other transactions use the chain too, so that gas prices do not follow only from the fill's bumped
      // fees.
      for (let block = 0; block < 2; block++) {
        await destination.send(world.stranger, { to: world.stranger.address });
        await destination.mine();
      }
      await world.watch(origin);
      await world.work();
      clock.forward(300_000 + world.services.enginePolicy.cancelAfterDeadlineMs + 1);
      return agreed;
    },
    run: async (workerServices) => {
      await world.maintainLaneOf(destination, workerServices);
      await world.maintainLaneOf(destination, workerServices);
      await destination.mine();
      await world.watch(destination, workerServices);
      await destination.mine(2);
      await world.watch(destination, workerServices);
      await world.work(workerServices);
    },
    verify: async (agreed, moment) => {
      const fills = await world.paymentsOf(agreed, destination);
      const refunds = await world.paymentsOf(agreed, origin);
      const { status } = await world.status(agreed.requestId);
      outcomes.add(status);
      expect(fills.length + refunds.length, moment).toBe(1);
      expect(status, moment).toBe(fills.length === 1 ? "success" : "refund");
      const received = await destination.balance(agreed.terms.recipient, usdc);
      expect(received, moment).toBe(fills.length === 1 ? agreed.terms.destination.expectedAmount : 0n);
    },
  });
  expect(outcomes).toContain("refund");
}, 120_000);
