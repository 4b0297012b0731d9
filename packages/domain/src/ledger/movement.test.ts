import { expect, test } from "vitest";
import { assetKey } from "./asset.ts";
import { mergeEntries } from "./movement.ts";

test("merging preserves sums, with one line per account and asset and no zero lines", () => {
  const [firstAsset, secondAsset] = [1, 2].map((chainId) => ({ chainId, currency: "0x0" as const }));
  if (firstAsset === undefined || secondAsset === undefined) throw new Error("two assets");
  expect(assetKey(firstAsset)).not.toBe(assetKey(secondAsset));
  expect(
    mergeEntries([
      { account: "balance", asset: firstAsset, amount: 3n },
      { account: "fronted", asset: firstAsset, amount: -3n },
      { account: "fronted", asset: firstAsset, amount: -2n },
      { account: "owed", asset: firstAsset, amount: 2n },
      { account: "pending", asset: secondAsset, amount: 1n },
      { account: "pending", asset: secondAsset, amount: -1n },
    ]),
  ).toEqual([
    { account: "balance", asset: firstAsset, amount: 3n },
    { account: "fronted", asset: firstAsset, amount: -5n },
    { account: "owed", asset: firstAsset, amount: 2n },
  ]);
});
