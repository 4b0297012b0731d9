import type { Order } from "@causeway/domain";
import { expect, test } from "vitest";
import type { ClaimedRefund, RefundPayment } from "./refund-plan.ts";
import type { SettledInput } from "./settled-inputs.ts";
import { assertDepositedInFull, assertRefundsWithinDeposits } from "./deposited-in-full.ts";

const attestedChain = { chain: { name: "base" } };
const order = { inputs: [{ payment: { amount: 1_000n } }] } as unknown as Order;

/** Checks a refund of `paid` in the currency to a deposit of `amount` USDC. */
function refund(currency: string, paid: bigint, amount: bigint): () => void {
  const claimed = [{ attestedChain, option: { currency }, inputIndex: 0 }] as unknown as ClaimedRefund[];
  const payments = [{ attestedChain, receipts: [{ currency }] }] as unknown as RefundPayment[];
  const inputs = [
    { chain: attestedChain.chain, deposit: { currency: "usdc", amount } },
  ] as unknown as SettledInput[];
  return () => assertRefundsWithinDeposits(order, claimed, payments, [[paid]], inputs);
}

test("refuses to settle a fill for a smaller deposit than the order's, and names the input and both amounts", () => {
  const twoInputOrder = {
    inputs: [{ payment: { amount: 50n } }, { payment: { amount: 1_000n } }],
  } as unknown as Order;
  const fill = (amount: bigint) => () =>
    assertDepositedInFull(twoInputOrder, [
      { deposit: { amount: 50n } },
      { deposit: { amount } },
    ] as SettledInput[]);
  expect(fill(1_000n)).not.toThrow();
  expect(fill(999n)).toThrow("the deposit for order input 1 must be at least 1000, got 999");
});

test("refuses a refund above the deposit in its currency, with both amounts", () => {
  expect(refund("usdc", 600n, 600n)).not.toThrow();
  expect(refund("usdc", 601n, 600n)).toThrow("must not exceed the deposited amount 600, got 601");
});

test("refuses a refund in another currency of a partial deposit, and does not compare their amounts", () => {
  expect(refund("weth", 2_000n, 1_000n)).not.toThrow();
  expect(refund("weth", 1n, 999n)).toThrow(
    "refunds in a currency other than that of the deposits require that the order's inputs were deposited in full",
  );
});
