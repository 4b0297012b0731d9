import { expect, test } from "vitest";
import { createEndpointPause } from "./endpoint-pause.ts";

function clockedPause() {
  const clock = { ms: 0 };
  return {
    clock,
    pause: createEndpointPause(
      () => clock.ms,
      () => 0.5,
    ),
  };
}

test("the default pause doubles up to 10 seconds while the endpoint keeps refusing, and resets once it serves", () => {
  const { clock, pause } = clockedPause();
  const pauses = Array.from({ length: 7 }, () => {
    pause.recordRefusal(clock.ms, undefined);
    const leftMs = pause.leftMs();
    clock.ms += leftMs;
    return leftMs;
  });
  expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  pause.recordSuccess(clock.ms);
  pause.recordRefusal(clock.ms, undefined);
  expect(pause.leftMs()).toBe(500);
});

test("requests that were pending when a pause began neither lengthen nor end it", () => {
  const { clock, pause } = clockedPause();
  clock.ms = 1_000;
  pause.recordRefusal(900, undefined);
  for (const sentAtMs of [910, 920]) pause.recordRefusal(sentAtMs, undefined);
  pause.recordSuccess(930);
  expect(pause.leftMs()).toBe(500);
  clock.ms = 1_500;
  pause.recordRefusal(1_500, undefined);
  expect(pause.leftMs()).toBe(1_000);
});

test.each([
  ["an overload that fails a part of each burst does not lengthen the pauses", true, [500, 500, 500, 500]],
  ["a rate limit that refuses a part of each burst does", false, [500, 1_000, 2_000, 4_000]],
])("%s", (_, isOverload, expected) => {
  const { clock, pause } = clockedPause();
  const pauses = expected.map(() => {
    pause.recordRefusal(clock.ms, undefined, isOverload);
    pause.recordSuccess(clock.ms - 1);
    const leftMs = pause.leftMs();
    clock.ms += leftMs + 2;
    return leftMs;
  });
  expect(pauses).toEqual(expected);
});

test("an overload that fails every request doubles the pause", () => {
  const { clock, pause } = clockedPause();
  pause.recordSuccess(0);
  const pauses = [500, 1_000, 2_000].map(() => {
    clock.ms += 1 + pause.leftMs();
    pause.recordRefusal(clock.ms, undefined, true);
    return pause.leftMs();
  });
  expect(pauses).toEqual([500, 1_000, 2_000]);
});

test.each([
  ["a month", 30 * 86_400_000, 63_000],
  ["nothing", 0, 262.5],
  ["five seconds", 5_000, 5_250],
])("an endpoint that asks for %s is left alone for a bounded time", (_, requestedMs, leftMs) => {
  const { pause } = clockedPause();
  pause.recordRefusal(0, requestedMs);
  expect(pause.leftMs()).toBe(leftMs);
});
