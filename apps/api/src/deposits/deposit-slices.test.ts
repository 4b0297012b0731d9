import type { DepositFact } from "@causeway/chains";
import { NATIVE_CURRENCY } from "@causeway/domain";
import { expect, test } from "vitest";
import { sliceDeposits } from "./deposit-slices.ts";

const worth = (amount: bigint): DepositFact => ({
  txHash: `0x${"11".repeat(32)}`,
  ordinal: 0,
  logIndex: 0,
  blockNumber: 1n,
  blockHash: `0x${"22".repeat(32)}`,
  depositor: NATIVE_CURRENCY,
  sender: NATIVE_CURRENCY,
  currency: NATIVE_CURRENCY,
  amount,
  id: undefined,
});
const isTooSmall = ({ amount }: { readonly amount: bigint }): boolean => amount < 10n;

test.each([
  { what: "few deposits", small: 10, large: 20, sizes: [30] },
  { what: "as many deposits as fit", small: 250, large: 0, sizes: [250] },
  { what: "many deposits too small to refund", small: 600, large: 0, sizes: [250, 250, 100] },
  { what: "many that are judged one by one", small: 0, large: 120, sizes: [50, 50, 20] },
  { what: "exactly as many of these as fit", small: 0, large: 50, sizes: [50] },
  { what: "both", small: 240, large: 60, sizes: [250, 50] },
])("commits $what in slices of $sizes", ({ small, large, sizes }) => {
  const facts = [
    ...Array.from({ length: small }, () => worth(1n)),
    ...Array.from({ length: large }, () => worth(99n)),
  ];
  const found: number[] = [];
  let left: readonly DepositFact[] = facts;
  const seen: DepositFact[] = [];
  do {
    const { now, later } = sliceDeposits(left, isTooSmall);
    found.push(now.length);
    seen.push(...now);
    left = later;
  } while (left.length > 0);
  expect(found).toEqual(sizes);
  expect(seen).toEqual(facts);
});
