import type { NonEvmAttempt, PayingConnection } from "@causeway/chains";
import { afterEach, expect, test } from "vitest";
import type { TransferChain } from "../../../apps/api/src/chains/chains.port.ts";
import { redisAt } from "../../../apps/api/src/db/redis-place.ts";
import { openNonEvmLane } from "../../../apps/api/src/payments/non-evm/open-lane.ts";
import { connectJournal } from "../../../apps/api/src/payments/payment-journal.adapter.ts";
import { testRedis } from "../../support/database.ts";
import { lostFill } from "../../support/lost-payments.ts";
import { startNonEvmWorld } from "../../support/non-evm-world.ts";

// Payments on non-EVM chains that a failover lost, and whose requests could not take them back.

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

async function aWorld(kind: "expiring" | "outputs") {
  const world = await startNonEvmWorld({ destination: kind });
  opened.push(async () => await world.stop());
  const { url, prefix } = testRedis();
  const journal = await connectJournal(redisAt(url), prefix, () => "system/1/00000001");
  opened.push(() => journal.close());
  const by = { ...world.services, journal };
  for (const connected of by.chains.nonEvmChains) await openNonEvmLane(by, connected);
  const connected = by.chains.nonEvmChains.find(({ chain }) => chain.id === world.destination.chain.id);
  if (connected === undefined) throw new Error("the destination is not connected");
  return {
    world,
    by,
    /** The destination, with other answers about outcomes. */
    through: (outcome: PayingConnection["outcome"]): TransferChain => ({
      ...connected,
      connection: { ...connected.connection, outcome },
    }),
    /** A fill that was lost, and given up because its request had failed. */
    abandon: async () => {
      const agreed = await lostFill(world, by);
      const become = async (state: string) =>
        await world.pool.query("update requests set state = $2 where request_id = $1", [
          agreed.requestId,
          state,
        ]);
      await become("failed");
      world.destination.network.forgetPool();
      await openNonEvmLane(by, connected);
      await become("fillable");
      return agreed;
    },
  };
}

test("asks what became of lost bytes with the facts that the database has about them", async () => {
  const { world, by, through, abandon } = await aWorld("expiring");
  const { requestId, terms } = await abandon();
  world.clock.forward(20_000);
  const asked: NonEvmAttempt[] = [];
  await openNonEvmLane(
    by,
    through(async (attempt) => {
      asked.push(attempt);
      return await Promise.resolve({ kind: "unseen" });
    }),
  );
  const { recipient, orderId } = terms;
  expect(asked.map(({ lost }) => lost)).toMatchObject([
    { payment: { recipient, orderId }, notBeforeMs: (await by.reads.status(requestId))?.createdAtMs },
  ]);
});
