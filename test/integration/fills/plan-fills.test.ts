import { pay } from "../../../apps/api/src/payments/pay.ts";
import { fillLeg } from "../../../apps/api/src/payments/legs/fill-leg.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { createFillsAhead, planAhead } from "../../../apps/api/src/payments/fills-ahead.ts";
import { startEngineWorld, type Agreed, type EngineWorld } from "../../support/engine-world.ts";

let world: EngineWorld;

beforeEach(async () => {
  world = await startEngineWorld({ chain: { finalityBlocks: 2 } });
});
afterEach(async () => {
  await world.stop();
});

async function fillable(): Promise<Agreed> {
  const agreed = await world.quote({ recipient: world.anAddress() });
  await world.pay(agreed);
  for (let block = 0; block < 10; block++) {
    await world.origin.mine();
    await world.watch(world.origin);
  }
  return agreed;
}

type Reader = EngineWorld["destination"]["connected"]["connection"]["reader"];

/** A worker with this reader of the destination, whose fills are planned and not sent. */
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

test("a plain fill makes three calls to its node, in one tick", async () => {
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

test("a fill that was planned while its job was queued makes no more calls to its node", async () => {
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
  planAhead(ahead, agreed.requestId);
  expect(await pay(ahead, fillLeg, agreed.requestId)).toEqual({ waitMs: 0 });
  expect(planned).toHaveLength(1);
  expect(requests).toBe(1);
});

test("a fill that was planned ahead pays nothing if another process has paid it meanwhile", async () => {
  const agreed = await fillable();
  const ahead = { ...world.services, fillsAhead: createFillsAhead() };
  planAhead(ahead, agreed.requestId);
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
  planAhead(ahead, agreed.requestId);
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
