import type { DepositFact } from "@causeway/chains";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Hex } from "@causeway/domain";
import { expect, test } from "vitest";
import { sliceDeposits } from "./deposit-slices.ts";

const aDeposit = (amount: bigint, id?: Hex): DepositFact => ({
  txHash: `0x${"11".repeat(32)}`,
  ordinal: 0,
  logIndex: 0,
  blockNumber: 1n,
  blockHash: `0x${"22".repeat(32)}`,
  depositor: NATIVE_CURRENCY,
  sender: NATIVE_CURRENCY,
  currency: NATIVE_CURRENCY,
  amount,
  id,
});
const isTooSmall = ({ amount }: { readonly amount: bigint }): boolean => amount < 10n;

function slicesOf(facts: readonly DepositFact[]): (readonly DepositFact[])[] {
  const slices: (readonly DepositFact[])[] = [];
  let remaining = facts;
  do {
    const { now, later } = sliceDeposits(remaining, isTooSmall);
    slices.push(now);
    remaining = later;
  } while (remaining.length > 0);
  return slices;
}

test.each([
  { what: "few deposits", small: 10, large: 20, sizes: [30] },
  { what: "as many deposits as fit", small: 250, large: 0, sizes: [250] },
  { what: "many deposits too small to refund", small: 600, large: 0, sizes: [250, 250, 100] },
  { what: "many deposits that are judged", small: 0, large: 600, sizes: [250, 250, 100] },
  { what: "exactly as many judged deposits as fit", small: 0, large: 250, sizes: [250] },
  { what: "deposits of both kinds", small: 240, large: 60, sizes: [250, 50] },
])("commits $what in slices of $sizes", ({ small, large, sizes }) => {
  const facts = [
    ...Array.from({ length: small }, () => aDeposit(1n)),
    ...Array.from({ length: large }, () => aDeposit(99n)),
  ];
  const slices = slicesOf(facts);
  expect(slices.map(({ length }) => length)).toEqual(sizes);
  expect(slices.flat()).toEqual(facts);
});

test("a commit judges at most 25 deposits for one order", () => {
  const [orderA, orderB]: Hex[] = [`0x${"aa".repeat(32)}`, `0x${"bb".repeat(32)}`];
  const facts = [
    ...Array.from({ length: 60 }, () => aDeposit(1n, orderA)),
    ...Array.from({ length: 60 }, () => aDeposit(99n, orderA)),
    ...Array.from({ length: 20 }, () => aDeposit(99n, orderB)),
  ];
  const slices = slicesOf(facts);
  expect(slices.map(({ length }) => length)).toEqual([85, 25, 30]);
  expect(slices.flat()).toEqual(facts);
});
