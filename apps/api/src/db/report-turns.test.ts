import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { LockTimeout } from "./lock-timeout.port.ts";
import type { UnitOfWork } from "./unit-of-work.port.ts";
import { createReportTurns, REPORT_LIMITS, REQUEST_REPORT_LIMITS, ReportsBusy } from "./report-turns.ts";

/** A database whose transactions last until the test ends them. */
function manualUow(): { uow: UnitOfWork; begun: string[]; end: (name: string) => Promise<void> } {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const uow: UnitOfWork = {
    async run(work) {
      // The work of these tests needs no transaction.
      const name = String(await work(undefined as never));
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return name as never;
    },
  };
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await sleep(0);
  };
  return { uow, begun, end };
}

const returning = (name: string) => async () => name;

test("callers take turns, however many reports one of them has waiting", async () => {
  const { uow, begun, end } = manualUow();
  const turnOf = createReportTurns(uow, { ...REPORT_LIMITS, maxConcurrent: 1, maxWaitMs: 10_000 });
  const reports = ["a1", "a2", "a3", "b1", "c1", "b2"].map(
    async (name) => await turnOf({ caller: name.slice(0, 1), chainId: 1 }).run(returning(name)),
  );
  await sleep(0);
  for (const name of ["a1", "a2", "b1", "c1", "a3", "b2"]) {
    expect(begun.at(-1)).toBe(name);
    await end(name);
  }
  await Promise.all(reports);
});

test("a chain whose reports all wait leaves slots for reports of other chains", async () => {
  const { uow, begun, end } = manualUow();
  const turnOf = createReportTurns(uow, {
    ...REPORT_LIMITS,
    maxConcurrent: 3,
    maxPerChain: 2,
    maxWaitMs: 10_000,
  });
  const reports = ["x1", "x2", "x3", "x4"].map(
    async (name) => await turnOf({ caller: "mallory", chainId: 1 }).run(returning(name)),
  );
  const otherChain = turnOf({ caller: "alice", chainId: 2 }).run(returning("y1"));
  await sleep(0);
  expect(begun).toEqual(["x1", "x2", "y1"]);
  await end("y1");
  expect(await otherChain).toBe("y1");
  for (const name of ["x1", "x2", "x3", "x4"]) await end(name);
  await Promise.all(reports);
});

test("a report that is not admitted in time, or whose caller has too many, can be repeated", async () => {
  const { uow, begun, end } = manualUow();
  const turnOf = createReportTurns(uow, {
    ...REPORT_LIMITS,
    maxConcurrent: 1,
    maxWaitingPerCaller: 1,
    maxWaitMs: 20,
  });
  const run = async (name: string) => await turnOf({ caller: "a", chainId: 1 }).run(returning(name));
  const first = run("first");
  const waiting = expect(run("waiting")).rejects.toThrow(ReportsBusy);
  await expect(run("too many")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE", retryable: true });
  await waiting;
  await end("first");
  await first;
  const again = run("again");
  await sleep(0);
  expect(begun).toEqual(["first", "again"]);
  await end("again");
  await again;
});

test("200 reports of requests by one caller at once are all admitted, and an endless stream is not", async () => {
  let maxOpen = 0;
  let open = 0;
  const uow: UnitOfWork = {
    async run(work) {
      maxOpen = Math.max(maxOpen, ++open);
      await sleep(1);
      open -= 1;
      return await work(undefined as never);
    },
  };
  const turnOf = createReportTurns(uow, REQUEST_REPORT_LIMITS);
  const burst = async (count: number) =>
    await Promise.allSettled(
      Array.from(
        { length: count },
        async () => await turnOf({ caller: "a", chainId: 1 }).run(returning("report")),
      ),
    );
  expect((await burst(200)).filter(({ status }) => status === "rejected")).toEqual([]);
  expect(maxOpen).toBe(REQUEST_REPORT_LIMITS.maxConcurrent);
  const refused = (await burst(1_000)).filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(
    1_000 - REQUEST_REPORT_LIMITS.maxConcurrent - REQUEST_REPORT_LIMITS.maxWaitingPerCaller,
  );
  expect(refused[0]).toMatchObject({ reason: { code: "SERVICE_UNAVAILABLE", retryable: true } });
});

test("a report that finds its row locked frees its slot, and so does one that fails", async () => {
  const failing: UnitOfWork = { run: async (work) => await work(undefined as never) };
  const turnOf = createReportTurns(failing, { ...REPORT_LIMITS, maxConcurrent: 1 });
  const run = async (error: Error) =>
    await turnOf({ caller: "a", chainId: 1 }).run(async () => {
      throw error;
    });
  await expect(run(new LockTimeout())).rejects.toThrow(ReportsBusy);
  await expect(run(new RangeError("other"))).rejects.toThrow(RangeError);
  expect(await turnOf({ caller: "a", chainId: 1 }).run(returning("next"))).toBe("next");
});
