import { expect, test } from "vitest";
import { assertFollowsDeposits } from "./paid-in-time.ts";

const T = 1_800_000_000n;
const HOUR = 3_600n;
const bitcoin = { name: "bitcoin", vmType: "bitcoin-vm" } as const;
const ethereum = { name: "ethereum", vmType: "ethereum-vm" } as const;
const base = { name: "base", vmType: "ethereum-vm" } as const;

type Placed = Parameters<typeof assertFollowsDeposits>[1];

function isAccepted(deposit: Placed, payment: Placed, leadSeconds?: number): boolean {
  try {
    assertFollowsDeposits([deposit], payment, "fill.transactionId", leadSeconds);
    return true;
  } catch {
    return false;
  }
}

test("compares Bitcoin payments by block height, regardless of header timestamps", () => {
  const deposit = { chain: bitcoin, timestamp: T, height: 100n };
  // A header's timestamp may be earlier than its parent's.
  expect(isAccepted(deposit, { chain: bitcoin, timestamp: T - 600n, height: 103n })).toBe(true);
  expect(isAccepted(deposit, { chain: bitcoin, timestamp: T - 600n, height: 100n })).toBe(true);
  expect(isAccepted(deposit, { chain: bitcoin, timestamp: T + 600n, height: 99n })).toBe(false);
});

test("allows a Bitcoin fill to precede its Bitcoin deposit by the network's fill lead", () => {
  const deposit = { chain: bitcoin, timestamp: T, height: 100n };
  const fill = { chain: bitcoin, timestamp: T - 5n * HOUR, height: 70n };
  expect(isAccepted(deposit, fill, 86_400)).toBe(true);
  expect(isAccepted(deposit, fill, 60)).toBe(false);
});

test("tolerates Bitcoin timestamps that are off by up to two hours across chains", () => {
  const ahead = { chain: bitcoin, timestamp: T + 2n * HOUR, height: 100n };
  expect(isAccepted(ahead, { chain: ethereum, timestamp: T + 1_800n })).toBe(true);
  expect(isAccepted(ahead, { chain: ethereum, timestamp: T - 60n })).toBe(true);
  expect(isAccepted(ahead, { chain: ethereum, timestamp: T - 61n })).toBe(false);
  const behind = { chain: bitcoin, timestamp: T - 2n * HOUR, height: 100n };
  expect(isAccepted({ chain: ethereum, timestamp: T }, behind)).toBe(true);
});

test("compares ordered block times exactly within one chain, and within a minute across chains", () => {
  const deposit = { chain: ethereum, timestamp: T };
  expect(isAccepted(deposit, { chain: ethereum, timestamp: T })).toBe(true);
  expect(isAccepted(deposit, { chain: ethereum, timestamp: T - 1n })).toBe(false);
  expect(isAccepted(deposit, { chain: base, timestamp: T - 60n })).toBe(true);
  expect(isAccepted(deposit, { chain: base, timestamp: T - 61n })).toBe(false);
});
