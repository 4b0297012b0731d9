import fc from "fast-check";
import { expect, test } from "vitest";
import { leasedLimits, type LeaseQuota } from "./leased-limits.adapter.ts";

const WINDOW_MS = 60_000;

/** A shared store with its own windows, and processes that take units from it. */
function aWorld() {
  let nowMs = 0;
  const counters = new Map<string, { used: number; endsAtMs: number }>();
  const faults: unknown[] = [];
  let isDown = false;
  let calls = 0;
  let delayMs = 0;
  const lease: LeaseQuota = async (bucket, requested, limit) => {
    calls++;
    await Promise.resolve();
    if (isDown) throw new Error("down");
    const existing = counters.get(bucket);
    const counter =
      existing !== undefined && nowMs < existing.endsAtMs
        ? existing
        : { used: 0, endsAtMs: nowMs + WINDOW_MS };
    const granted = Math.max(0, Math.min(requested, limit - counter.used));
    counter.used += granted;
    if (granted > 0) counters.set(bucket, counter);
    const endsInMs = counter.endsAtMs - nowMs;
    nowMs += delayMs;
    return { granted, used: counter.used, endsInMs };
  };
  const aProcess = () =>
    leasedLimits({ lease, windowMs: WINDOW_MS, nowMs: () => nowMs, onFault: (e) => faults.push(e) });
  return {
    aProcess,
    faults,
    forward: (ms: number) => (nowMs += ms),
    setDown: (value: boolean) => (isDown = value),
    setDelay: (ms: number) => (delayMs = ms),
    calls: () => calls,
    window: (bucket: string) => counters.get(bucket),
  };
}

test("allows as many calls as the limit, and returns the end of the window to the next one", async () => {
  const world = aWorld();
  const limits = world.aProcess();
  const used: number[] = [];
  for (let call = 0; call < 50; call++) used.push((await limits.take("a", 50)).used);
  expect(used).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
  world.forward(20_000);
  expect(await limits.take("a", 50)).toEqual({ used: 51, endsInMs: 40_000 });
  expect((await limits.take("b", 50)).used).toBe(1);
  world.forward(40_000);
  expect((await limits.take("a", 50)).used).toBe(1);
});

test("refused calls do not query the store until the window ends, and admitted ones rarely do", async () => {
  const world = aWorld();
  const limits = world.aProcess();
  for (let call = 0; call < 1_000; call++) await limits.take("a", 1_000);
  const calls = world.calls();
  expect(calls).toBeLessThan(20);
  await limits.take("a", 1_000);
  const full = world.calls();
  for (let call = 0; call < 1_000; call++) await limits.take("a", 1_000);
  expect(world.calls()).toBe(full);
});

test("a call that the process has a unit for does not wait", async () => {
  const world = aWorld();
  const limits = world.aProcess();
  await Promise.all(Array.from({ length: 20 }, async () => await limits.take("a", 1_000)));
  await limits.take("a", 1_000);
  expect(limits.take("a", 1_000)).not.toBeInstanceOf(Promise);
});

test("takes several units together or none, even without the store", async () => {
  const world = aWorld();
  const limits = world.aProcess();
  expect((await limits.take("a", 100, 60)).used).toBe(60);
  expect((await limits.take("a", 100, 41)).used).toBe(101);
  expect((await limits.take("a", 100, 40)).used).toBe(100);
  expect((await limits.take("a", 100, 1)).used).toBe(101);
  world.setDown(true);
  expect((await limits.take("b", 100, 60)).used).toBeLessThanOrEqual(100);
  expect((await limits.take("b", 100, 60)).used).toBe(101);
  expect((await limits.take("b", 100, 40)).used).toBeLessThanOrEqual(100);
  expect((await limits.take("c", 100, 101)).used).toBe(101);
});

test("unused units end with their window, even when the store answers late", async () => {
  const world = aWorld();
  const limits = world.aProcess();
  for (let call = 0; call < 7; call++) await limits.take("a", 1_000);
  world.forward(WINDOW_MS - 1);
  world.setDelay(10);
  // This answer arrives after the end of its window.
  expect((await limits.take("a", 1_000)).used).toBe(1);
  expect(world.window("a")?.used).toBe(1);
});

test("concurrent calls share one request to the store", async () => {
  const world = aWorld();
  const limits = world.aProcess();
  const uses = await Promise.all(Array.from({ length: 500 }, async () => await limits.take("a", 100)));
  expect(uses.filter(({ used }) => used <= 100)).toHaveLength(100);
  expect(world.calls()).toBeLessThan(10);
});

test("while the store is unavailable each process counts alone, reports it, and retries after a pause", async () => {
  const world = aWorld();
  const limits = world.aProcess();
  await limits.take("a", 10);
  world.setDown(true);
  let passed = 1;
  for (let call = 0; call < 30; call++) if ((await limits.take("a", 10)).used <= 10) passed++;
  expect(passed).toBe(10);
  expect(world.faults).toHaveLength(1);
  for (let bucket = 0; bucket < 50; bucket++) await limits.take(`b${bucket}`, 10);
  // The store is not asked for each of them while it is known to be unavailable.
  expect(world.calls()).toBeLessThan(5);
  world.setDown(false);
  world.forward(WINDOW_MS);
  expect((await limits.take("a", 10)).used).toBe(1);
  expect(world.window("a")?.used).toBe(1);
});

test("no window exceeds its limit for any sequence of calls, windows and processes", async () => {
  const step = fc.record({
    process: fc.nat({ max: 2 }),
    calls: fc.integer({ min: 1, max: 30 }),
    laterMs: fc.constantFrom(0, 0, 1, 500, 10_000, WINDOW_MS - 1, WINDOW_MS),
    delayMs: fc.constantFrom(0, 0, 3, 700),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 60 }),
      fc.array(step, { maxLength: 40 }),
      async (limit, steps) => {
        const world = aWorld();
        const processes = [world.aProcess(), world.aProcess(), world.aProcess()];
        const passed = new Map<object | undefined, number>();
        for (const { process, calls, laterMs, delayMs } of steps) {
          world.forward(laterMs);
          world.setDelay(delayMs);
          for (let call = 0; call < calls; call++) {
            const use = await processes[process]?.take("a", limit);
            if (use === undefined || use.used > limit) continue;
            // A window is identified by the counter object that the store keeps for it.
            const window = world.window("a");
            passed.set(window, (passed.get(window) ?? 0) + 1);
          }
        }
        for (const count of passed.values()) expect(count).toBeLessThanOrEqual(limit);
      },
    ),
    { numRuns: 300 },
  );
});
