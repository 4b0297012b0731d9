import { type NonEvmAttempt, type PayingConnection, RpcFault } from "@causeway/chains";
import { afterEach, expect, test } from "vitest";
import type { TransferChain } from "../../../apps/api/src/chains/chains.port.ts";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { redisAt } from "../../../apps/api/src/db/redis-endpoint.ts";
import { attemptOf, nonEvmAttemptOf, paymentOf } from "../../../apps/api/src/payments/non-evm/attempt-of.ts";
import { openNonEvmLane } from "../../../apps/api/src/payments/non-evm/open-lane.ts";
import { connectJournal } from "../../../apps/api/src/payments/payment-journal.adapter.ts";
import { testRedis } from "../../support/database.ts";
import { aLostFill } from "../../support/lost-payments.ts";
import { startNonEvmWorld } from "../../support/non-evm-world.ts";

// Payments on non-EVM chains whose rows a failover lost, and that could not be restored to their requests.

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
  const workerServices = { ...world.services, journal };
  for (const connected of workerServices.chains.nonEvmChains) await openNonEvmLane(workerServices, connected);
  const connected = workerServices.chains.nonEvmChains.find(
    ({ chain }) => chain.id === world.destination.chain.id,
  );
  if (connected === undefined) throw new Error("the destination is not connected");
  return {
    world,
    workerServices,
    /** The destination, with other answers about the outcomes of payments. */
    through: (outcome: PayingConnection["outcome"]): TransferChain => ({
      ...connected,
      connection: { ...connected.connection, outcome },
    }),
    connected,
    /** A fill that a failover lost and that was abandoned because its request had failed. */
    abandon: async () => {
      const agreed = await aLostFill(world, workerServices);
      const setState = async (state: string) =>
        await world.pool.query("update requests set state = $2 where request_id = $1", [
          agreed.requestId,
          state,
        ]);
      await setState("failed");
      world.destination.network.dropPool();
      await openNonEvmLane(workerServices, connected);
      await setState("fillable");
      return agreed;
    },
  };
}

test("looks up the outcome of a lost payment with the facts that the database has about its request", async () => {
  const { world, workerServices, through, abandon } = await aWorld("expiring");
  const { requestId, terms } = await abandon();
  world.clock.forward(20_000);
  const checked: NonEvmAttempt[] = [];
  await openNonEvmLane(
    workerServices,
    through(async (attempt) => {
      checked.push(attempt);
      return await Promise.resolve({ kind: "unseen" });
    }),
  );
  const { recipient, orderId } = terms;
  expect(checked.map(({ lost }) => lost)).toMatchObject([
    {
      payment: { recipient, orderId },
      notBeforeMs: (await workerServices.reads.status(requestId))?.createdAtMs,
    },
  ]);
});

test("releases a lost payment whose cancel transaction is final", async () => {
  const { world, workerServices, connected, abandon } = await aWorld("outputs");
  const { chain, connection } = connected;
  const agreed = await abandon();
  const [entry] = await workerServices.journal.entries(chain.id, connection.solver);
  if (entry === undefined) throw new Error("the journal has no payment");
  const { plan, nonce, attempts } = entry;
  const before = attempts.map(nonEvmAttemptOf);
  const noop = await connection.prepare(paymentOf(plan, "noop"), before, []);
  const canceled = { ...entry, attempts: [...attempts, attemptOf(noop, attempts.length, "noop")] };
  const withCancel = {
    ...workerServices,
    journal: { ...workerServices.journal, entries: async () => await Promise.resolve([canceled]) },
  };
  await world.pool.query("update nonce_users set tx_hash = $1", [noop.txId]);
  const isReleased = async (): Promise<boolean> => {
    world.clock.forward(20_000);
    await openNonEvmLane(withCancel, connected);
    return world.events.of("lost_payment_dead").length > 0;
  };
  expect(await isReleased()).toBe(false);
  await connection.send(noop);
  world.destination.network.mine();
  expect(await isReleased(), "not final").toBe(false);
  world.destination.network.mineUntilFinal();
  expect(await isReleased()).toBe(true);
  const users = await workerServices.reads.nonceUsers(chain.id, connection.solver, nonce, nonce + 1);
  expect(users.get(nonce)?.pays).toBeUndefined();
  expect(world.paymentsOf(agreed, world.destination)).toEqual([]);
});

test("a lost payment that no node can check delays no other payment, and is checked less and less often", async () => {
  const { world, workerServices, through, abandon } = await aWorld("expiring");
  await abandon();
  await abandon();
  const pruned = new RpcFault({ kind: "pruned", method: "getBlock", reason: "the history is gone" });
  let first: string | undefined;
  let checks = 0;
  const connected = through(async ({ txId }) => {
    first ??= txId;
    if (txId !== first) return await Promise.resolve({ kind: "dead", reason: "expired" });
    checks += 1;
    throw pruned;
  });
  await openNonEvmLane(workerServices, connected);
  expect(world.events.of("lost_payment_dead")).toHaveLength(1);
  for (let second = 1; second < 100; second++) {
    world.clock.forward(1_000);
    await openNonEvmLane(workerServices, connected);
  }
  expect(checks).toBe(7);
  // Each check reminds the operator, who alone can release it.
  const reminders = world.events.of("payment_unrecorded").filter(({ facts }) => facts["why"] !== undefined);
  expect(reminders).toHaveLength(7);
  expect(world.events.of("chain_fault")).toHaveLength(checks);
});

test("the operator is reminded of a lost payment that cannot be checked, for whatever reason", async () => {
  const { world, workerServices, through, abandon } = await aWorld("expiring");
  await abandon();
  const reminders = () =>
    world.events.of("payment_unrecorded").flatMap(({ facts }) => (facts["why"] === undefined ? [] : [facts]));
  // One endpoint keeps the whole history, and the others have pruned it or are down.
  const reason = "only one endpoint answers";
  const alone = new RpcFault({ kind: "inconsistent", method: "outcome", reason });
  const connected = through(async () => await Promise.reject(alone));
  const minutes = async (count: number, services: WorkerServices = workerServices): Promise<void> => {
    for (let step = 0; step < 6 * count; step++) {
      world.clock.forward(10_000);
      await openNonEvmLane(services, connected);
    }
  };
  await minutes(4);
  expect(reminders()).toEqual([]);
  await minutes(16);
  expect(reminders()).toHaveLength(3);
  expect(reminders()[0]?.["why"]).toContain(reason);
  const entries = async () => await Promise.resolve([]);
  await minutes(10, { ...workerServices, journal: { ...workerServices.journal, entries } });
  expect(reminders()).toHaveLength(5);
  expect(reminders().at(-1)?.["why"]).toContain("journal");
  expect(world.events.of("lost_payment_dead")).toEqual([]);
});

test("a lost payment whose rows were restored by hand is neither checked nor released", async () => {
  const { world, workerServices, through, connected } = await aWorld("expiring");
  const { chain, connection } = connected;
  const agreed = await aLostFill(world, workerServices, false);
  const slot = await workerServices.reads.slotOfLeg("fill", agreed.requestId);
  if (slot === undefined) throw new Error("the fill has no slot");
  // The note about its nonce stays when the rows are restored.
  await world.pool.query(
    "insert into nonce_users (chain_id, sender, nonce, tx_hash, pays) values ($1, $2, $3, $4, $5)",
    [chain.id, connection.solver, slot.nonce, `0x${"01".repeat(32)}`, agreed.requestId],
  );
  let checks = 0;
  const checking = through(async () => {
    checks++;
    return await Promise.resolve({ kind: "dead", reason: "expired" });
  });
  for (let step = 0; step < 120; step++) {
    world.clock.forward(10_000);
    await openNonEvmLane(workerServices, checking);
  }
  expect(checks).toBe(0);
  expect(world.events.of("payment_unrecorded")).toEqual([]);
  const users = await workerServices.reads.nonceUsers(
    chain.id,
    connection.solver,
    slot.nonce,
    slot.nonce + 1,
  );
  expect(users.get(slot.nonce)?.pays).toBe(agreed.requestId);
});
