import type { Order } from "@causeway/domain";
import { expect, test } from "vitest";
import type { ClaimedRefund, RefundPayment } from "./refund-plan.ts";
import type { SettledInput } from "./settled-inputs.ts";
import { mustBeWorthRefunding } from "./worth-settling.ts";

const chain = { chain: { name: "base" } };
const order = { inputs: [{ payment: { amount: 1_000n } }] } as unknown as Order;

/** Checks a refund of `paid` in the currency to a deposit of `amount` USDC. */
function refund(currency: string, paid: bigint, amount: bigint): () => void {
  const claimed = [{ chain, option: { currency }, inputIndex: 0 }] as unknown as ClaimedRefund[];
  const payments = [{ chain, wanted: [{ currency }] }] as unknown as RefundPayment[];
  const inputs = [{ chain: chain.chain, deposit: { currency: "usdc", amount } }] as unknown as SettledInput[];
  return () => mustBeWorthRefunding(order, claimed, payments, [[paid]], inputs);
}

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
