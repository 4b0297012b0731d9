import { expect, test } from "vitest";
import type { BlockRef } from "@causeway/families/evm";
import { gasPricesFrom, readFeeHistory } from "./gas-prices.ts";
import { RpcFault } from "@causeway/families";

const gwei = 10n ** 9n;
const hash = `0x${"11".repeat(32)}` as const;
const head: BlockRef = { number: 5n, hash, parentHash: hash, timestamp: 1n, baseFeePerGas: 8n * gwei };
const policy = { minPriorityFeeWei: gwei, maxFeePerGasWei: 100n * gwei };

test("the priority fee is the median of recent blocks, and the cap allows the base fee to double", () => {
  const history = { nextBaseFeePerGas: 9n * gwei, rewards: [5n * gwei, 0n, 2n * gwei, 3n * gwei] };
  expect(gasPricesFrom(head, history, policy)).toEqual({
    baseFeePerGas: 9n * gwei,
    maxPriorityFeePerGas: 3n * gwei,
    maxFeePerGas: 21n * gwei,
  });
});

test("empty blocks do not lower the priority fee below the configured minimum", () => {
  const history = { nextBaseFeePerGas: 9n * gwei, rewards: [0n, 0n] };
  expect(gasPricesFrom(head, history, policy).maxPriorityFeePerGas).toBe(gwei);
});

test("the priority fees of one block on a nearly empty chain do not change the price", () => {
  const quiet = { nextBaseFeePerGas: 9n * gwei, rewards: Array.from({ length: 10 }, () => 0n) };
  const before = gasPricesFrom(head, quiet, policy);
  for (const tips of [1, 4]) {
    const rewards = quiet.rewards.map((reward, index) => (index < tips ? 10n * gwei : reward));
    expect(gasPricesFrom(head, { ...quiet, rewards }, policy)).toEqual(before);
  }
  const busy = quiet.rewards.map((reward, index) => (index < 6 ? 10n * gwei : reward));
  expect(gasPricesFrom(head, { ...quiet, rewards: busy }, policy).maxPriorityFeePerGas).toBe(10n * gwei);
});

test("uses the head's base fee without a fee history", () => {
  expect(gasPricesFrom(head, undefined, policy)).toEqual({
    baseFeePerGas: 8n * gwei,
    maxPriorityFeePerGas: gwei,
    maxFeePerGas: 17n * gwei,
  });
});

test("no price exceeds the configured cap, including the priority fee", () => {
  const history = { nextBaseFeePerGas: 90n * gwei, rewards: [500n * gwei] };
  const prices = gasPricesFrom(head, history, policy);
  expect(prices.maxFeePerGas).toBe(100n * gwei);
  expect(prices.maxPriorityFeePerGas).toBe(100n * gwei);
});

test("refuses a chain without base fees instead of pricing it at zero", () => {
  expect(() => gasPricesFrom({ ...head, baseFeePerGas: undefined }, undefined, policy)).toThrow(RpcFault);
});

test("the last base fee of a history is that of the next block", () => {
  const answer = { oldestBlock: "0x1", baseFeePerGas: ["0x1", "0x2", "0x3"], reward: [["0x5"], ["0x6"]] };
  expect(readFeeHistory(answer)).toEqual({ nextBaseFeePerGas: 3n, rewards: [5n, 6n] });
});

test.each([
  null,
  {},
  { baseFeePerGas: [] },
  { baseFeePerGas: ["1"] },
  { baseFeePerGas: ["0x1"], reward: [[]] },
])("a malformed fee history is a fault: %j", (answer) => {
  expect(() => readFeeHistory(answer)).toThrow(RpcFault);
});
