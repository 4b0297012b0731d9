import { expect, test } from "vitest";
import { scanLag } from "./scan-lag.ts";

const fast = { blockTimeSeconds: 0.25 };
const slow = { blockTimeSeconds: 12 };
const block = (number: bigint, timestamp: bigint) => ({ number, timestamp });

test("a scan is behind after ten block times, or after 30 seconds on a fast chain", () => {
  expect(scanLag(slow, block(20n, 1_120n), block(10n, 1_000n))).toEqual({
    blocks: 10n,
    seconds: 120,
    isBehind: false,
  });
  expect(scanLag(slow, block(21n, 1_132n), block(10n, 1_000n))).toEqual({
    blocks: 11n,
    seconds: 132,
    isBehind: true,
  });
  expect(scanLag(fast, block(130n, 1_030n), block(10n, 1_000n))).toMatchObject({
    seconds: 30,
    isBehind: false,
  });
  expect(scanLag(fast, block(134n, 1_031n), block(10n, 1_000n))).toMatchObject({
    seconds: 31,
    isBehind: true,
  });
});

test("a scan is not behind when one block follows long after its parent", () => {
  expect(scanLag(fast, block(11n, 9_000n), block(10n, 1_000n))).toMatchObject({
    blocks: 1n,
    isBehind: false,
  });
});

test("a scan is not behind when the node's newest block is older than the scanned one", () => {
  expect(scanLag(fast, block(8n, 900n), block(10n, 1_000n))).toEqual({
    blocks: 0n,
    seconds: 0,
    isBehind: false,
  });
});

test("the lag is unknown without a newest block or before the first scan", () => {
  expect(scanLag(fast, undefined, block(10n, 1_000n))).toBeUndefined();
  expect(scanLag(fast, block(10n, 1_000n), undefined)).toBeUndefined();
});
