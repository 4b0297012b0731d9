import { afterAll, beforeAll, expect, test } from "vitest";
import type { Attempt, Slot } from "../../../apps/api/src/db/records.port.ts";
import { redisAt } from "../../../apps/api/src/db/redis-endpoint.ts";
import { connectJournal } from "../../../apps/api/src/payments/payment-journal.adapter.ts";
import { testRedis } from "../../support/database.ts";
import { startSettlementWorld, type SettlementWorld } from "./settlement-world.ts";

// The service does not pay on the hub's chain, so settlement itself maintains its transactions there.

let world: SettlementWorld;

beforeAll(async () => {
  world = await startSettlementWorld();
  await world.mineHub(8);
});
afterAll(async () => {
  await world.stop();
});

async function hubSlots(): Promise<{ nonce: number; state: string }[]> {
  const { rows } = await world.engine.pool.query<{ nonce: string; state: string }>(
    "select nonce, state from slots where chain_id = $1 and leg_kind = 'hub' order by nonce",
    [world.hub.chainId],
  );
  return rows.map(({ nonce, state }) => ({ nonce: Number(nonce), state }));
}

test("a journal entry for another payment at the next nonce does not block a lane without a watcher", async () => {
  const { engine, hub } = world;
  const { url, prefix } = testRedis();
  const journal = await connectJournal(redisAt(url), prefix, () => "system/1/00000001");
  const lane = { chainId: hub.chainId, sender: engine.solver.address };
  const nonce = ((await hubSlots()).at(-1)?.nonce ?? -1) + 1;
  const leg = { kind: "hub", id: "0", requestId: undefined };
  const slot = { ...lane, nonce, leg, attempts: [] } as unknown as Slot;
  const attempt = { n: 0, kind: "pay", raw: "0x01" } as unknown as Attempt;
  await journal.enter([{ slot, attempt }], 0);
  const agreed = await world.makeFilled();
  const withJournal = { ...world.services, journal };
  await world.attest(withJournal);
  await world.submit(withJournal);
  journal.close();
  await world.untilSettled(agreed.requestId);
});

async function sendByHand(): Promise<void> {
  const { hubClient, engine } = world;
  await hubClient.impersonateAccount({ address: engine.solver.address });
  const byHand = { from: engine.solver.address, to: engine.anAddress(), value: 1n, gas: 21_000n };
  await hubClient.sendUnsignedTransaction(byHand);
  await world.mineHub();
}

test("skips a nonce that the key used elsewhere", async () => {
  const { engine } = world;
  const first = await world.makeFilled();
  await world.attest();
  await world.untilSettled(first.requestId);
  const before = await hubSlots();
  const agreed = await world.makeFilled();
  await world.attest();
  await sendByHand();
  await world.submit();
  expect(engine.events.of("nonce_spent_elsewhere")).toHaveLength(1);
  expect((await hubSlots()).at(-1)?.nonce).toBe((before.at(-1)?.nonce ?? 0) + 2);
  await world.untilSettled(agreed.requestId);
});

test("a hub transaction whose nonce was used elsewhere is dead once that transaction is final, and its executions are sent again", async () => {
  const balanceBefore = await world.solverOnHub();
  const agreed = await world.makeFilled();
  await world.attest();
  await expect(world.submit(world.unreachable())).rejects.toThrow("connection refused");
  await sendByHand();
  await world.submit();
  expect((await hubSlots()).at(-1)).toMatchObject({ state: "open" });
  await world.mineHub(3);
  await world.submit();
  expect((await hubSlots()).at(-1)).toMatchObject({ state: "dead" });
  await world.untilSettled(agreed.requestId);
  expect(await world.solverOnHub()).toBe(balanceBefore + agreed.terms.origin.amount);
});

test("plans no hub transaction if the solver cannot pay its gas, and reports that", async () => {
  const { hubClient, engine } = world;
  const agreed = await world.makeFilled();
  await world.attest();
  const before = await hubSlots();
  await hubClient.setBalance({ address: engine.solver.address, value: 0n });
  await world.submit();
  expect(await hubSlots()).toEqual(before);
  expect(engine.events.of("hub_refused").at(-1)?.facts["reason"]).toContain("lacks the native token");
  await hubClient.setBalance({ address: engine.solver.address, value: 10n ** 20n });
  await world.untilSettled(agreed.requestId);
});
