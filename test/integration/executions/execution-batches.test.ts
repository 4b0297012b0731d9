import { pay } from "../../../apps/api/src/payments/pay-leg.ts";
import { executionLeg } from "../../../apps/api/src/payments/legs/execution-leg.ts";
import type { Address, RequestId } from "@causeway/domain";
import { ONE_USD } from "@causeway/domain";
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { groupedAcceptance } from "../../../apps/api/src/executions/grouped-acceptance.adapter.ts";
import type { WantedPayment } from "../../../apps/api/src/payments/wanted-payment.port.ts";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { groupedPayments, payTogether } from "../../../apps/api/src/payments/pay-together.ts";
import { crashAtEveryStep } from "../../support/crash-at-every-step.ts";
import type { QuotedRequest } from "../../support/engine-world.ts";
import { startExecutionWorld, type ExecutionWorld } from "../../support/execution-world.ts";

let world: ExecutionWorld;

beforeEach(async () => {
  world = await startExecutionWorld({ chain: { finalityBlocks: 2 } });
});
afterEach(async () => {
  expect(await world.violatedInvariants()).toEqual([]);
  await world.stop();
});

const random = { bytes32: () => `0x${randomBytes(32).toString("hex")}` as const };

/**
 * Services that accept simultaneous calls in groups. `commits` returns the number of transactions that were
 * begun.
 */
function together(): { readonly services: WorkerServices; readonly commits: () => number } {
  let commits = 0;
  const { uow } = world.services;
  const counted: WorkerServices = {
    ...world.services,
    uow: {
      run: async (work) => {
        commits++;
        return await uow.run(work);
      },
    },
  };
  const services = { ...counted, accept: groupedAcceptance({ ...counted, random }) };
  return { services, commits: () => commits };
}

const rowsOf = async (table: string): Promise<number> =>
  (await world.pool.query(`select from ${table}`)).rowCount ?? 0;

test("accepts simultaneous calls in few commits, and stores, broadcasts and charges each call separately", async () => {
  const { services, commits } = together();
  const recipients = Array.from({ length: 12 }, () => world.anAddress());
  const ids = await Promise.all(
    recipients.map(async (recipient) => await world.execute(world.mintCall(recipient), world.app, services)),
  );
  expect(new Set(ids).size).toBe(12);
  expect(commits()).toBeLessThan(8);
  // The rows that the commit for a single call writes.
  const alone = await world.execute(world.mintCall(world.anAddress()));
  const traceOf = async (id: string) =>
    (
      await world.pool.query<{ event: string; detail: string }>(
        "select event, detail from request_events where request_id = $1 order by id",
        [id],
      )
    ).rows.map(({ event, detail }) => [event, Object.keys(JSON.parse(detail) as object)]);
  const [first] = ids;
  if (first === undefined) throw new Error("nothing was accepted");
  expect(await traceOf(first)).toEqual(await traceOf(alone));
  expect(Object.entries(await world.execution(first)).map(([name, value]) => [name, typeof value])).toEqual(
    Object.entries(await world.execution(alone)).map(([name, value]) => [name, typeof value]),
  );
  expect(await rowsOf("fee_reservations where state = 'open'")).toBe(13);
  expect(await rowsOf("outbox where job_name = 'execute'")).toBe(13);

  for (const id of [...ids, alone]) expect(await world.untilFinal(id)).toMatchObject({ status: "success" });
  for (const recipient of recipients) expect(await world.origin.balance(recipient, world.usdc)).toBe(5n);
  const { balance, pending, fees } = await world.book();
  expect({ pending, sum: balance + fees }).toEqual({ pending: 0n, sum: 1_000_000_000n });
});

test("accepts as many simultaneous calls as the balance covers, and stores nothing about the others", async () => {
  const { services } = together();
  const probe = await world.anApp();
  const { costUsd } = await world.execution(
    await world.execute(world.mintCall(world.anAddress()), probe, services),
  );
  // The balance is enough for three and a half calls.
  const poor = await world.anApp({}, (costUsd * 7n) / 2n / (ONE_USD / 1_000_000n));
  const ends = await Promise.allSettled(
    Array.from(
      { length: 9 },
      async () => await world.execute(world.mintCall(world.anAddress()), poor, services),
    ),
  );
  expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  for (const end of ends)
    if (end.status === "rejected") expect(end.reason).toMatchObject({ code: "INSUFFICIENT_FUNDS" });
  expect(await rowsOf("executions")).toBe(4);
  expect(await rowsOf("requests")).toBe(4);
  expect(await rowsOf("outbox where job_name = 'execute'")).toBe(4);
});

test("simultaneous calls that are accepted together stay within their budgets", async () => {
  const { services } = together();
  const probe = await world.execution(await world.execute(world.mintCall(world.anAddress())));
  const thrifty = await world.anApp({}, 1_000_000_000n, { dailyUsd: (probe.costUsd * 5n) / 2n });
  const ends = await Promise.allSettled(
    Array.from(
      { length: 6 },
      async () => await world.execute(world.mintCall(world.anAddress()), thrifty, services),
    ),
  );
  expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
});

test("when a shared commit fails, each of its calls is accepted separately", async () => {
  const { services } = together();
  const { uow } = services;
  let failures = 0;
  const accept = groupedAcceptance({
    ...services,
    random,
    uow: {
      run: async (work) =>
        await uow.run(async (tx) => {
          const addCalls: typeof tx.executions.addCalls = async (calls) => {
            await tx.executions.addCalls(calls);
            failures++;
            throw new Error("the database is unavailable");
          };
          return await work({ ...tx, executions: { ...tx.executions, addCalls } });
        }),
    },
  });
  const by = { ...services, accept };
  const ids = await Promise.all(
    Array.from(
      { length: 4 },
      async () => await world.execute(world.mintCall(world.anAddress()), world.app, by),
    ),
  );
  expect(failures).toBeGreaterThan(0);
  expect(await rowsOf("executions")).toBe(4);
  expect(await rowsOf("fee_reservations")).toBe(4);
  for (const id of ids) expect(await world.untilFinal(id)).toMatchObject({ status: "success" });
});

/** Accepts this many calls. Each call mints for its own recipient. */
async function accepted(count: number): Promise<Map<RequestId, Address>> {
  const calls = new Map<RequestId, Address>();
  for (let n = 0; n < count; n++) {
    const recipient = world.anAddress();
    calls.set(await world.execute(world.mintCall(recipient)), recipient);
  }
  return calls;
}

/** Submits all calls concurrently, like a worker with several jobs. */
async function submitAll(by: WorkerServices, ids: Iterable<RequestId>): Promise<void> {
  const together = { ...by, payTogether: by.payTogether ?? groupedPayments(by) };
  const ends = await Promise.allSettled([...ids].map(async (id) => await pay(together, executionLeg, id)));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

async function expectEachOnce(calls: ReadonlyMap<RequestId, Address>, moment?: string): Promise<void> {
  for (const [id, recipient] of calls) {
    expect(await world.untilFinal(id), moment).toMatchObject({ status: "success" });
    expect(await world.origin.balance(recipient, world.usdc), moment).toBe(5n);
  }
}

test("simultaneous calls get consecutive nonces in few commits, and each call is broadcast once, however often it is submitted", async () => {
  const { origin, executor, services } = world;
  const calls = await accepted(10);
  let commits = 0;
  const uow: WorkerServices["uow"] = {
    run: async (work) => {
      commits++;
      return await services.uow.run(work);
    },
  };
  await Promise.all([submitAll({ ...services, uow }, calls.keys()), submitAll(services, calls.keys())]);
  expect(commits).toBeLessThan(25);
  const slots = await services.reads.unsettledSlots(origin.chain.id, executor);
  expect(slots.map(({ nonce }) => nonce)).toEqual(slots.map((_, n) => (slots[0]?.nonce ?? 0) + n));
  expect(new Set(slots.map(({ leg }) => leg.requestId)).size).toBe(10);
  for (const { attempts } of slots) {
    expect(attempts).toHaveLength(1);
    expect(attempts[0]?.broadcastAtMs).toBeDefined();
  }
  for (const id of calls.keys())
    expect(
      (
        await world.pool.query(
          "select from request_events where request_id = $1 and event = 'executionPlanned'",
          [id],
        )
      ).rowCount,
    ).toBe(1);
  await expectEachOnce(calls);
  await submitAll(services, calls.keys());
  expect(await origin.sentBy(executor)).toHaveLength(10);
});

test("as many simultaneous calls as the executor's native tokens cover get a nonce, and the others wait", async () => {
  const { origin, executor, services } = world;
  const calls = await accepted(5);
  const [first] = calls.keys();
  const { gasLimit } = await world.execution(first ?? "0x");
  const singleCost = gasLimit * origin.connected.pulse.gasPrices().maxFeePerGas;
  await origin.client.setBalance({ address: executor, value: 2n * singleCost + singleCost / 2n });
  await world.watch(origin);
  await submitAll(services, calls.keys());
  expect(await services.reads.unsettledSlots(origin.chain.id, executor)).toHaveLength(2);
  expect(world.events.of("execution_waits")).toHaveLength(3);
  await origin.client.setBalance({ address: executor, value: 10n ** 19n });
  await expectEachOnce(calls);
  expect(await origin.sentBy(executor)).toHaveLength(5);
});

/** Plans these calls without sending them. */
async function plansOf(ids: Iterable<RequestId>, by = world.services): Promise<readonly WantedPayment[]> {
  const plans: WantedPayment[] = [];
  const noted: WorkerServices["payTogether"] = async (plan) => {
    plans.push(plan);
    return "moved";
  };
  for (const id of ids) await pay({ ...by, payTogether: noted }, executionLeg, id);
  return plans;
}

test("a call that cannot be reserved fails alone, and the others of its batch are sent", async () => {
  const calls = await accepted(3);
  const [broken, ...others] = await plansOf(calls.keys());
  if (broken === undefined) throw new Error("nothing was accepted");
  const outflow = { currency: world.usdc, amount: 1n };
  const plans = [{ ...broken, plan: { ...broken.plan, outflow } }, ...others];
  const ends = await payTogether(world.services, executionLeg, plans);
  expect(ends).toEqual([expect.any(RangeError), "sent", "sent"]);
  expect(world.events.of("execution_planned")).toHaveLength(2);
  await expectEachOnce(calls);
});

test("calls that waited too long after their checks are not sent, and are checked again", async () => {
  const calls = await accepted(2);
  const wanted = await plansOf(calls.keys());
  const stale = wanted.map((item) => ({ ...item, checkedAtMs: performance.now() - 21_000 }));
  expect(await payTogether(world.services, executionLeg, stale)).toEqual(["late", "late"]);
  const late: WorkerServices["payTogether"] = async () => "late";
  for (const id of calls.keys())
    expect(await pay({ ...world.services, payTogether: late }, executionLeg, id)).toMatchObject({
      waitMs: 1_000,
    });
  await expectEachOnce(calls);
});

test("whenever the process crashes while it broadcasts calls together, each of them runs exactly once", async () => {
  let calls = new Map<RequestId, Address>();
  const crashes = await crashAtEveryStep(world, {
    prepare: async () => {
      calls = await accepted(3);
      const [first] = calls;
      if (first === undefined) throw new Error("nothing was accepted");
      const [requestId, recipient] = first;
      return { requestId, terms: { recipient } } as unknown as QuotedRequest;
    },
    run: async (by) => {
      const plans = await plansOf(calls.keys(), by);
      for (const sent of await payTogether(by, executionLeg, plans)) if (sent instanceof Error) throw sent;
    },
    verify: async (_, moment) => {
      await expectEachOnce(calls, moment);
      const { balance, pending, fees } = await world.book();
      expect({ pending, sum: balance + fees }, moment).toEqual({ pending: 0n, sum: 1_000_000_000n });
    },
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
}, 120_000);
