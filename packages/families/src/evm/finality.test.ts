import { expect, test } from "vitest";
import { finalityOf, headTagOf, lowerCandidate } from "./finality.ts";

const blockAt = (number: bigint, timestamp = number * 2n): { number: bigint; timestamp: bigint } => ({
  number,
  timestamp,
});

test("by tag: blocks up to the finalized one are final, and later ones report what is missing", () => {
  const tag = { kind: "tag" } as const;
  expect(headTagOf(tag)).toBe("finalized");
  expect(finalityOf(tag, blockAt(100n), blockAt(100n), 12)).toEqual({ kind: "final" });
  expect(finalityOf(tag, blockAt(99n), blockAt(100n), 12)).toEqual({ kind: "final" });
  expect(finalityOf(tag, blockAt(103n), blockAt(100n), 12)).toEqual({
    kind: "notFinal",
    reason: "block 103 is not final: needs 3 blocks more",
    retryAfterSeconds: 36,
  });
});

test("by depth: requires both the number of blocks and the seconds before the newest block", () => {
  const depth = { kind: "depth", blocks: 10n, seconds: 60n } as const;
  expect(headTagOf(depth)).toBe("latest");
  expect(finalityOf(depth, blockAt(100n, 1_000n), blockAt(110n, 1_060n), 2)).toEqual({ kind: "final" });
  expect(finalityOf(depth, blockAt(100n, 1_000n), blockAt(109n, 1_060n), 2)).toEqual({
    kind: "notFinal",
    reason: "block 100 is not final: needs 1 block more",
    retryAfterSeconds: 2,
  });
  expect(finalityOf(depth, blockAt(100n, 1_000n), blockAt(110n, 1_059n), 2)).toEqual({
    kind: "notFinal",
    reason: "block 100 is not final: needs 1 s more",
    retryAfterSeconds: 1,
  });
  expect(finalityOf(depth, blockAt(100n, 1_000n), blockAt(105n, 1_010n), 0.25)).toMatchObject({
    retryAfterSeconds: 50,
  });
});

test("depth zero makes the newest block final, and no block above the head is ever final", () => {
  const zero = { kind: "depth", blocks: 0n, seconds: 0n } as const;
  expect(finalityOf(zero, blockAt(7n), blockAt(7n), 1)).toEqual({ kind: "final" });
  expect(finalityOf(zero, blockAt(8n), blockAt(7n), 1)).toMatchObject({ kind: "notFinal" });
  // A block above the head is not final, even if its timestamp is old enough.
  expect(finalityOf(zero, blockAt(8n, 0n), blockAt(7n), 1)).toMatchObject({ kind: "notFinal" });
});

test("lowerCandidate goes down to the configured depth, or further by the blocks of the missing time, but not below the first block", () => {
  const depth = { kind: "depth", blocks: 10n, seconds: 60n } as const;
  expect(lowerCandidate(depth, blockAt(90n, 980n), blockAt(100n, 1_000n), 2)).toBe(70n);
  expect(lowerCandidate(depth, blockAt(90n, 941n), blockAt(100n, 1_000n), 2)).toBe(89n);
  expect(lowerCandidate(depth, blockAt(100n, 1_000n), blockAt(100n, 1_000n), 12)).toBe(90n);
  expect(lowerCandidate(depth, blockAt(3n, 999n), blockAt(13n, 1_000n), 2)).toBeUndefined();
});
