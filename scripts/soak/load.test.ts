import { expect, test } from "vitest";
import { missedChaos } from "./load.ts";

test("a run with fewer kills or reorgs than requested, or with reorgs that hit no transaction, has failed", () => {
  const requested = { kills: 2, reorgs: 3 };
  expect(missedChaos(requested, { kills: 2, reorgs: 3, dropped: 1 })).toEqual([]);
  expect(missedChaos(requested, { kills: 1, reorgs: 0, dropped: 0 })).toEqual([
    "only 1 of 2 worker kills happened",
    "only 0 of 3 reorgs happened",
  ]);
  expect(missedChaos(requested, { kills: 2, reorgs: 3, dropped: 0 })).toEqual([
    "no reorg dropped a user transaction",
  ]);
});
