import { afterAll, beforeAll, expect, test } from "vitest";
import { startAddressWorld, type AddressWorld } from "../../support/address-world.ts";
import { crashAtEveryStep } from "../../support/crash-at-every-step.ts";

let world: AddressWorld;

beforeAll(async () => {
  world = await startAddressWorld({ chain: { finalityBlocks: 2 } });
});
afterAll(async () => await world.stop());

// This test is slow: it crashes a process about a hundred times, and each time another process completes the
// request.
test("whenever the process crashes between detecting and sweeping funds at an address, the funds are swept once, for one request, and filled once", async () => {
  const { origin, destination, usdc } = world;
  const addresses = new Map<string, `0x${string}`>();
  const crashes = await crashAtEveryStep(world, {
    prepare: async () => {
      const agreed = await world.quoteAddress();
      addresses.set(agreed.requestId, agreed.at);
      await world.sendTo(agreed.at, 77_000_000n);
      await origin.mine();
      await world.scan(origin);
      return agreed;
    },
    run: async (by) => {
      await world.scanAddresses(origin, by);
      await world.work(by);
    },
    verify: async ({ requestId, terms }, moment) => {
      const at = addresses.get(requestId) ?? "0x";
      const sweeps = await world.sweepsFrom(at);
      expect(
        sweeps.map(({ amount, state }) => [amount, state]),
        moment,
      ).toEqual([[77_000_000n, "final"]]);
      const [first, standIn, ...others] = await world.requestsOf(at);
      expect([first, others], moment).toEqual([requestId, []]);
      const { terms: agreed } = await world.request(standIn ?? "0x");
      expect(await destination.balance(terms.recipient, usdc), moment).toBe(
        agreed.destination.expectedAmount,
      );
      expect(await origin.balance(at, usdc), moment).toBe(0n);
      expect(await world.status(requestId), moment).toMatchObject({
        status: "success",
        supersededByRequestId: standIn,
      });
    },
  });
  for (const moment of [
    "before depositAddresses.observe",
    "before depositAddresses.addSweep",
    "before outbox.add",
    "before commit",
    "after commit",
    "before lanes.reserve",
    "before depositAddresses.setSweep",
    "before sign",
    "before lanes.addAttempts",
    "before broadcast",
    "after broadcast",
  ])
    expect(crashes).toContain(moment);
}, 180_000);
