import { createLifecycle, createLogger } from "@causeway/service-kit";
import { expect, test } from "vitest";
import { recordedEvents } from "../../../../test/fakes/recorded-events.ts";
import { repeating } from "./repeating.ts";

const silentLog = createLogger({ name: "test", level: "silent" });

test("a fault names the task that failed, and the task runs again", async () => {
  const [events, lifecycle] = [recordedEvents(), createLifecycle(silentLog, 1_000)];
  const repeat = repeating(lifecycle, events);
  let rounds = 0;
  repeat("pruning", 1, async () => {
    if (++rounds === 1) throw new Error("no");
  });
  await expect.poll(() => rounds).toBeGreaterThan(2);
  await lifecycle.close();
  expect(events.all).toMatchObject([{ level: "fault", event: "job_fault", facts: { job: "pruning" } }]);
});

test("runs a task immediately on request, otherwise after its first interval", async () => {
  const lifecycle = createLifecycle(silentLog, 1_000);
  const repeat = repeating(lifecycle, recordedEvents());
  const ran: string[] = [];
  repeat("later", 60_000, async () => void ran.push("later"));
  repeat("partitions", 60_000, async () => void ran.push("partitions"), { atStart: true });
  await lifecycle.close();
  expect(ran).toEqual(["partitions"]);
});

test("runs of a task never overlap, and stopping waits for the current one", async () => {
  const lifecycle = createLifecycle(silentLog, 1_000);
  const round = Promise.withResolvers<void>();
  let [started, ended] = [0, 0];
  repeating(lifecycle, recordedEvents())("slow", 1, async () => {
    started++;
    await round.promise;
    ended++;
  });
  await expect.poll(() => started).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  const closing = lifecycle.close();
  expect([started, ended]).toEqual([1, 0]);
  round.resolve();
  await closing;
  expect([started, ended]).toEqual([1, 1]);
});
