import { pay } from "../../../apps/api/src/payments/pay-leg.ts";
import { fillLeg, type WantedFill } from "../../../apps/api/src/payments/legs/fill-leg.ts";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address, RequestId } from "@causeway/domain";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { trackLane } from "../../../apps/api/src/payments/track-lane.ts";
import { loadTrail, scanChain } from "../../../apps/api/src/deposits/scan-chain.ts";
import { groupedPayments, payTogether } from "../../../apps/api/src/payments/pay-together.ts";
import { crashAtEveryStep } from "../../support/crash-at-every-step.ts";
import {
  startEngineWorld,
  type QuotedRequest,
  type QuoteOverrides,
  type EngineWorld,
} from "../../support/engine-world.ts";

let world: EngineWorld;

beforeEach(async () => {
  world = await startEngineWorld({ chain: { finalityBlocks: 2 } });
});
afterEach(async () => {
  await world.stop();
});

interface Due {
  readonly agreed: QuotedRequest;
  readonly recipient: Address;
}

/** Requests with a confirmed deposit whose fill has not started. */
async function due(count: number, ask: QuoteOverrides = {}): Promise<readonly Due[]> {
  const { origin } = world;
  const list: Due[] = [];
  for (let n = 0; n < count; n++) {
    const recipient = world.anAddress();
    const agreed = await world.quote({ recipient, ...ask });
    await world.pay(agreed);
    list.push({ agreed, recipient });
  }
  for (let round = 0; round < 10; round++) {
    await origin.mine();
    await world.watch(origin);
  }
  for (const { agreed } of list)
    expect(await world.request(agreed.requestId)).toMatchObject({ state: { name: "fillable" } });
  return list;
}

/** Fills all requests concurrently, like a worker with several jobs. */
async function fillAll(by: WorkerServices, list: readonly Due[]): Promise<void> {
  const together = { ...by, payTogether: by.payTogether ?? groupedPayments(by) };
  const ends = await Promise.allSettled(
    list.map(async ({ agreed }) => await pay(together, fillLeg, agreed.requestId)),
  );
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

async function expectEachOnce(list: readonly Due[], moment?: string): Promise<void> {
  for (const { agreed, recipient } of list) {
    expect(await world.untilFinal(agreed.requestId), moment).toMatchObject({ status: "success" });
    const amount = BigInt(agreed.answer.details.currencyOut.amount ?? 0);
    expect(await world.destination.balance(recipient, world.usdc), moment).toBe(amount);
    expect(await world.paymentsOf(agreed, world.destination), moment).toHaveLength(1);
  }
}

test("simultaneous fills get consecutive nonces in few commits, and each fill pays once even if it is started twice", async () => {
  const { services, destination, solver } = world;
  const list = await due(10);
  let commits = 0;
  const uow: WorkerServices["uow"] = {
    run: async (work) => {
      commits++;
      return await services.uow.run(work);
    },
  };
  await Promise.all([fillAll({ ...services, uow }, list), fillAll(services, list)]);
  expect(commits).toBeLessThan(20);
  const slots = await services.reads.unsettledSlots(destination.chain.id, solver.address);
  expect(slots.map(({ nonce }) => nonce)).toEqual(slots.map((_, n) => (slots[0]?.nonce ?? 0) + n));
  expect(new Set(slots.map(({ leg }) => leg.requestId)).size).toBe(10);
  for (const { attempts } of slots) {
    expect(attempts).toHaveLength(1);
    expect(attempts[0]?.broadcastAtMs).toBeDefined();
  }
  expect(world.events.of("fill_planned")).toHaveLength(10);
  expect(world.events.of("attempt_broadcast")).toHaveLength(10);
  for (const { agreed } of list)
    expect(await world.request(agreed.requestId)).toMatchObject({ state: { name: "submitted" } });
  await expectEachOnce(list);
  await fillAll(services, list);
  expect(await services.reads.unsettledSlots(destination.chain.id, solver.address)).toEqual([]);
});

test("a fill that is planned with others has the same trace as one that is planned alone", async () => {
  const list = await due(3);
  const [alone, ...others] = list;
  if (alone === undefined) throw new Error("no request is due");
  await pay(world.services, fillLeg, alone.agreed.requestId);
  await fillAll(world.services, others);
  const traceOf = async ({ agreed }: Due) =>
    (
      await world.pool.query<{ event: string; detail: string }>(
        "select event, detail from request_events where request_id = $1 order by id",
        [agreed.requestId],
      )
    ).rows.map(({ event, detail }) => [event, Object.keys(JSON.parse(detail) as object)]);
  for (const other of others) expect(await traceOf(other)).toEqual(await traceOf(alone));
  expect((await traceOf(alone)).map(([event]) => event)).toContain("fillBroadcast");
});

test("as many simultaneous fills as the solver's balance covers get a nonce, and the others wait", async () => {
  const { services, destination, solver, usdc } = world;
  const list = await due(4);
  const amounts = list.map(({ agreed }) => BigInt(agreed.answer.details.currencyOut.amount ?? 0));
  const amountOfTwo = amounts.slice(0, 2).reduce((sum, amount) => sum + amount, 0n);
  const { pulse } = destination.connected;
  const poor = {
    ...pulse,
    solverBalance: (currency: Address) => ({
      ...pulse.solverBalance(currency),
      ...(currency === usdc ? { amount: amountOfTwo + 1n } : {}),
    }),
  };
  const chains: WorkerServices["chains"] = {
    ...services.chains,
    get: (id) =>
      id === destination.chain.id ? { ...destination.connected, pulse: poor } : services.chains.get(id),
  };
  await fillAll({ ...services, chains }, list);
  expect(await services.reads.unsettledSlots(destination.chain.id, solver.address)).toHaveLength(2);
  expect(world.events.of("fill_waits")).toHaveLength(2);
  await expectEachOnce(list);
});

test("fills between different assets share a commit, and beyond the limit per minute each counts alone", async () => {
  const { services, destination, solver, clock } = world;
  // Each counts 100 USD.
  const list = await due(5, { destinationCurrency: NATIVE_CURRENCY });
  const open = async () => await services.reads.unsettledSlots(destination.chain.id, solver.address);
  const countedUsd = async () =>
    (
      await world.pool.query<{ usd: string }>(
        "select distinct trunc(usd / 1e18)::text as usd from price_exposure",
      )
    ).rows;
  const bounded = {
    ...services,
    enginePolicy: { ...services.enginePolicy, maxPriceExposureUsd: 250 },
  };
  clock.forward(60_000 - (clock.nowMs() % 60_000));
  const plans = await plansOf(list, bounded);
  expect(await payTogether(bounded, fillLeg, plans.slice(0, 2))).toEqual(["sent", "sent"]);
  expect(new Set((await open()).map(({ createdAtMs }) => createdAtMs)).size).toBe(1);
  expect(await countedUsd()).toEqual([{ usd: "200" }]);

  // A new minute: together they exceed the limit, but two of them do not.
  clock.forward(60_000 - (clock.nowMs() % 60_000));
  const ends = await payTogether(bounded, fillLeg, plans.slice(2));
  expect(ends.filter((end) => end === "sent")).toHaveLength(2);
  expect(ends.find((end) => end !== "sent")).toMatchObject({ kind: "refused", reason: "SLIPPAGE" });
  expect(await open()).toHaveLength(4);
  expect(await countedUsd()).toEqual([{ usd: "200" }]);
});

test("a fill over the limit per minute waits, and the others of its batch share one commit", async () => {
  const { services, clock } = world;
  // Each of the first two counts 100 USD, the others nothing.
  const list = [...(await due(2, { destinationCurrency: NATIVE_CURRENCY })), ...(await due(2))];
  let reservations = 0;
  const uow: WorkerServices["uow"] = {
    run: async (work) =>
      await services.uow.run(async (tx) => {
        const reserve: typeof tx.lanes.reserve = async (...plans) => {
          reservations++;
          return await tx.lanes.reserve(...plans);
        };
        return await work({ ...tx, lanes: { ...tx.lanes, reserve } });
      }),
  };
  const enginePolicy = { ...services.enginePolicy, maxPriceExposureUsd: 150 };
  clock.forward(60_000 - (clock.nowMs() % 60_000));
  const [first, ...others] = await plansOf(list);
  if (first === undefined) throw new Error("no request is due");
  expect(await payTogether({ ...services, enginePolicy }, fillLeg, [first])).toEqual(["sent"]);
  const [over, ...ends] = await payTogether({ ...services, uow, enginePolicy }, fillLeg, others);
  expect(over).toMatchObject({ kind: "refused", reason: "SLIPPAGE" });
  expect(ends).toEqual(["sent", "sent"]);
  expect(reservations).toBe(1);
  clock.forward(60_000);
  expect(await payTogether({ ...services, enginePolicy }, fillLeg, others.slice(0, 1))).toEqual(["sent"]);
  await expectEachOnce(list.slice(2));
});

test("the same fill twice in one batch is paid once", async () => {
  const [dueFill] = await due(1);
  if (dueFill === undefined) throw new Error("no request is due");
  const [plan] = await plansOf([dueFill]);
  if (plan === undefined) throw new Error("no request is due");
  const ends = await payTogether(world.services, fillLeg, [plan, { ...plan }]);
  expect(ends).toEqual(["sent", "sent"]);
  await expectEachOnce([dueFill]);
});

/** Plans these fills without sending them. */
async function plansOf(list: readonly Due[], by = world.services): Promise<readonly WantedFill[]> {
  const fills = new Map<RequestId, WantedFill>();
  const noted: WorkerServices["payTogether"] = async (wanted) => {
    const fill = wanted as WantedFill;
    fills.set(fill.requestId, fill);
    return "moved";
  };
  for (const { agreed } of list) await pay({ ...by, payTogether: noted }, fillLeg, agreed.requestId);
  return [...fills.values()];
}

test("a fill that cannot be reserved fails alone, and the others of its batch are sent", async () => {
  const list = await due(3);
  const [broken, ...others] = await plansOf(list);
  if (broken === undefined) throw new Error("no request is due");
  const unknown: Address = "0x00000000000000000000000000000000000000ff";
  const outflow = { ...broken.plan.outflow, currency: unknown };
  const fills = [{ ...broken, plan: { ...broken.plan, outflow } }, ...others];
  const ends = await payTogether(world.services, fillLeg, fills);
  expect(ends).toEqual([expect.any(RangeError), "sent", "sent"]);
  await expectEachOnce(list);
});

test("a fill whose checks are too old takes no nonce and is checked again", async () => {
  const { services, destination, solver } = world;
  const list = await due(2);
  const [old, fresh] = await plansOf(list);
  if (old === undefined || fresh === undefined) throw new Error("no request is due");
  const fills = [{ ...old, checkedAtMs: performance.now() - 21_000 }, fresh];
  expect(await payTogether(services, fillLeg, fills)).toEqual(["late", "sent"]);
  expect(await services.reads.unsettledSlots(destination.chain.id, solver.address)).toHaveLength(1);
  await expectEachOnce(list);
});

test("a plan for an orphaned deposit does not block another plan for the same request", async () => {
  const [dueFill] = await due(1);
  if (dueFill === undefined) throw new Error("no request is due");
  const [plan] = await plansOf([dueFill]);
  if (plan?.basis.kind !== "deposit") throw new Error("no request is due");
  const gone = {
    ...plan,
    basis: { ...plan.basis, deposit: { ...plan.basis.deposit, id: "999999" as never } },
  };
  expect(await payTogether(world.services, fillLeg, [gone, plan])).toEqual(["sent", "sent"]);
  await expectEachOnce([dueFill]);
});

/** Scans the newest block, and then tracks the lane. */
async function track(by: WorkerServices): Promise<void> {
  const { services, destination } = world;
  const { connected } = destination;
  const head = await destination.announce();
  const trail = await scanChain(services, connected, await loadTrail(services, connected), head);
  await trackLane(by, connected, trail);
}

const statesOf = async (): Promise<readonly string[]> =>
  (
    await world.pool.query<{ state: string }>(
      "select state from slots where leg_kind = 'fill' order by nonce",
    )
  ).rows.map(({ state }) => state);

test("fills of one block share the commit that makes them mined, and the one that makes them final", async () => {
  const { services, destination } = world;
  const list = await due(6);
  await fillAll(services, list);
  let commits = 0;
  const uow: WorkerServices["uow"] = {
    run: async (work) => {
      commits++;
      return await services.uow.run(work);
    },
  };
  await destination.mine();
  await track({ ...services, uow });
  expect(await statesOf()).toEqual(list.map(() => "mined"));
  expect(commits).toBe(1);
  await destination.mine();
  await track({ ...services, uow });
  expect(await statesOf()).toEqual(list.map(() => "final"));
  expect(commits).toBe(2);
  expect(world.events.of("slot_mined")).toHaveLength(6);
  expect(world.events.of("slot_final")).toHaveLength(6);
  await expectEachOnce(list);
});

test("if the outcome of one fill cannot be stored, the outcomes of all other fills in the block are stored", async () => {
  const { services, destination, solver } = world;
  const list = await due(3);
  await fillAll(services, list);
  const [, broken] = await services.reads.unsettledSlots(destination.chain.id, solver.address);
  const uow: WorkerServices["uow"] = {
    run: async (work) =>
      await services.uow.run(async (tx) => {
        const setMined: typeof tx.lanes.setMined = async (mined, atMs) => {
          if (mined.some(({ slotId }) => slotId === broken?.id))
            throw new Error("this slot cannot be stored");
          await tx.lanes.setMined(mined, atMs);
        };
        return await work({ ...tx, lanes: { ...tx.lanes, setMined } });
      }),
  };
  await destination.mine();
  await expect(track({ ...services, uow })).rejects.toThrow("this slot cannot be stored");
  expect(await statesOf()).toEqual(["mined", "open", "mined"]);
  expect(world.events.of("slot_mined")).toHaveLength(2);
  await expectEachOnce(list);
});

test("whenever the process crashes while it stores the outcomes of fills together, each pays exactly once", async () => {
  let list: readonly Due[] = [];
  const crashes = await crashAtEveryStep(world, {
    prepare: async () => {
      list = await due(2);
      const [first] = list;
      if (first === undefined) throw new Error("no request is due");
      await fillAll(world.services, list);
      await world.destination.mine();
      return first.agreed;
    },
    run: async (by) => {
      await track(by);
      await world.destination.mine();
      await track(by);
    },
    verify: async (_, moment) => await expectEachOnce(list, moment),
  });
  for (const moment of [
    "before requests.lockAll",
    "before lanes.lockSlots",
    "before lanes.setMined",
    "before lanes.setFinal",
    "before commit",
    "after commit",
  ])
    expect(crashes).toContain(moment);
}, 300_000);

test("whenever the process crashes while it sends fills together, each fill pays exactly once", async () => {
  let list: readonly Due[] = [];
  const crashes = await crashAtEveryStep(world, {
    prepare: async () => {
      list = await due(3);
      const [first] = list;
      if (first === undefined) throw new Error("no request is due");
      return first.agreed;
    },
    run: async (by) => {
      const fills = await plansOf(list, by);
      for (const sent of await payTogether(by, fillLeg, fills)) if (sent instanceof Error) throw sent;
    },
    verify: async (_, moment) => await expectEachOnce(list, moment),
  });
  for (const moment of [
    "before requests.lockAll",
    "before lanes.reserve",
    "after commit",
    "before sign",
    "before lanes.addAttempts",
    "before broadcast",
    "after broadcast",
    "before lanes.setBroadcasts",
  ])
    expect(crashes).toContain(moment);
}, 300_000);
