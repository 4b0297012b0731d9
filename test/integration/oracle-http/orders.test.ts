import { fillKey, onchainId, rawKeySigner } from "@causeway/attest";
import type { Hex32 } from "@causeway/domain";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  account,
  aFill,
  anOrder,
  aRefund,
  DEPOSIT_TX,
  type EditableOrder,
  FILL_TX,
  NATIVE,
  orderIdFor,
  RECIPIENT,
  REFUND_TX,
  signOrder,
  solver,
  startWorld,
  USDC,
  USER,
  word,
} from "../../support/oracle-world.ts";
import type { Answer, World } from "../../support/oracle-world.ts";

// What an order and its payments must satisfy before oracles sign anything about them.

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const face = ({ status, body }: Answer) => [status, body.code, body.field];
type FillRequest = Awaited<ReturnType<typeof aFill>>;

async function fillOf(editOrder?: (order: EditableOrder) => void, edit?: (request: FillRequest) => void) {
  const request = await aFill(world, anOrder(editOrder));
  edit?.(request);
  return await world.post("solver-fills", request);
}

const secondInput = (order: EditableOrder): void => {
  const [first] = order.inputs;
  if (first !== undefined) order.inputs.push(structuredClone(first));
};

test("attests the complete example that the refused cases below change", async () => {
  expect((await fillOf()).status).toBe(200);
  expect((await fillOf(secondInput)).status).toBe(200);
  expect((await world.post("solver-refunds", await aRefund(world))).status).toBe(200);
  expect((await world.post("solver-refunds", await aRefund(world, anOrder(secondInput)))).status).toBe(200);
});

test.each<[string, (order: EditableOrder) => void, string, string]>([
  ["no input", (o) => (o.inputs = []), "invalid_request", "order.inputs"],
  ["no payment", (o) => (o.output.payments = []), "invalid_request", "order.output.payments"],
  [
    "weights that add up to zero",
    (o) => o.inputs.forEach((i) => (i.payment.weight = "0")),
    "invalid_request",
    "order.inputs",
  ],
  [
    "amounts that add up to zero",
    (o) => o.inputs.forEach((i) => (i.payment.amount = "0")),
    "invalid_request",
    "order.inputs",
  ],
  ["an unknown chain of the solver", (o) => (o.solverChainId = "mars"), "not_found", "order.solverChainId"],
  [
    "an unknown chain of an input",
    (o) => o.inputs.forEach((i) => (i.payment.chainId = "mars")),
    "not_found",
    "order.inputs[0].payment.chainId",
  ],
  ["an unknown chain of payment", (o) => (o.output.chainId = "mars"), "not_found", "order.output.chainId"],
  [
    "a refund option on an unknown chain",
    (o) => o.inputs.forEach((i) => i.refunds.forEach((r) => (r.chainId = "mars"))),
    "not_found",
    "order.inputs[0].refunds[0].chainId",
  ],
  [
    "a recipient in another family's format",
    (o) => o.output.payments.forEach((p) => (p.recipient = "11111111111111111111111111111111")),
    "invalid_request",
    "order.output.payments[0].recipient",
  ],
])("an order with %s is refused before any chain is read", async (_what, edit, code, field) => {
  // The solver signs the edited order if it can be hashed. Otherwise the oracle does not check the signature.
  const order = anOrder(edit);
  const hashable = !code.startsWith("not") && !field.includes("recipient") ? order : anOrder();
  const request = { ...(await aFill(world)), order, orderSignature: await signOrder(solver, hashable) };
  const before = world.origin.readCount;
  expect(face(await world.post("solver-fills", request))).toEqual([400, code, field]);
  expect(world.origin.readCount).toBe(before);
});

test.each<[string, readonly (string | number)[], unknown]>([
  ["a negative amount", ["inputs", 0, "payment", "amount"], "-1"],
  ["a hex amount", ["output", "payments", 0, "minimumAmount"], "0x10"],
  ["an amount as a number", ["inputs", 0, "payment", "amount"], 1_000],
  ["an amount of 2^256", ["inputs", 0, "payment", "amount"], (2n ** 256n).toString()],
  ["an amount with a leading zero", ["inputs", 0, "payment", "amount"], "01000"],
  ["a deadline of 2^32", ["output", "deadline"], 2 ** 32],
  ["a fractional deadline", ["output", "deadline"], 1.5],
  ["a deadline as text", ["output", "deadline"], "5000"],
  ["a salt that is not 32 bytes", ["salt"], "0x07"],
  ["calls that are not bytes", ["output", "calls"], ["0xabc"]],
  ["another version", ["version"], "v2"],
])("an order with %s is refused as malformed", async (_what, path, value) => {
  const request = await aFill(world);
  const { status, body } = await world.post("solver-fills", {
    ...request,
    order: withValue(request.order, path, value),
  });
  expect([status, body.code]).toEqual([400, "invalid_request"]);
  expect(body.field).toMatch(/^order\./);
});

/** A copy of `json` with another value at this path. */
function withValue(json: unknown, [key, ...rest]: readonly (string | number)[], value: unknown): unknown {
  if (key === undefined) return value;
  const inner = (json as Readonly<Record<string | number, unknown>>)[key];
  const changed = withValue(inner, rest, value);
  return Array.isArray(json)
    ? (json as unknown[]).with(Number(key), changed)
    : { ...(json as object), [key]: changed };
}

test("requires a canonical signature by the solver over this order", async () => {
  const order = anOrder();
  const stranger = await signOrder(rawKeySigner(word("55")), order);
  expect(face(await fillOf(undefined, (r) => (r.orderSignature = stranger)))).toEqual([
    400,
    "rejected",
    "orderSignature",
  ]);
  const other = await signOrder(
    solver,
    anOrder((o) => (o.salt = word("08"))),
  );
  expect(face(await fillOf(undefined, (r) => (r.orderSignature = other)))[1]).toBe("rejected");

  // The same signature with s in the upper half: mathematically valid, but with different bytes.
  const n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const good = await signOrder(solver, order);
  const s = (n - BigInt(`0x${good.slice(66, 130)}`)).toString(16).padStart(64, "0");
  const v = good.endsWith("1b") ? "1c" : "1b";
  const highS = `${good.slice(0, 66)}${s}${v}` as const;
  expect(face(await fillOf(undefined, (r) => (r.orderSignature = highS as typeof good)))[1]).toBe("rejected");
  expect(
    (
      await fillOf(
        undefined,
        (r) => (r.orderSignature = good.toUpperCase().replace("0X", "0x") as typeof good),
      )
    ).status,
  ).toBe(200);
});

test("requires that every input of the order is claimed exactly once, and no deposit twice", async () => {
  expect(face(await fillOf(undefined, (r) => (r.inputs = [])))[1]).toBe("invalid_request");
  expect(face(await fillOf(secondInput, (r) => r.inputs.pop()))[1]).toBe("invalid_request");
  expect(
    face(
      await fillOf(secondInput, (r) =>
        r.inputs.forEach((i) => (i.onchainId = onchainId("origin", DEPOSIT_TX, "0"))),
      ),
    ),
  ).toEqual([400, "invalid_request", "inputs"]);
  expect(
    face(
      await fillOf(undefined, (r) =>
        r.inputs.push({ transactionId: DEPOSIT_TX, onchainId: word("99"), inputIndex: 0 }),
      ),
    )[1],
  ).toBe("invalid_request");
  for (const inputIndex of [1, 7, 2 ** 32 - 1])
    expect(
      face(await fillOf(undefined, (r) => r.inputs.forEach((i) => (i.inputIndex = inputIndex)))),
    ).toEqual([400, "invalid_request", "inputs[0].inputIndex"]);
  for (const inputIndex of [-1, 0.5, 2 ** 32, "0"])
    expect(
      face(await fillOf(undefined, (r) => r.inputs.forEach((i) => (i.inputIndex = inputIndex as number))))[1],
    ).toBe("invalid_request");
});

test("on-chain ids that differ only in case are the same deposit", async () => {
  const upper = (text: string): string => text.toUpperCase().replace("0X", "0x");
  expect(
    face(
      await fillOf(secondInput, (r) => {
        const [first, second] = r.inputs;
        if (first && second) second.onchainId = upper(first.onchainId);
      }),
    )[1],
  ).toBe("invalid_request");
});

test("a deposit pays an input only with that order's id, in that currency, on that chain", async () => {
  const request = await aFill(world);
  const depositId = orderIdFor(request.order);
  const deposited = (deposit: object) => world.origin.addDeposits(DEPOSIT_TX, [{ depositId, ...deposit }]);

  deposited({ depositId: word("44") });
  expect(face(await world.post("solver-fills", request))[1]).toBe("rejected");
  deposited({ depositId: undefined });
  expect(face(await world.post("solver-fills", request))[1]).toBe("rejected");
  deposited({ currency: NATIVE });
  expect(face(await world.post("solver-fills", request))[1]).toBe("rejected");
  deposited({ index: "5" });
  expect(face(await world.post("solver-fills", request))[1]).toBe("rejected");
  deposited({});
  expect((await world.post("solver-fills", request)).status).toBe(200);
});

test("deposits of two currencies with one id stay separate: each input names the one in its own currency", async () => {
  const request = await aFill(world);
  const depositId = orderIdFor(request.order);
  world.origin.addDeposits(DEPOSIT_TX, [
    { depositId, currency: NATIVE, amount: 10n ** 18n, depositor: account("a9") },
    { depositId, amount: 1_600n },
  ]);
  request.inputs.forEach((input) => (input.onchainId = onchainId("origin", DEPOSIT_TX, "1")));
  const { body } = await world.post("solver-fills", request);
  // The native deposit counts as zero, so the difference is +60%.
  expect(body.message.result["totalWeightedInputPaymentBpsDiff"]).toBe("600000000000000000");
});

test("the difference between input and deposit is exact, and is truncated toward zero whether positive or negative", async () => {
  // If the settlement key is derived from the deposits, a fill may be lower than requested.
  const byDeposits = await startWorld({ hub: { settlementKey: "deposits" } });
  const order = anOrder((o) => {
    secondInput(o);
    o.inputs.forEach((input, i) => {
      input.payment.amount = "1";
      input.payment.weight = i === 0 ? "2" : "1";
    });
  });
  const request = await aFill(byDeposits, order);
  const depositId = orderIdFor(order);
  const difference = async (first: bigint, second: bigint) => {
    byDeposits.origin.addDeposits(DEPOSIT_TX, [
      { depositId, amount: first },
      { depositId, amount: second },
    ]);
    const { body } = await byDeposits.post("solver-fills", request);
    return body.message.result["totalWeightedInputPaymentBpsDiff"] as string;
  };
  expect(await difference(1n, 2n)).toBe("333333333333333333");
  expect(await difference(1n, 0n)).toBe("-333333333333333333");
  expect(await difference(1n, 2n ** 190n + 1n)).toBe(((2n ** 190n * 10n ** 18n) / 3n).toString());
  // The value exceeds the range of the message's field.
  byDeposits.origin.addDeposits(DEPOSIT_TX, [
    { depositId, amount: 2n ** 250n },
    { depositId, amount: 1n },
  ]);
  expect(face(await byDeposits.post("solver-fills", request))[1]).toBe("rejected");
  await byDeposits.close();
});

test("requires the sum of the payments to one recipient in one currency, so that one transfer cannot satisfy two of them", async () => {
  const twice = anOrder((o) => {
    o.output.payments.push({ ...(o.output.payments[0] ?? never()), minimumAmount: "10" });
  });
  const request = await aFill(world, twice);
  world.destination.addPayment(FILL_TX, [[RECIPIENT, USDC, 999n]]);
  expect(face(await world.post("solver-fills", request))).toEqual([400, "rejected", "fill.transactionId"]);
  world.destination.addPayment(FILL_TX, [[RECIPIENT, USDC, 1_000n]]);
  expect((await world.post("solver-fills", request)).status).toBe(200);
});

test("recipients that differ only in case are one recipient", async () => {
  const recipient = `0x${"Ab".repeat(20)}`;
  const twice = anOrder((o) => {
    const payment = o.output.payments[0] ?? never();
    o.output.payments = [
      { ...payment, recipient },
      { ...payment, recipient: recipient.toLowerCase() },
    ];
  });
  const request = await aFill(world, twice);
  world.destination.addPayment(FILL_TX, [[recipient.toLowerCase(), USDC, 990n]]);
  expect(face(await world.post("solver-fills", request))[1]).toBe("rejected");
});

test("requires a fill to pay enough, in the right currency, to the right recipient, in time, and after its deposit", async () => {
  const request = await aFill(world);
  const filled = async (to: string, currency: string, amount: bigint, at = 2_000n) => {
    world.destination.addPayment(FILL_TX, [[to, currency, amount]], at);
    const { status, body } = await world.post("solver-fills", request);
    return status === 200 ? "ok" : body.code;
  };
  expect(await filled(RECIPIENT, USDC, 989n)).toBe("rejected");
  expect(await filled(RECIPIENT, NATIVE, 990n)).toBe("rejected");
  expect(await filled(USER, USDC, 990n)).toBe("rejected");
  expect(await filled(RECIPIENT, USDC, 990n, 5_001n)).toBe("rejected");
  expect(await filled(RECIPIENT, USDC, 990n, 5_000n)).toBe("ok");
  // The clock of another chain may lag by at most a minute.
  expect(await filled(RECIPIENT, USDC, 990n, 940n)).toBe("ok");
  expect(await filled(RECIPIENT, USDC, 990n, 939n)).toBe("rejected");
});

test("on one chain, refuses a fill that is older than its deposit", async () => {
  const order = anOrder((o) => (o.output.chainId = "origin"));
  const request = await aFill(world, order);
  world.origin.addPayment(FILL_TX, [[RECIPIENT, USDC, 990n]], 999n);
  expect(face(await world.post("solver-fills", request))[1]).toBe("rejected");
  world.origin.addPayment(FILL_TX, [[RECIPIENT, USDC, 990n]], 1_000n);
  expect((await world.post("solver-fills", request)).status).toBe(200);
});

test("a fill may be older than its deposit by the network's lead, on another chain or on the same one", async () => {
  const lending = await startWorld({ hub: { fillLeadSeconds: 600 } });
  const order = anOrder();
  const request = await aFill(lending, order);
  const deposited = (timestamp: bigint) =>
    lending.origin.addDeposits(DEPOSIT_TX, [{ depositId: orderIdFor(order) }], timestamp);
  const answer = async (): Promise<string | undefined> => {
    const { status, body } = await lending.post("solver-fills", request);
    return status === 200 ? "ok" : body.code;
  };
  lending.destination.addPayment(FILL_TX, [[RECIPIENT, USDC, 990n]], 2_000n);
  deposited(2_600n);
  expect(await answer()).toBe("ok");
  deposited(2_601n);
  expect(await answer()).toBe("rejected");

  const near = anOrder((o) => (o.output.chainId = "origin"));
  const nearRequest = await aFill(lending, near);
  const nearAnswer = async (paidAt: bigint): Promise<string | undefined> => {
    lending.origin.addPayment(FILL_TX, [[RECIPIENT, USDC, 990n]], paidAt);
    const { status, body } = await lending.post("solver-fills", nearRequest);
    return status === 200 ? "ok" : body.code;
  };
  lending.origin.addDeposits(DEPOSIT_TX, [{ depositId: orderIdFor(near) }], 2_540n);
  expect(await nearAnswer(2_000n), "one chain has one clock").toBe("ok");
  expect(await nearAnswer(1_999n)).toBe("rejected");
  await lending.close();
});

test("a lead does not extend the deadline: a fill after the deadline is late even if its deposit was early", async () => {
  const lending = await startWorld({ hub: { fillLeadSeconds: 600 } });
  const request = await aFill(lending);
  lending.destination.addPayment(FILL_TX, [[RECIPIENT, USDC, 990n]], 5_001n);
  expect(face(await lending.post("solver-fills", request))[1]).toBe("rejected");
  await lending.close();
});

test("one payment settles an order once, because claims with other deposits, repeated claims and refunds by that payment have the same key", async () => {
  const request = await aFill(world);
  const orderId = orderIdFor(request.order);
  const first = (await world.post("solver-fills", request)).body.execution.idempotencyKey;
  world.origin.addDeposits(word("12"), [{ depositId: orderId }]);
  request.inputs = [
    { transactionId: word("12"), onchainId: onchainId("origin", word("12"), "0"), inputIndex: 0 },
  ];
  const second = (await world.post("solver-fills", request)).body.execution.idempotencyKey;
  expect(second).toBe(first);
  expect(first).toBe(
    fillKey("payment", {
      orderId,
      onchainIds: [],
      payment: { chain: "destination", transactionId: FILL_TX },
    }),
  );

  const sameChain = anOrder((o) => {
    o.output.chainId = "origin";
    o.output.payments.forEach((p) => (p.recipient = USER));
  });
  const { refunds: _, ...both } = { ...(await aRefund(world, sameChain)) };
  world.origin.addPayment(REFUND_TX, [[USER, USDC, 990n]]);
  const asFill = await world.post("solver-fills", { ...both, fill: { transactionId: REFUND_TX } });
  const asRefund = await world.post("solver-refunds", {
    ...both,
    refunds: [{ transactionId: REFUND_TX, inputIndex: 0, refundIndex: 0 }],
  });
  expect(asFill.body.execution.idempotencyKey).toBe(asRefund.body.execution.idempotencyKey);
});

test("dust with an order's id cannot use up the key of the payment for the real deposit", async () => {
  const request = await aFill(world);
  const depositId = orderIdFor(request.order);
  const settled = async (route: "solver-fills" | "solver-refunds", body: object, deposit: bigint) => {
    world.origin.addDeposits(DEPOSIT_TX, [{ depositId, amount: deposit }]);
    return face(await world.post(route, body)).slice(0, 2);
  };
  expect(await settled("solver-fills", request, 1n)).toEqual([400, "rejected"]);
  expect(await settled("solver-fills", request, 999n)).toEqual([400, "rejected"]);
  expect(await settled("solver-fills", request, 1_000n)).toEqual([200, undefined]);

  const refund = await aRefund(world);
  world.origin.addPayment(REFUND_TX, [[USER, USDC, 980n]]);
  expect(await settled("solver-refunds", refund, 1n)).toEqual([400, "rejected"]);
  expect(await settled("solver-refunds", refund, 979n)).toEqual([400, "rejected"]);
  expect(await settled("solver-refunds", refund, 980n)).toEqual([200, undefined]);
});

/** The request with the deposits of another account for the same order. */
function withDeposits<Request extends { inputs: { inputIndex: number }[] }>(
  request: Request,
  deposits: readonly { readonly amount: bigint; readonly currency?: string }[],
  depositId: Hex32,
): Request {
  const transactionId = word("12");
  world.origin.addDeposits(
    transactionId,
    deposits.map((deposit) => ({ depositId, ...deposit })),
    1_500n,
  );
  const inputs = request.inputs.map(({ inputIndex }) => ({
    transactionId,
    onchainId: onchainId("origin", transactionId, String(inputIndex)),
    inputIndex,
  }));
  return { ...request, inputs };
}

test.each([
  ["of weight zero", "0", 1_000n],
  ["compensated by another", "1", 1_999n],
])("dust in an input %s cannot use up a fill's key", async (_what, weight, first) => {
  const DAI = account("c2");
  const order = anOrder((o) => {
    secondInput(o);
    o.inputs.forEach((input, i) => {
      if (i === 1) Object.assign(input.payment, { currency: DAI, weight });
    });
  });
  const request = await aFill(world, order);
  const settled = async (dust: bigint) =>
    face(
      await world.post(
        "solver-fills",
        withDeposits(request, [{ amount: first }, { amount: dust, currency: DAI }], orderIdFor(order)),
      ),
    ).slice(0, 2);
  expect(await settled(1n)).toEqual([400, "rejected"]);
  expect(await settled(999n)).toEqual([400, "rejected"]);
  expect(await settled(1_000n)).toEqual([200, undefined]);
});

test("dust in an input cannot use up the key of a refund, because payments to several recipients count together", async () => {
  for (const inTwo of [false, true]) {
    const order = anOrder((o) => {
      secondInput(o);
      o.inputs.forEach((input, i) => i === 1 && input.refunds.forEach((r) => (r.recipient = RECIPIENT)));
    });
    const request = await aRefund(world, order);
    if (inTwo) {
      request.refunds.forEach((refund, i) => (refund.transactionId = i === 0 ? REFUND_TX : word("34")));
      world.origin.addPayment(REFUND_TX, [[USER, USDC, 980n]]);
      world.origin.addPayment(word("34"), [[RECIPIENT, USDC, 980n]]);
    }
    const settled = async (dust: bigint) =>
      face(
        await world.post(
          "solver-refunds",
          withDeposits(request, [{ amount: 1_000n }, { amount: dust }], orderIdFor(order)),
        ),
      ).slice(0, 2);
    expect((await world.post("solver-refunds", request)).status).toBe(200);
    expect(await settled(1n)).toEqual([400, "rejected"]);
    expect(await settled(959n)).toEqual([400, "rejected"]);
    expect(await settled(960n)).toEqual([200, undefined]);
  }
});

test("a refund across currencies settles only inputs with complete deposits", async () => {
  const DAI = account("c2");
  // The first input is refunded in the currency of the second input, which is refunded in its own currency.
  const order = anOrder((o) => {
    secondInput(o);
    o.inputs.forEach((input, i) => {
      if (i === 1) input.payment.currency = DAI;
      input.refunds.forEach((r) => (r.currency = DAI));
    });
  });
  const request = await aRefund(world, order);
  const settled = async (first: bigint, second: bigint) =>
    (
      await world.post(
        "solver-refunds",
        withDeposits(request, [{ amount: first }, { amount: second, currency: DAI }], orderIdFor(order)),
      )
    ).status;
  expect(await settled(1_000n, 1_000n)).toBe(200);
  expect(await settled(1n, 1_999n)).toBe(400);
  expect(await settled(999n, 1_001n)).toBe(400);
  expect(await settled(1_001n, 999n)).toBe(400);
});

test("refuses an order with too many refund options before it processes them", async () => {
  const many = async (total: number) => {
    const order = anOrder((o) => {
      const [input] = o.inputs;
      const [option] = input?.refunds ?? [];
      if (input === undefined || option === undefined) never();
      input.refunds = Array.from({ length: 32 }, () => option);
      o.inputs.push({ ...input, refunds: Array.from({ length: total - 32 }, () => option) });
    });
    return face(await world.post("solver-fills", await aFill(world, order)));
  };
  expect(await many(64)).toEqual([200, undefined, undefined]);
  expect(await many(65)).toEqual([400, "invalid_request", "order.inputs"]);
});

test("a refund in another currency settles only a complete deposit", async () => {
  const inNative = anOrder((o) => o.inputs.forEach((i) => i.refunds.forEach((r) => (r.currency = NATIVE))));
  const request = await aRefund(world, inNative);
  const depositId = orderIdFor(inNative);
  const settled = async (deposit: bigint) => {
    world.origin.addDeposits(DEPOSIT_TX, [{ depositId, amount: deposit }]);
    world.origin.addPayment(REFUND_TX, [[USER, NATIVE, 980n]]);
    return (await world.post("solver-refunds", request)).status;
  };
  expect(await settled(999n)).toBe(400);
  expect(await settled(1_000n)).toBe(200);
});

test("in a network that settles by deposits, attests with keys derived from the deposits", async () => {
  const other = await startWorld({ hub: { settlementKey: "deposits" } });
  const request = await aFill(other);
  const { body } = await other.post("solver-fills", request);
  expect(body.execution.idempotencyKey).toBe(
    fillKey("deposits", {
      orderId: orderIdFor(request.order),
      onchainIds: [onchainId("origin", DEPOSIT_TX, "0")],
      payment: { chain: "x", transactionId: "y" },
    }),
  );
  await other.close();
});

test("requires a refund to pay the option's recipient enough and in time, or the depositor for the native currency's address", async () => {
  const toDepositor = anOrder((o) =>
    o.inputs.forEach((i) => i.refunds.forEach((r) => (r.recipient = NATIVE))),
  );
  const request = await aRefund(world, toDepositor);
  const refunded = async (to: string, amount: bigint, at = 2_000n) => {
    world.origin.addPayment(REFUND_TX, [[to, USDC, amount]], at);
    const { status, body } = await world.post("solver-refunds", request);
    return status === 200 ? "ok" : body.code;
  };
  expect(await refunded(USER, 980n)).toBe("ok");
  expect(await refunded(USER, 979n)).toBe("rejected");
  expect(await refunded(NATIVE, 980n)).toBe("rejected");
  expect(await refunded(RECIPIENT, 980n)).toBe("rejected");
  expect(await refunded(USER, 980n, 9_001n)).toBe("rejected");
  expect(await refunded(USER, 980n, 999n)).toBe("rejected");
});

test("the required refund is proportional to the deposit", async () => {
  const request = await aRefund(world);
  const depositId = orderIdFor(request.order);
  const refunded = async (deposit: bigint, amount: bigint) => {
    world.origin.addDeposits(DEPOSIT_TX, [{ depositId, amount: deposit }]);
    world.origin.addPayment(REFUND_TX, [[USER, USDC, amount]]);
    return (await world.post("solver-refunds", request)).status;
  };
  expect(await refunded(2_000n, 1_959n)).toBe(400);
  expect(await refunded(2_000n, 1_960n)).toBe(200);
  expect(await refunded(500n, 489n)).toBe(400);
  expect(await refunded(500n, 490n)).toBe(200);
});

test.each([
  ["out of range", 1],
  ["negative", -1],
  ["fractional", 0.5],
  ["not a number", "0"],
])("a refund index that is %s is refused", async (_what, refundIndex) => {
  const request = await aRefund(world);
  const refunds = [{ transactionId: REFUND_TX, inputIndex: 0, refundIndex }];
  expect(face(await world.post("solver-refunds", { ...request, refunds })).slice(0, 3)).toEqual([
    400,
    "invalid_request",
    "refunds[0].refundIndex",
  ]);
});

test("a refund claim must refund every input exactly once", async () => {
  const order = anOrder(secondInput);
  const request = await aRefund(world, order);
  const [first, second] = request.refunds;
  for (const refunds of [[], [first], [first, first], [first, second, first]])
    expect(face(await world.post("solver-refunds", { ...request, refunds }))[1]).toBe("invalid_request");
});

test("requires one transaction that refunds two inputs to pay the sum of both", async () => {
  const order = anOrder(secondInput);
  const request = await aRefund(world, order);
  world.origin.addPayment(REFUND_TX, [[USER, USDC, 1_959n]]);
  expect(face(await world.post("solver-refunds", request))[1]).toBe("rejected");
  world.origin.addPayment(REFUND_TX, [[USER, USDC, 1_960n]]);
  expect((await world.post("solver-refunds", request)).status).toBe(200);
});

test("two transactions may refund two inputs, each in full", async () => {
  const order = anOrder(secondInput);
  const request = await aRefund(world, order);
  request.refunds.forEach((refund, i) => (refund.transactionId = i === 0 ? REFUND_TX : word("34")));
  world.origin.addPayment(REFUND_TX, [[USER, USDC, 980n]]);
  expect(face(await world.post("solver-refunds", request))[1]).toBe("not_found");
  world.origin.addPayment(word("34"), [[USER, USDC, 980n]]);
  expect((await world.post("solver-refunds", request)).status).toBe(200);
});

test("does not attest a refund of several inputs that could be mistaken for the order's fill", async () => {
  const order = anOrder((o) => {
    secondInput(o);
    o.output.chainId = "origin";
    o.output.payments.forEach((p) => (p.recipient = USER));
  });
  const request = await aRefund(world, order);
  world.origin.addPayment(REFUND_TX, [[USER, USDC, 5_000n]]);
  expect(face(await world.post("solver-refunds", request))).toEqual([400, "rejected", "refunds"]);
});

test("refunds of one transaction that name different fill contracts cannot be distinguished, so they are not attested", async () => {
  const order = anOrder((o) => {
    secondInput(o);
    o.inputs.forEach((input, i) => input.refunds.forEach((r) => (r.extraData = i === 0 ? "0x" : word("01"))));
  });
  const request = await aRefund(world, order);
  world.origin.addPayment(REFUND_TX, [[USER, USDC, 5_000n]]);
  expect(face(await world.post("solver-refunds", request))[1]).toBe("rejected");
});

function never(): never {
  throw new Error("the example order has no payment");
}
