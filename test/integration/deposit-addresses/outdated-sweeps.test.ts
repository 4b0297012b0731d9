import { NATIVE_CURRENCY } from "@causeway/domain";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { LegKind } from "../../../apps/api/src/payments/legs/leg-kind.ts";
import { sweepLeg } from "../../../apps/api/src/payments/legs/sweep-leg.ts";
import { pay } from "../../../apps/api/src/payments/pay-leg.ts";
import { isCrash, crashingServices } from "../../fakes/crashing-services.ts";
import { startAddressWorld, type AddressWorld } from "../../support/address-world.ts";
import { loseRows } from "../../support/lost-rows.ts";
import { aSponsor } from "../../support/sponsors.ts";

// A sweep is planned while its quote is firm and sent after the quote expired. Funds at an open address are
// then re-quoted if the old order would be refunded.

let world: AddressWorld;

beforeAll(async () => {
  world = await startAddressWorld({ chain: { finalityBlocks: 2 } });
});
afterEach(async () => {
  world.prices.set("ethereum", "2500");
  await fundOperator(10n ** 21n);
});
afterAll(async () => await world.stop());

/** 0.04 ETH: 100 USD at $2,500. */
const PAID = 40_000_000_000_000_000n;

type Address = Awaited<ReturnType<AddressWorld["quoteAddress"]>>;

async function fundOperator(value: bigint): Promise<void> {
  const address = world.services.depositAddressOperator?.address ?? "0x";
  await world.origin.client.setBalance({ address, value });
  await world.origin.announce();
}

/** A quote of ETH for USDC whose funds are at its address. The sweep is planned and waits for gas. */
async function waitingSweep(ask: Parameters<AddressWorld["quoteAddress"]>[0] = {}): Promise<Address> {
  await fundOperator(0n);
  const agreed = await world.quoteAddress({
    originCurrency: NATIVE_CURRENCY,
    amount: String(PAID),
    refundTo: world.anAddress(),
    ...ask,
  });
  const { currency, amount } = agreed.terms.origin;
  await world.sendTo(agreed.at, amount, { currency });
  for (let n = 0; n < 2; n++) await world.round();
  expect(await statesAt(agreed)).toEqual([[amount, "planned"]]);
  expect(world.clock.nowMs()).toBeLessThan(agreed.terms.firmUntilMs);
  return agreed;
}

/** Lets the quote expire and drops the ETH price by 10%. */
async function outdate({ terms }: Address): Promise<void> {
  world.clock.forward(120_000);
  expect(world.clock.nowMs()).toBeGreaterThan(terms.firmUntilMs);
  world.prices.set("ethereum", "2250");
  await fundOperator(10n ** 21n);
}

const statesAt = async ({ at }: Address) =>
  (await world.sweepsFrom(at)).map(({ amount, state }) => [amount, state]);
const received = async ({ terms }: Address): Promise<bigint> =>
  await world.destination.balance(terms.recipient, world.usdc);

/** Simulates that another transaction used the sweep's nonce, so that the service plans the sweep again. */
async function dropSweep(id: string): Promise<void> {
  const slot = await world.services.reads.slotOfLeg("sweep", id);
  const [attempt] = slot?.attempts ?? [];
  if (slot === undefined || attempt === undefined) throw new Error("the sweep was not sent");
  const { client } = world.origin;
  await client.request({ method: "anvil_dropTransaction", params: [attempt.txHash] } as never);
  await loseRows(world.pool, slot);
  await world.pool.query("update deposit_sweeps set state = 'planned' where id = $1", [id]);
}

test("re-quotes funds at an open address when the order of a delayed sweep would be refunded", async () => {
  const agreed = await waitingSweep();
  await outdate(agreed);
  await world.work();
  expect(await statesAt(agreed)).toEqual([[PAID, "void"]]);
  expect(await world.status(agreed.requestId), "while no quote covers the funds").toMatchObject({
    status: "depositing",
    fundsAt: "depositAddress",
  });
  const [successor] = await world.untilSettled(agreed.at, 1);
  if (successor === undefined) throw new Error("the funds have no new quote");
  expect(await statesAt(agreed)).toEqual([
    [PAID, "void"],
    [PAID, "final"],
  ]);
  const { expectedAmount } = (await world.request(successor)).terms.destination;
  expect(expectedAmount).toBeLessThan(agreed.terms.destination.minimumAmount);
  expect(await received(agreed)).toBe(expectedAmount);
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "success",
    supersededByRequestId: successor,
  });
  expect(world.events.of("sweep_void").map(({ level }) => level)).toEqual(["happened"]);
});

test("a late sweep keeps the first order while that order is still filled at the current price", async () => {
  const agreed = await waitingSweep();
  await outdate(agreed);
  world.prices.set("ethereum", "2500");
  expect(await world.untilSettled(agreed.at, 1)).toEqual([agreed.requestId]);
  expect(await statesAt(agreed)).toEqual([[PAID, "final"]]);
  expect((await world.status(agreed.requestId)).status).toBe("success");
});

test("sweeps a strict address under its own order, which refunds", async () => {
  const agreed = await waitingSweep({ strict: true });
  await outdate(agreed);
  expect(await world.untilSettled(agreed.at, 1)).toEqual([agreed.requestId]);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "refund", failReason: "SLIPPAGE" });
  expect(await received(agreed)).toBe(0n);
});

test("re-quotes the first payment together with one that arrived in the meantime", async () => {
  const agreed = await waitingSweep();
  await world.sendTo(agreed.at, PAID / 2n, { currency: NATIVE_CURRENCY });
  for (let n = 0; n < 2; n++) await world.round();
  expect(await statesAt(agreed)).toHaveLength(2);
  const requests = await world.requestsOf(agreed.at);
  await outdate(agreed);
  const [successor] = await world.untilSettled(agreed.at, 1);
  if (successor === undefined) throw new Error("the funds have no new quote");
  expect(await statesAt(agreed)).toEqual([
    [PAID, "void"],
    [PAID / 2n, "void"],
    [(PAID * 3n) / 2n, "final"],
  ]);
  for (const requestId of requests)
    expect(await world.status(requestId)).toMatchObject({
      status: "success",
      supersededByRequestId: successor,
    });
  expect(await received(agreed)).toBe((await world.request(successor)).terms.destination.expectedAmount);
});

test("keeps the order of a sweep that covers a fast fill, so that its recipient is paid once", async () => {
  const app = await aSponsor(world, 10_000);
  const agreed = await waitingSweep({ originCurrency: world.usdc, amount: "100000000" });
  await fundOperator(10n ** 21n);
  const [sweep] = await world.sweepsFrom(agreed.at);
  await world.work();
  expect(await app.fastFill(agreed)).toBe("queued");
  await dropSweep(sweep?.id ?? "");
  await outdate(agreed);
  // Now the gas of a fill costs more than the deposit is worth.
  world.prices.set("ethereum", "25000000");
  expect(await world.untilSettled(agreed.at, 1)).toEqual([agreed.requestId]);
  for (let n = 0; n < 3; n++) await world.round();
  expect(await statesAt(agreed)).toEqual([[agreed.terms.origin.amount, "final"]]);
  expect(await world.requestsOf(agreed.at)).toEqual([agreed.requestId]);
  expect(await received(agreed)).toBe(agreed.terms.destination.expectedAmount);
  expect(await app.holdState(agreed)).toBe("released");
});

test("if a fast fill relies on a sweep just before the sweep is voided, the sweep is planned again immediately", async () => {
  const app = await aSponsor(world, 10_000);
  const agreed = await waitingSweep({ originCurrency: world.usdc, amount: "100000000" });
  const { amount } = agreed.terms.origin;
  await outdate(agreed);
  // Now the gas of a fill costs more than the deposit is worth.
  world.prices.set("ethereum", "25000000");
  const [sweep] = await world.sweepsFrom(agreed.at);
  if (sweep === undefined) throw new Error("no sweep is planned");
  const progress: unknown[] = [];
  // Between the decision and its commit, another process sends the sweep, and that transaction is dropped.
  const leg: LegKind = {
    ...sweepLeg,
    giveUp: async (...args: Parameters<typeof sweepLeg.giveUp>) => {
      world.prices.set("ethereum", "2500");
      await pay(world.services, sweepLeg as unknown as LegKind, sweep.id);
      expect(await app.fastFill(agreed)).toBe("queued");
      await dropSweep(sweep.id);
      const then = await sweepLeg.giveUp(...args);
      progress.push(then);
      return then;
    },
  } as unknown as LegKind;
  await pay(world.services, leg, sweep.id);
  expect(progress).toMatchObject([{ waitMs: 1_000 }]);
  expect(await statesAt(agreed)).toEqual([[amount, "planned"]]);
  // The sweep's job runs again, and the order stays.
  await pay(world.services, leg, sweep.id);
  expect(progress).toHaveLength(1);
  expect(await statesAt(agreed)).toEqual([[amount, "sent"]]);
  expect(await world.untilSettled(agreed.at, 1)).toEqual([agreed.requestId]);
  expect(await statesAt(agreed)).toEqual([[amount, "final"]]);
});

test("a sweep is not voided while its lane may lack payments that a failover lost", async () => {
  const { services, pool } = world;
  const agreed = await waitingSweep();
  await outdate(agreed);
  const [sweep] = await world.sweepsFrom(agreed.at);
  const sender = services.depositAddressOperator?.address;
  if (sweep === undefined || sender === undefined) throw new Error("no sweep is planned");
  const lane = { chainId: sweep.chainId, sender };
  await pool.query("update lanes set server = 'a former server' where sender = $1", [sender]);
  const outdated = { why: "its order would be refunded", outdated: lane };
  await expect(sweepLeg.giveUp(services, { sweep }, outdated)).rejects.toThrow("lane");
  await world.work();
  expect(await statesAt(agreed)).toEqual([[PAID, "planned"]]);
  await pool.query("update lanes set server = null where sender = $1", [sender]);
  await world.untilSettled(agreed.at, 1);
  expect((await statesAt(agreed)).map(([, state]) => state)).toEqual(["void", "final"]);
});

test.each(["before depositAddresses.voidSweep", "before commit", "after commit"])(
  "sweeps the funds once and fills once if the process crashes %s while it voids a sweep",
  async (moment) => {
    const agreed = await waitingSweep();
    await outdate(agreed);
    const workerServices = crashingServices(world.services, (name) => name === moment);
    await expect(world.work(workerServices)).rejects.toSatisfy(isCrash);
    const [successor] = await world.untilSettled(agreed.at, 1);
    expect(await statesAt(agreed)).toEqual([
      [PAID, "void"],
      [PAID, "final"],
    ]);
    expect(await world.requestsOf(agreed.at)).toEqual([agreed.requestId, successor]);
    const { expectedAmount } = (await world.request(successor ?? "0x")).terms.destination;
    expect(await received(agreed)).toBe(expectedAmount);
  },
);
