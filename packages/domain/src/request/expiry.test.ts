import { expect, test } from "vitest";
import { expiresBefore, UNCONFIGURED_CHAIN_GRACE_MS } from "./expiry.ts";

const NOW_MS = 1_700_000_000_000;
const clock = { nowMs: NOW_MS, graceMs: 600_000 };

test("waits for the grace period when blocks are read up to now", () => {
  expect(expiresBefore({ isConfigured: true, newestBlockMs: NOW_MS }, clock)).toBe(NOW_MS - 600_000);
});

test("waits for the blocks of a stalled chain", () => {
  expect(expiresBefore({ isConfigured: true, newestBlockMs: NOW_MS - 9_000_000 }, clock)).toBe(
    NOW_MS - 9_000_000,
  );
});

test("expires nothing on a configured chain before a block was read", () => {
  expect(expiresBefore({ isConfigured: true, newestBlockMs: undefined }, clock)).toBeUndefined();
});

test("expires by the clock, a day later, on a chain that is not configured", () => {
  for (const newestBlockMs of [undefined, NOW_MS])
    expect(expiresBefore({ isConfigured: false, newestBlockMs }, clock)).toBe(
      NOW_MS - 600_000 - UNCONFIGURED_CHAIN_GRACE_MS,
    );
});
