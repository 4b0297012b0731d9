import { pay } from "../../../apps/api/src/payments/pay-leg.ts";
import { fillLeg } from "../../../apps/api/src/payments/legs/fill-leg.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { createFillsAhead, planAhead } from "../../../apps/api/src/payments/fills-ahead.ts";
import { NOT_STORED } from "../../../apps/api/src/deposits/plan-likely-fills.ts";
import { crashAtEveryStep } from "../../support/crash-at-every-step.ts";
import { startEngineWorld, type QuotedRequest, type EngineWorld } from "../../support/engine-world.ts";

let world: EngineWorld;

beforeEach(async () => {
  world = await startEngineWorld({ chain: { finalityBlocks: 2 } });
});
afterEach(async () => {
  await world.stop();
});

async function fillable(): Promise<QuotedRequest> {
  const agreed = await world.quote({ recipient: world.anAddress() });
  await world.pay(agreed);
  for (let block = 0; block < 10; block++) {
    await world.origin.mine();
    await world.watch(world.origin);
  }
  return agreed;
}

/** Plans the fill of a request while its deposit is committed, before the fill's job runs. */
async function planNow(by: WorkerServices, { requestId }: QuotedRequest): Promise<void> {
  const request = await world.services.reads.request(requestId);
  const deposit = await world.services.reads.deposit(request?.state.depositId ?? "");
  if (request === undefined || deposit === undefined) throw new Error("the request has no deposit");
  planAhead(by)(request, deposit);
}

type Reader = EngineWorld["destination"]["connected"]["connection"]["reader"];

/** A worker that reads the destination with this reader, and plans fills without sending them. */
function planning(by: Partial<Reader>): { readonly services: WorkerServices; readonly planned: unknown[] } {
  const { services, destination } = world;
  const { connected } = destination;
  const reader = { ...connected.connection.reader, ...by };
  const other = { ...connected, connection: { ...connected.connection, reader } };
  const get = (id: number) => (id === destination.chain.id ? other : services.chains.get(id));
  const planned: unknown[] = [];
  const payTogether: WorkerServices["payTogether"] = async (fill) => {
    planned.push(fill);
    return "sent";
  };
  return { services: { ...services, payTogether, chains: { ...services.chains, get } }, planned };
}

test("planning a plain fill makes three concurrent calls to the node", async () => {
  const agreed = await fillable();
  const { reader } = world.destination.connected.connection;
  let ticks = 0;
  const calls: string[] = [];
  const noted = (name: string): void => {
    if (calls.length === 0) setImmediate(() => void ticks++);
    calls.push(`${name} in tick ${ticks}`);
  };
  const { services, planned } = planning({
    nonce: async (account, at) => {
      noted(`nonce ${at}`);
      return await reader.nonce(account, at);
    },
    simulate: async (...question) => {
      noted("simulate");
      return await reader.simulate(...question);
    },
    hasCode: async (account) => {
      noted("hasCode");
      return await reader.hasCode(account);
    },
  });
  expect(await pay(services, fillLeg, agreed.requestId)).toEqual({ waitMs: 0 });
  expect(planned).toHaveLength(1);
  expect(calls.toSorted()).toEqual([
    "nonce latest in tick 0",
    "nonce pending in tick 0",
    "simulate in tick 0",
  ]);
});

test("a fill that was planned during its deposit's commit makes no further calls to the node", async () => {
  const agreed = await fillable();
  const { reader } = world.destination.connected.connection;
  let requests = 0;
  const { services, planned } = planning({
    simulate: async (...question) => {
      requests++;
      return await reader.simulate(...question);
    },
  });
  const ahead = { ...services, fillsAhead: createFillsAhead() };
  await planNow(ahead, agreed);
  expect(await pay(ahead, fillLeg, agreed.requestId)).toEqual({ waitMs: 0 });
  expect(planned).toHaveLength(1);
  expect(requests).toBe(1);
});

test("a job that would abandon a fill raises no alarm if another job has reserved the fill in the meantime", async () => {
  const agreed = await fillable();
  const { services, events } = world;
  const request = await services.reads.request(agreed.requestId);
  if (request === undefined) throw new Error("the request was not stored");
  const giveUp = async () =>
    await fillLeg.giveUp?.(services, { request }, { reason: "UNKNOWN", detail: "the node refuses it" });
  expect(await pay(services, fillLeg, agreed.requestId)).toEqual({ waitMs: 0 });
  expect(await giveUp()).toEqual({ waitMs: 0 });
  expect(events.of("fill_impossible")).toEqual([]);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "submitted" });
});

test("a fill is planned before its deposit is committed, for the deposit that is stored", async () => {
  const agreed = await world.quote({ recipient: world.anAddress() });
  await world.pay(agreed);
  const { reader } = world.destination.connected.connection;
  let simulations = 0;
  const { services, planned } = planning({
    simulate: async (...question) => {
      simulations++;
      return await reader.simulate(...question);
    },
  });
  const ahead = { ...services, fillsAhead: createFillsAhead() };
  const plan = planAhead(ahead);
  const order: string[] = [];
  const { uow } = world.services;
  const watching: WorkerServices = {
    ...world.services,
    planAhead: (request, deposit) => {
      order.push(deposit.id);
      plan(request, deposit);
    },
    uow: {
      run: async (work, options) =>
        await uow.run(async (tx) => {
          const done = await work(tx);
          order.push("commit");
          return done;
        }, options),
    },
  };
  await world.origin.mine();
  await world.watch(world.origin, watching);
  const depositId = (await world.request(agreed.requestId))?.state.depositId;
  expect(order.slice(0, 3), "begins before the deposit has an id").toEqual([NOT_STORED, depositId, "commit"]);
  expect(await pay(ahead, fillLeg, agreed.requestId)).toEqual({ waitMs: 0 });
  expect(planned).toMatchObject([{ basis: { deposit: { id: depositId } } }]);
  expect(simulations).toBe(1);
});

test("a deposit that leads to no fill leaves no plan that its request could use", async () => {
  const agreed = await world.quote({ recipient: world.anAddress(), referrer: "debug-force-refund" });
  await world.pay(agreed);
  const ahead = { ...world.services, fillsAhead: createFillsAhead() };
  await world.origin.mine();
  await world.watch(world.origin, { ...ahead, planAhead: planAhead(ahead) });
  expect((await world.request(agreed.requestId))?.state.name).not.toBe("fillable");
  expect(await ahead.fillsAhead.take(agreed.requestId)).toBeUndefined();
});

test("a plan for a deposit whose transaction was rolled back pays nothing, and the stored deposit is filled", async () => {
  const agreed = await fillable();
  const ahead = { ...world.services, fillsAhead: createFillsAhead() };
  const request = await world.request(agreed.requestId);
  const deposit = await world.services.reads.deposit(request?.state.depositId ?? "");
  if (request === undefined || deposit === undefined) throw new Error("the request has no deposit");
  const rolledBack = { ...deposit, id: "999999" as typeof deposit.id, amount: deposit.amount * 2n };
  planAhead(ahead)({ ...request, state: { ...request.state, depositId: rolledBack.id } }, rolledBack);
  expect(await pay(ahead, fillLeg, agreed.requestId)).toEqual({ waitMs: 0 });
  const [planned, ...more] = world.events.of("fill_planned");
  expect(more).toEqual([]);
  expect(planned?.facts["amount"]).toBeLessThanOrEqual(deposit.amount);
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({ status: "success" });
});

test("whenever the process crashes around a fill that it plans at the commit, the recipient is paid exactly once", async () => {
  const { origin, destination } = world;
  const crashes = await crashAtEveryStep(world, {
    prepare: async () => {
      const agreed = await world.quote({ recipient: world.anAddress() });
      await world.pay(agreed);
      await origin.mine();
      return agreed;
    },
    run: async (crashing) => {
      const by = { ...crashing, fillsAhead: createFillsAhead() };
      await world.watch(origin, { ...by, planAhead: planAhead(by) });
      await world.work(by);
    },
    verify: async (agreed, moment) => {
      expect(await world.status(agreed.requestId), moment).toMatchObject({ status: "success" });
      expect(await world.paymentsOf(agreed, destination), moment).toHaveLength(1);
    },
  });
  // The moments of the deposit's transaction can come before or after those of the plan.
  for (const moment of ["after commit", "before lanes.reserve", "after broadcast"])
    expect(crashes).toContain(moment);
}, 120_000);

test("a fill that was planned ahead pays nothing if another process has paid it meanwhile", async () => {
  const agreed = await fillable();
  const ahead = { ...world.services, fillsAhead: createFillsAhead() };
  await planNow(ahead, agreed);
  await pay(world.services, fillLeg, agreed.requestId);
  expect(await pay(ahead, fillLeg, agreed.requestId)).toEqual({ waitMs: 0 });
  expect(world.events.of("fill_planned")).toHaveLength(1);
  expect(await world.untilFinal(agreed.requestId)).toMatchObject({ status: "success" });
  expect(await world.paymentsOf(agreed, world.destination)).toHaveLength(1);
});

test("the fill's job, and not the plan made ahead, decides whether the fill is refused", async () => {
  const agreed = await fillable();
  const { services, planned } = planning({ nonce: async () => 1_000_000 });
  const ahead = { ...services, fillsAhead: createFillsAhead() };
  await planNow(ahead, agreed);
  expect(await pay(ahead, fillLeg, agreed.requestId)).toMatchObject({ waitMs: 1_000 });
  expect(planned).toEqual([]);
});

const refusing: Partial<Reader> = {
  simulate: async () => ({ kind: "reverts", data: "0x", reason: "the token reverts" }),
};

test.each<[string, Partial<Reader>]>([
  ["could be made", {}],
  ["would be refused permanently", refusing],
])("while the sending key has an unexplained nonce, a fill that %s waits", async (_what, by) => {
  const agreed = await fillable();
  const { services, planned } = planning({ ...by, nonce: async () => 1_000_000 });
  expect(await pay(services, fillLeg, agreed.requestId)).toEqual({
    waitMs: 1_000,
    why: "the sending key used a nonce that the database does not know",
  });
  expect(planned).toEqual([]);
  expect(await world.request(agreed.requestId)).toMatchObject({ state: { name: "fillable" } });
});
