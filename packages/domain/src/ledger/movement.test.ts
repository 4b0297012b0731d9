import { expect, test } from "vitest";
import { assetKey } from "./asset.ts";
import { mergeEntries } from "./movement.ts";

test("merging preserves sums, with one line per account and asset and no zero lines", () => {
  const [one, two] = [1, 2].map((chainId) => ({ chainId, currency: "0x0" as const }));
  if (one === undefined || two === undefined) throw new Error("two assets");
  expect(assetKey(one)).not.toBe(assetKey(two));
  expect(
    mergeEntries([
      { account: "balance", asset: one, amount: 3n },
      { account: "fronted", asset: one, amount: -3n },
      { account: "fronted", asset: one, amount: -2n },
      { account: "owed", asset: one, amount: 2n },
      { account: "pending", asset: two, amount: 1n },
      { account: "pending", asset: two, amount: -1n },
    ]),
  ).toEqual([
    { account: "balance", asset: one, amount: 3n },
    { account: "fronted", asset: one, amount: -5n },
    { account: "owed", asset: one, amount: 2n },
  ]);
});
