import fc from "fast-check";
import { expect, test } from "vitest";
import type { Hex } from "../ids/hex.ts";
import { pow10 } from "../money/pow10.ts";
import { refundRule } from "../order/oracle-refund-rule.ts";
import { encodeFillContract } from "../order/order-calls.ts";
import type { Order } from "../order/order.ts";
import {
  FORMER_ROUTER,
  planRefund,
  REFUND_MAY_BE_LATE,
  refundAmount,
  TEMPORARY_REASONS,
} from "./refund-amount.ts";
import type { RefundFacts } from "./refund-amount.ts";

const USDC: Hex = `0x${"a0".repeat(20)}`;
const NATIVE: Hex = `0x${"00".repeat(20)}`;
const USER: Hex = `0x${"11".repeat(20)}`;
const STRANGER: Hex = `0x${"22".repeat(20)}`;

function orderOf(amount: bigint, minimumAmount: bigint, recipient = USER): Order {
  return {
    version: "v1",
    solverChainId: "one",
    solver: "0x",
    salt: "0x",
    inputs: [
      {
        payment: { chainId: "one", currency: USDC, amount, weight: 1n },
        refunds: [
          { chainId: "one", recipient, currency: USDC, minimumAmount, deadline: 1_000, extraData: "0x" },
        ],
      },
    ],
    output: { chainId: "two", payments: [], calls: [], deadline: 0, extraData: "0x" },
    fees: [],
  };
}

const facts: RefundFacts = {
  order: orderOf(1_000_000n, 900_000n),
  hasSolverKey: true,
  isDepositAttestable: true,
  native: NATIVE,
  deposit: { chainId: "one", currency: USDC, depositor: USER, amount: 1_000_000n },
  recipient: USER,
  remainder: 990_000n,
  minimumRefund: 0n,
  now: 400,
  minedBy: 1_000,
  router: undefined,
};

/**
 * What the attestation contract requires of the refund of an order with one input, written independently of
 * the code under test.
 */
function isAttested(
  order: Order,
  deposit: RefundFacts["deposit"],
  paid: { to: Hex; amount: bigint },
): boolean {
  const input = order.inputs[0];
  const option = input?.refunds[0];
  if (input === undefined || option === undefined) return false;
  const { amount } = input.payment;
  const difference = ((deposit.amount - amount) * 10n ** 18n) / amount;
  const minimum = option.minimumAmount + (option.minimumAmount * difference) / 10n ** 18n;
  return (
    input.payment.currency === deposit.currency &&
    option.recipient === paid.to &&
    paid.amount >= minimum &&
    paid.amount <= deposit.amount
  );
}

test("allows attesting every refund of the user's deposit in the order's currency, from one unit to twice the quote, at any gas price", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1_000n, max: 10n ** 27n }),
      fc.bigInt({ min: 1n, max: 2_000_000n }),
      fc.bigInt({ min: 1n, max: 10n ** 6n }),
      fc.integer({ min: 1, max: 40 }),
      (quoted, partsPerMillion, gasParts, gasHalves) => {
        const gas = (quoted * gasParts) / 10n ** 8n + 1n;
        const minimum = quoted > 10n * gas ? quoted - 10n * gas : 0n;
        const amount = (quoted * partsPerMillion) / 1_000_000n || 1n;
        const gasNow = (gas * BigInt(gasHalves)) / 2n || 1n;
        const deposit = { ...facts.deposit, amount };
        const order = orderOf(quoted, minimum);
        const rest = amount > gasNow ? amount - gasNow : 0n;
        const plan = planRefund({ ...facts, order, deposit, remainder: rest });
        if (plan.kind === "tooLow") return rest === 0n;
        expect(plan.amount >= rest).toBe(true);
        expect(plan.unattestable).toBe(undefined);
        return isAttested(order, deposit, { to: USER, amount: plan.amount });
      },
    ),
    { numRuns: 2_000 },
  );
});

test("never calls a refund attestable that the attestation contract would refuse", () => {
  const one = fc.bigInt({ min: 1n, max: 2_000n });
  const address = fc.constantFrom(USER, STRANGER);
  fc.assert(
    fc.property(
      fc.record({
        quoted: one,
        minimum: one,
        amount: one,
        rest: one,
        minimumRefund: fc.bigInt({ min: 0n, max: 2_000n }),
      }),
      fc.record({ currency: fc.constantFrom(USDC, NATIVE), recipient: address, named: address }),
      ({ quoted, minimum, amount, rest, minimumRefund }, { currency, recipient, named }) => {
        const order = orderOf(quoted, minimum < quoted ? minimum : quoted, named);
        const deposit = { ...facts.deposit, currency, amount };
        const plan = planRefund({ ...facts, order, deposit, recipient, remainder: rest, minimumRefund });
        if (plan.kind === "tooLow" || plan.unattestable !== undefined) return true;
        return isAttested(order, deposit, { to: recipient, amount: plan.amount });
      },
    ),
    { numRuns: 5_000 },
  );
});

test("a refund in another currency, to another recipient or after the order's deadline cannot be attested, and gives a reason", () => {
  const why = (change: Partial<RefundFacts>): string | undefined => {
    const plan = planRefund({ ...facts, ...change });
    return plan.kind === "pay" ? plan.unattestable : plan.kind;
  };
  expect(why({})).toBe(undefined);
  expect(why({ deposit: { ...facts.deposit, currency: NATIVE } })).toMatch(/not in the currency/);
  expect(why({ deposit: { ...facts.deposit, chainId: "two" } })).toMatch(/not on the chain/);
  expect(why({ recipient: STRANGER })).toMatch(/does not name/);
  expect(why({ now: 1_001, minedBy: 1_601 })).toMatch(/refund deadline/);
  expect(why({ hasSolverKey: false })).toMatch(/solver whose key is not configured/);
  expect(why({ remainder: 0n })).toBe("tooLow");
  expect(why({ remainder: 0n, minimumRefund: 5n })).toBe(undefined);
});

test("a refund that may be mined after the deadline counts as not repaid, but pays what oracles require if mined in time", () => {
  const near = { ...facts, remainder: 1n, now: 1_000, minedBy: 1_600 };
  expect(planRefund(near)).toEqual({ kind: "pay", amount: 900_000n, unattestable: REFUND_MAY_BE_LATE });
  expect(planRefund({ ...near, now: 400, minedBy: 1_001 })).toMatchObject({
    unattestable: REFUND_MAY_BE_LATE,
  });
  expect(TEMPORARY_REASONS.has(REFUND_MAY_BE_LATE)).toBe(true);
});

test("oracles are not asked about a refund near its deadline that they would refuse for another reason", () => {
  const why = (change: Partial<RefundFacts>): string | undefined => {
    const plan = planRefund({ ...facts, minedBy: 1_600, ...change });
    return plan.kind === "pay" ? plan.unattestable : plan.kind;
  };
  expect(why({ recipient: STRANGER })).toMatch(/does not name/);
  expect(why({ router: STRANGER })).toBe(FORMER_ROUTER);
  expect(why({ order: orderOf(1n, 1n), deposit: { ...facts.deposit, currency: NATIVE } })).toMatch(
    /not in the currency/,
  );
});

test("an order that names the native currency as recipient refunds the depositor", () => {
  const rule = refundRule(orderOf(10n, 0n, NATIVE), NATIVE, {
    ...facts.deposit,
    depositor: STRANGER,
  });
  expect(rule).toMatchObject({ kind: "attestable", demand: { recipient: STRANGER } });
});

test("a refund through a router is attestable only if the order names that router", () => {
  const router: Hex = `0x${"44".repeat(20)}`;
  const order = {
    ...facts.order,
    inputs: facts.order.inputs.map((one) => ({
      ...one,
      refunds: one.refunds.map((option) => ({ ...option, extraData: encodeFillContract(router) })),
    })),
  };
  expect(planRefund({ ...facts, order, router })).toMatchObject({ unattestable: undefined });
  for (const one of [
    { ...facts, order, router: STRANGER },
    { ...facts, router },
  ])
    expect(planRefund(one)).toMatchObject({ kind: "pay", unattestable: FORMER_ROUTER });
  expect(planRefund({ ...facts, order })).toMatchObject({ unattestable: undefined });
});

test("a refund is the deposit less its gas, rounded up in the deposit's currency", () => {
  const native = { decimals: 18, priceUsd: 2_000n * pow10(18) };
  const usdc = { decimals: 6, priceUsd: pow10(18) };
  expect(refundAmount(1_000_000n, 500_000_001n, native, usdc)).toEqual({
    kind: "refund",
    amount: 999_998n,
    gasFee: 2n,
  });
  expect(refundAmount(2n, 500_000_001n, native, usdc)).toEqual({ kind: "tooLow", gasFee: 2n });
  expect(refundAmount(3n, 500_000_001n, native, usdc)).toEqual({ kind: "refund", amount: 1n, gasFee: 2n });
});
