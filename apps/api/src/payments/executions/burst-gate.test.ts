import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { burstGate } from "./burst-gate.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const options = { atOnce: 2, withinMs: 100, heldMs: 400 };

/** A gate, and the number of callers that passed it. */
function aGate() {
  const gate = burstGate({ nowMs: () => Date.now() }, options);
  let passed = 0;
  const arrive = (count: number): void => {
    for (let n = 0; n < count; n++) void gate().then(() => passed++);
  };
  return { arrive, passed: () => passed };
}

test("lets occasional callers pass immediately", async () => {
  const { arrive, passed } = aGate();
  for (let n = 1; n <= 10; n++) {
    arrive(1);
    await vi.advanceTimersByTimeAsync(60);
    expect(passed()).toBe(n);
  }
});

test("lets the first of a burst pass immediately and all others together, including those that arrive meanwhile", async () => {
  const { arrive, passed } = aGate();
  arrive(10);
  await vi.advanceTimersByTimeAsync(300);
  expect(passed()).toBe(2);
  arrive(5);
  await vi.advanceTimersByTimeAsync(99);
  expect(passed()).toBe(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(passed()).toBe(15);
  arrive(1);
  await vi.advanceTimersByTimeAsync(0);
  expect(passed()).toBe(16);
});
