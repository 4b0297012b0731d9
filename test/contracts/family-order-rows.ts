import type { Hex32 } from "@causeway/domain";
import { expect } from "vitest";
import { FAR_DEADLINE, freshId, type Judge } from "./family-judge.ts";
import { final, row, rowOf, type Row } from "./family-row.ts";
import { otherId, payloadOf } from "./family-steps.ts";
import { isNotApplicable } from "./family-world.ts";

const ELSEWHERE = `0x${"e1".repeat(32)}`;

export const orderRows: readonly Row[] = [
  row("a fill on this chain is attested", async (judge) => {
    const payments = [judge.onePayment()];
    const order = judge.orderPaying(payments);
    await judge.mustFill(order, await judge.fill(order, await judge.pay(order, payments)));
  }),
  row("a deposit on this chain settles an order that was filled elsewhere", async (judge) => {
    const { world } = judge;
    const { answer } = await settleByDeposit(judge, judge.orderFrom(world.currency, world.amount));
    expect(answer.status, answer.text).toBe(200);
  }),
  row("a refund on this chain is attested", async (judge) => {
    const payments = [judge.onePayment()];
    const order = judge.orderPaying(payments);
    const answer = await judge.refund(order, await judge.pay(order, payments));
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.message.result).toMatchObject({ orderId: judge.orderIdFor(order), status: 1 });
  }),
  row("two oracles sign the same fill", async (judge) => {
    const payments = [judge.onePayment()];
    const order = judge.orderPaying(payments);
    const request = {
      ...(await judge.depositAndBuildRequest(order)),
      fill: { transactionId: await judge.pay(order, payments) },
    };
    const answers = [await judge.postFill(request), await judge.postFill(request, judge.second)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(payloadOf(answers[0])).toBe(payloadOf(answers[1]));
  }),
  {
    name: "a deposit in another currency than the order's settles nothing",
    run: async (judge) => {
      const { otherCurrency, currency, amount } = judge.world;
      if (isNotApplicable(otherCurrency)) return otherCurrency;
      const { answer } = await settleByDeposit(judge, judge.orderFrom(otherCurrency, amount), currency);
      judge.mustBeRefused(answer, "rejected");
      return undefined;
    },
  },
  row("a deposit on another chain than the order's settles nothing", async (judge) => {
    const { world, home } = judge;
    const order = judge.orderFrom(world.currency, world.amount);
    const request = await judge.depositAndBuildRequest(order);
    home.addPayment(ELSEWHERE, [
      [order.output.payments[0]?.recipient ?? "", order.output.payments[0]?.currency ?? "", 990n],
    ]);
    const { transactionId } = await judge.deposit(freshId());
    const inputs = request.inputs.map((input) => ({ ...input, transactionId }));
    judge.mustBeRefused(
      await judge.mustSignNothing(judge.first, async () =>
        judge.postFill({ ...request, inputs, fill: { transactionId: ELSEWHERE } }),
      ),
      "rejected",
    );
  }),
  row("a fill after the deadline does not count", async (judge) => {
    const payments = [judge.onePayment()];
    const order = judge.orderPaying(payments, (editedOrder) => {
      editedOrder.output.deadline = 1_000_000;
    });
    await judge.mustNotFill(order, await judge.pay(order, payments));
  }),
  row("a fill long before its deposit does not count", async (judge) => {
    const payments = [judge.onePayment()];
    const order = judge.orderPaying(payments);
    const transactionId = await judge.pay(order, payments);
    const request = {
      ...(await judge.depositAndBuildRequest(order, { depositedAt: BigInt(FAR_DEADLINE) })),
      fill: { transactionId },
    };
    judge.mustBeRefused(
      await judge.mustSignNothing(judge.first, async () => judge.postFill(request)),
      "rejected",
    );
  }),
  rowOf(
    "a payment without a time does not count",
    ({ payments }) => payments.withoutTime,
    async (judge, scene) => {
      const payments = [judge.onePayment()];
      const order = judge.orderPaying(payments);
      const { transactionId, urls } = await final(
        judge,
        scene({ orderId: judge.orderIdFor(order), payments }),
      );
      if (urls !== undefined) await judge.first.readAt(urls);
      try {
        const answer = await judge.mustSignNothing(judge.first, async () => judge.fill(order, transactionId));
        judge.mustBeRefused(answer, "upstream_unavailable", "rejected");
      } finally {
        await judge.first.readAt(judge.world.urls);
      }
    },
  ),
  rowOf(
    "a failed payment does not count",
    ({ payments }) => payments.failed,
    async (judge, scene) => await mustRefusePayment(judge, scene),
  ),
  rowOf(
    "a payment reverted within its transaction does not count",
    ({ payments }) => payments.innerReverted,
    async (judge, scene) => await mustRefusePayment(judge, scene),
  ),
  row("a fill that names the order but pays another recipient does not count", async (judge) => {
    const { recipients } = judge.world;
    const order = judge.orderPaying([judge.onePayment()]);
    await judge.mustNotFill(order, await judge.pay(order, [judge.onePayment({ recipient: recipients[1] })]));
  }),
  row("a fill that is one unit too low does not count", async (judge) => {
    const order = judge.orderPaying([judge.onePayment()]);
    const paid = [judge.onePayment({ amount: judge.world.amount - 1n })];
    await judge.mustNotFill(order, await judge.pay(order, paid));
  }),
  row("a payment that names another order does not count", async (judge) => {
    const payments = [judge.onePayment()];
    const [order, other] = [judge.orderPaying(payments), judge.orderPaying(payments)];
    await judge.mustNotFill(order, await judge.pay(other, payments));
  }),
  rowOf(
    "an order's id inside a payment for another order does not count",
    ({ payments }) => payments.idElsewhere,
    async (judge, scene) => await mustRefusePayment(judge, scene),
  ),
  rowOf(
    "one payment fills at most one of two orders",
    ({ payments }) => payments.forTwoOrders,
    async (judge, scene) => {
      const payment = judge.onePayment();
      const orders = [judge.orderPaying([payment]), judge.orderPaying([payment])] as const;
      const ids = orders.map(judge.orderIdFor) as [Hex32, Hex32];
      const transactionId = await final(judge, scene(ids, payment));
      const answers = [
        await judge.fill(orders[0], transactionId),
        await judge.fill(orders[1], transactionId),
      ];
      const attested = answers.filter(({ status }) => status === 200);
      expect(attested.length).toBeLessThan(2);
      for (const answer of answers) if (answer.status !== 200) judge.mustBeRefused(answer, "rejected");
    },
  ),
  row("two payments of an order to one recipient need the sum of both", async (judge) => {
    const payment = judge.onePayment();
    const order = judge.orderPaying([payment, payment]);
    await judge.mustNotFill(order, await judge.pay(order, [payment]));
    const enough = [judge.onePayment({ amount: 2n * judge.world.amount })];
    await judge.mustFill(order, await judge.fill(order, await judge.pay(order, enough)));
  }),
  row("one fill has one idempotency key, whichever deposit the request names", async (judge) => {
    const payments = [judge.onePayment()];
    const order = judge.orderPaying(payments);
    const transactionId = await judge.pay(order, payments);
    const answers = [await judge.fill(order, transactionId), await judge.fill(order, transactionId)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(new Set(answers.map(({ body }) => body.execution.idempotencyKey)).size).toBe(1);
  }),
  rowOf(
    "an amount that the recipient returns does not count as paid",
    ({ payments }) => payments.returnedByRecipient,
    async (judge, scene) => await mustRefusePayment(judge, scene),
  ),
  rowOf(
    "events of an unknown contract are ignored",
    ({ payments }) => payments.reportedByStranger,
    async (judge, scene) => {
      const payments = [judge.onePayment()];
      const { strangersExtraData } = judge.world.payments;
      const order = judge.orderPaying(payments, (editedOrder) => {
        editedOrder.output.extraData = strangersExtraData;
      });
      const transactionId = await final(judge, scene({ orderId: judge.orderIdFor(order), payments }));
      await judge.mustNotFill(order, transactionId, ["rejected", "invalid_request"]);
    },
  ),
  {
    name: "an order's calls must all be made, once and in order",
    run: async (judge) => {
      const { calls } = judge.world.payments;
      if (isNotApplicable(calls)) return calls;
      const payments = [judge.onePayment()];
      const payWithCalls = async (which: readonly number[]) => {
        const order = judge.orderPaying(payments, (editedOrder) => {
          editedOrder.output.calls = [...calls.encoded];
        });
        const transactionId = await final(
          judge,
          calls.pay({ orderId: judge.orderIdFor(order), payments }, which),
        );
        return { order, transactionId };
      };
      const good = await payWithCalls([0, 1]);
      await judge.mustFill(good.order, await judge.fill(good.order, good.transactionId));
      for (const which of [[1, 0], [0], [1], [0, 0]]) {
        const { order, transactionId } = await payWithCalls(which);
        await judge.mustNotFill(order, transactionId);
      }
      return undefined;
    },
  },
  {
    name: "a fill without the order's calls is not attested, even if the chain cannot make calls",
    run: async (judge) => {
      if (!isNotApplicable(judge.world.payments.calls)) return { notApplicable: "calls can be made here" };
      const payments = [judge.onePayment()];
      const order = judge.orderPaying(payments, (editedOrder) => {
        editedOrder.output.calls = ["0x01"];
      });
      await judge.mustNotFill(order, await judge.pay(order, payments), ["rejected", "invalid_request"]);
      return undefined;
    },
  },
  row("a refund to another recipient does not count", async (judge) => {
    const order = judge.orderPaying([judge.onePayment()]);
    const paid = [judge.onePayment({ recipient: judge.world.recipients[1] })];
    await mustNotRefund(judge, order, await judge.pay(order, paid), "rejected");
  }),
  row("a refund for another order does not count", async (judge) => {
    const payments = [judge.onePayment()];
    const [order, other] = [judge.orderPaying(payments), judge.orderPaying(payments)];
    await mustNotRefund(judge, order, await judge.pay(other, payments), "rejected");
  }),
  row("a late refund does not count", async (judge) => {
    const payments = [judge.onePayment()];
    const order = judge.orderPaying(payments, (editedOrder) => {
      for (const { refunds } of editedOrder.inputs) for (const option of refunds) option.deadline = 1_000_000;
    });
    await mustNotRefund(judge, order, await judge.pay(order, payments), "rejected");
  }),
  row("one refund does not return two inputs", async (judge) => {
    const payments = [judge.onePayment()];
    const order = judge.orderPaying(payments, (editedOrder) => {
      editedOrder.inputs = [...editedOrder.inputs, ...structuredClone(editedOrder.inputs)];
      // The combined refund of several inputs must not look like the fill.
      editedOrder.output.payments = [
        {
          ...judge.onePayment({ recipient: judge.world.recipients[1] }),
          minimumAmount: "1",
          expectedAmount: "1",
        },
      ].map(({ recipient, currency, minimumAmount, expectedAmount }) => ({
        recipient,
        currency,
        minimumAmount,
        expectedAmount,
      }));
    });
    await mustNotRefund(judge, order, await judge.pay(order, payments), "rejected");
  }),
  row("refund options that the order does not have are refused", async (judge) => {
    const order = judge.orderPaying([judge.onePayment()]);
    const transactionId = await judge.pay(order, [judge.onePayment()]);
    for (const index of [1, -1, 0.5])
      await mustNotRefund(judge, order, transactionId, "invalid_request", index);
  }),
  row("an address of another family is rejected", async (judge) => {
    const { world, home } = judge;
    for (const field of ["recipient", "currency"] as const) {
      const order = judge.orderPaying([judge.onePayment()]);
      const request = await judge.depositAndBuildRequest(order);
      const foreign = structuredClone(order) as {
        output: { payments: { recipient: string; currency: string }[] };
      };
      for (const payment of foreign.output.payments) payment[field] = world.foreignAddress;
      const answer = await judge.mustSignNothing(judge.first, async () =>
        judge.postFill({ ...request, order: foreign, fill: { transactionId: otherId(ELSEWHERE) } }),
      );
      judge.mustBeRefused(answer, "invalid_request");
    }
    expect(home.chain.vmType).toBe("ethereum-vm");
  }),
  row("refuses an order whose inputs have no weight", async (judge) => {
    const payments = [judge.onePayment()];
    const order = judge.orderPaying(payments, (editedOrder) => {
      for (const { payment } of editedOrder.inputs) payment.weight = "0";
    });
    await judge.mustNotFill(order, await judge.pay(order, payments), ["invalid_request"]);
  }),
  row("an order that its solver did not sign is refused", async (judge) => {
    const payments = [judge.onePayment()];
    const order = judge.orderPaying(payments);
    const transactionId = await judge.pay(order, payments);
    const request = { ...(await judge.depositAndBuildRequest(order)), fill: { transactionId } };
    const otherOrder = judge.orderPaying(payments);
    const answer = await judge.mustSignNothing(judge.first, async () =>
      judge.postFill({ ...request, orderSignature: await judge.signOrder(otherOrder) }),
    );
    judge.mustBeRefused(answer, "rejected");
  }),
];

/** An order whose deposit is on this chain, and its correct fill on the other chain. */
async function settleByDeposit(
  judge: Judge,
  order: ReturnType<Judge["orderFrom"]>,
  currency = order.inputs[0]?.payment.currency,
) {
  const { world, home, chain } = judge;
  const deposit = await judge.deposit(judge.orderIdFor(order), world.amount, currency);
  const depositAnswer = await judge.mustAttest(deposit);
  const onchainId = String(depositAnswer.body.messages[0]?.result["onchainId"]);
  const fillId = freshId();
  home.addPayment(
    fillId,
    order.output.payments.map((payment) => [
      payment.recipient,
      payment.currency,
      BigInt(payment.minimumAmount),
    ]),
    BigInt(FAR_DEADLINE - 1),
  );
  expect(order.inputs[0]?.payment.chainId).toBe(chain.name);
  const answer = await judge.postFill({
    order,
    orderSignature: await judge.signOrder(order),
    inputs: [{ transactionId: deposit.transactionId, onchainId, inputIndex: 0 }],
    fill: { transactionId: fillId },
  });
  return { answer, deposit };
}

async function mustRefusePayment(
  judge: Judge,
  scene: (plan: { orderId: Hex32; payments: ReturnType<Judge["onePayment"]>[] }) => Promise<string>,
): Promise<void> {
  const payments = [judge.onePayment()];
  const order = judge.orderPaying(payments);
  const transactionId = await final(judge, scene({ orderId: judge.orderIdFor(order), payments }));
  await judge.mustNotFill(order, transactionId, ["rejected", "not_found"]);
}

async function mustNotRefund(
  judge: Judge,
  order: ReturnType<Judge["orderPaying"]>,
  transactionId: string,
  code: "rejected" | "invalid_request",
  refundIndex = 0,
): Promise<void> {
  const answer = await judge.mustSignNothing(judge.first, async () =>
    judge.refund(order, transactionId, refundIndex),
  );
  judge.mustBeRefused(answer, code);
}
