import { expect, test } from "vitest";
import { createNodeLatency } from "./node-latency.adapter.ts";

function observedLatency() {
  const changes: [boolean, number][] = [];
  const latency = createNodeLatency((isSlow, medianMs) => changes.push([isSlow, medianMs]));
  const calls = (count: number, tookMs: number): void => {
    for (let call = 0; call < count; call++) latency.observe("eth_call", "ok", tookMs);
  };
  return { changes, latency, calls };
}

test("the latency is the median of the newest calls, and unknown before there are ten", () => {
  const { latency, calls } = observedLatency();
  calls(9, 40);
  expect(latency.medianMs()).toBeUndefined();
  calls(1, 9_000);
  expect(latency.medianMs()).toBe(40);
  calls(31, 70.4);
  expect(latency.medianMs()).toBe(70);
});

test("a node that becomes slow is reported once, and once when it is clearly fast again", () => {
  const { changes, calls } = observedLatency();
  calls(20, 30);
  calls(60, 2_000);
  calls(40, 700);
  expect(changes).toEqual([[true, 2_000]]);
  calls(40, 30);
  expect(changes).toEqual([
    [true, 2_000],
    [false, 30],
  ]);
});
