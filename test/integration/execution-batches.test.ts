import { ONE_USD } from "@causeway/domain";
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { groupedAcceptance } from "../../apps/api/src/container-executions.ts";
import type { Services } from "../../apps/api/src/ports/services.ts";
import { startExecutionWorld, type ExecutionWorld } from "../support/execution-world.ts";

let world: ExecutionWorld;

beforeEach(async () => {
  world = await startExecutionWorld({ chain: { finalityBlocks: 2 } });
});
afterEach(async () => {
  expect(await world.brokenLaws()).toEqual([]);
  await world.stop();
});

const random = { bytes32: () => `0x${randomBytes(32).toString("hex")}` as const };

/** The services with calls of one moment accepted together; `commits` counts the transactions that were begun. */
function together(): { readonly services: Services; readonly commits: () => number } {
  let commits = 0;
  const { uow } = world.services;
  const counted: Services = {
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

test("calls of one moment are accepted in few commits, and each is written, sent and charged as if it were alone", async () => {
  const { services, commits } = together();
  const recipients = Array.from({ length: 12 }, () => world.anAddress());
  const ids = await Promise.all(
    recipients.map(async (recipient) => await world.execute(world.mintCall(recipient), world.app, services)),
  );
  expect(new Set(ids).size).toBe(12);
  expect(commits()).toBeLessThan(8);
  // What one commit of its own writes.
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

test("of calls of one moment those are accepted that the balance bears, and the others leave no trace", async () => {
  const { services } = together();
  const probe = await world.anApp();
  const { costUsd } = await world.execution(
    await world.execute(world.mintCall(world.anAddress()), probe, services),
  );
  // Enough for three and a half.
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

test("calls with budgets keep to them although others of their moment are accepted together", async () => {
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

test("when a common commit fails each of its calls is accepted by itself", async () => {
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
            throw new Error("the database went away");
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
