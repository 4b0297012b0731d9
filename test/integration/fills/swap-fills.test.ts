import { pay } from "../../../apps/api/src/payments/pay-leg.ts";
import { fillLeg } from "../../../apps/api/src/payments/legs/fill-leg.ts";
import { approvalProxyAbi } from "@causeway/contracts";
import { NodeRefusal } from "@causeway/chains";
import { NATIVE_CURRENCY, pullAndRouteCalldata, routerCalls } from "@causeway/domain";
import type { Address, TxHash } from "@causeway/domain";
import { decodeFunctionData } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { judgeOrigin, UNREAD_SENDER } from "../../../apps/api/src/deposits/judge-origin.ts";
import { recordSingleTransaction } from "../../../apps/api/src/deposits/record-single-transaction.ts";
import { judgeFill } from "../../support/judge-fill.ts";
import { deposit } from "../../support/deposits.ts";
import type { QuotedRequest } from "../../support/engine-world.ts";
import { crashAtEveryStep } from "../../support/crash-at-every-step.ts";
import { approveCall } from "../../support/execution-world.ts";
import { startSwapWorld, type SwapParams, type SwapWorld } from "../../support/swap-world.ts";

let world: SwapWorld;

beforeAll(async () => {
  world = await startSwapWorld({ chain: { finalityBlocks: 2 } });
}, 60_000);
afterAll(async () => await world.stop());

/** Makes a deposit of the agreed amount, or of `amount`, which the watcher then reads. */
async function deposited(ask: SwapParams, amount?: bigint): Promise<QuotedRequest> {
  const agreed = await world.storeRequest(ask);
  await deposit(world.origin, world.user, agreed, amount === undefined ? {} : { amount });
  await world.origin.mine();
  await world.watch(world.origin);
  return agreed;
}

/** What a final fill paid its recipient, and what it cost the solver. */
async function ended(agreed: QuotedRequest) {
  const { recipient, destination } = agreed.terms;
  const paidFrom = destination.paidFrom ?? destination.currency;
  const { solver } = world;
  const { client } = world.destination;
  const before = await world.destination.balance(solver.address, paidFrom);
  const { status, failReason } = await world.untilFinal(agreed.requestId, 1_000);
  const fills = await world.paymentsOf(agreed, world.destination);
  const receipts = await Promise.all(fills.map(({ hash }) => client.getTransactionReceipt({ hash })));
  const gasWei = receipts.reduce(
    (sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice,
    0n,
  );
  const { router } = world.destination.chain.contracts;
  const leftInRouter = await Promise.all(
    [paidFrom, destination.currency, world.weth].map((currency) =>
      world.destination.balance(router, currency),
    ),
  );
  return {
    status,
    failReason,
    fills,
    received: await world.destination.balance(recipient, destination.currency),
    spent:
      before -
      (await world.destination.balance(solver.address, paidFrom)) -
      (paidFrom === NATIVE_CURRENCY ? gasWei : 0n),
    leftInRouter,
  };
}

const NOTHING_LEFT = [0n, 0n, 0n];

const toOdd = (): SwapParams => ({ currency: world.odd, paidFrom: world.usdc });
/** Another trader buys or sells the odd token, which only one shallow pool trades. */
async function movePool(bought: "bought" | "sold", amount: bigint) {
  const { destination, tst, odd, trade } = world;
  return await (bought === "bought"
    ? trade(destination, tst, odd, amount)
    : trade(destination, odd, tst, amount));
}
/** Moves the pool in a block that the services then read. */
async function poolMoved(bought: "bought" | "sold", amount: bigint): Promise<void> {
  const { destination } = world;
  const hash = await movePool(bought, amount);
  do await destination.mine();
  while ((await destination.connected.connection.reader.receipt(hash)) === undefined);
  await world.watch(destination);
}

test.each<[string, () => SwapParams]>([
  ["a token through a pool", () => ({ currency: world.tst, paidFrom: world.usdc })],
  ["a token through several pools", () => ({ currency: world.odd, paidFrom: world.usdc })],
  ["the wrapped native token", () => ({ currency: world.weth, paidFrom: world.usdc })],
  ["the native token", () => ({ currency: NATIVE_CURRENCY, paidFrom: world.usdc })],
  ["a token bought with the native token", () => ({ currency: world.odd, paidFrom: NATIVE_CURRENCY })],
  [
    "the wrapped native token bought with the native token",
    () => ({ currency: world.weth, paidFrom: NATIVE_CURRENCY }),
  ],
])(
  "pays %s exactly from the solver's inventory, spends no more than the deposit allows, and oracles count it",
  async (_what, ask) => {
    const agreed = await deposited(ask());
    const { status, received, spent, fills, leftInRouter } = await ended(agreed);
    const { expectedAmount } = agreed.terms.destination;
    expect({ status, received, leftInRouter }).toEqual({
      status: "success",
      received: expectedAmount,
      leftInRouter: NOTHING_LEFT,
    });
    expect(fills).toHaveLength(1);
    const worth = await world.outputBeforeSwap(agreed);
    // The gas price may have changed since the quote.
    expect(spent).toBeGreaterThan((worth * 999n) / 1_000n);
    expect(spent).toBeLessThanOrEqual((worth * 1_001n) / 1_000n);
    const [fill] = fills;
    expect(await judgeFill(world, agreed, fill?.hash ?? "0x")).toEqual({ amounts: [expectedAmount] });
  },
);

test("pays the quoted output at bounded cost when pools move slightly while the quote is firm", async () => {
  const agreed = await deposited(toOdd());
  await poolMoved("bought", 15n * 10n ** 18n);
  const worth = await world.outputBeforeSwap(agreed);
  const { expectedAmount } = agreed.terms.destination;
  const now = await world.bestSwap(world.destination, world.usdc, world.odd, worth);
  expect(now.amountOut).toBeLessThan(expectedAmount);
  const { status, received, spent, fills } = await ended(agreed);
  expect({ status, received }).toEqual({ status: "success", received: expectedAmount });
  expect(spent).toBeGreaterThan(worth);
  expect(spent).toBeLessThan((worth * 10_020n) / 10_000n);
  // The limit of the swap leaves no room for sandwiching within its block.
  const { input } = await world.destination.client.getTransaction({ hash: fills[0]!.hash });
  const [, limit] = decodeFunctionData({ abi: approvalProxyAbi, data: input }).args as readonly bigint[];
  expect(limit).toBeGreaterThan(spent);
  expect(limit).toBeLessThan((worth * 10_020n) / 10_000n);
});

test("if pools moved beyond the tolerance, the recipient gets what the deposit buys there now, within the quoted minimum", async () => {
  const agreed = await deposited({ ...toOdd(), slippageBps: 500 });
  await poolMoved("bought", 400n * 10n ** 18n);
  const worth = await world.outputBeforeSwap(agreed);
  const { amountOut } = await world.bestSwap(world.destination, world.usdc, world.odd, worth);
  const { expectedAmount, minimumAmount } = agreed.terms.destination;
  expect([amountOut < expectedAmount, amountOut > minimumAmount]).toEqual([true, true]);
  const { status, received, spent } = await ended(agreed);
  expect(status).toBe("success");
  // The repriced output also reflects changes of the gas price.
  expect(received).toBeGreaterThan((amountOut * 98n) / 100n);
  expect(received).toBeLessThan(expectedAmount);
  expect(spent).toBeLessThan((worth * 10_001n) / 10_000n);
});

test("refunds the deposit when pools moved beyond the quoted minimum", async () => {
  const agreed = await deposited(toOdd());
  await poolMoved("bought", 5_000n * 10n ** 18n);
  expect(await ended(agreed)).toMatchObject({
    status: "refund",
    failReason: "SLIPPAGE",
    fills: [],
    received: 0n,
    spent: 0n,
  });
  await poolMoved("sold", 500n * 10n ** 18n);
});

test("a fill that reverts because others moved the pools in its block costs only its gas, and is planned again and paid once", async () => {
  const { destination, solver, usdc } = world;
  const agreed = await deposited(toOdd());
  const before = await destination.balance(solver.address, usdc);
  await movePool("bought", 20_000n * 10n ** 18n);
  await world.work();
  await destination.mine();
  await world.watch(destination);
  expect(await world.paymentsOf(agreed, destination)).toEqual([]);
  expect(await destination.balance(solver.address, usdc)).toBe(before);
  await movePool("sold", 2_400n * 10n ** 18n);
  const { status, received, fills } = await ended(agreed);
  expect({ status, fills: fills.length }).toEqual({ status: "success", fills: 1 });
  expect(received).toBe(agreed.terms.destination.expectedAmount);
});

test("refunds after a fill reverted three times and deducts its gas", async () => {
  const { destination, origin } = world;
  const agreed = await deposited(toOdd());
  const { refundTo } = agreed.terms;
  const { amount, currency } = agreed.terms.origin;
  const before = await origin.balance(refundTo, currency);
  const stateOf = async () => (await world.request(agreed.requestId)).state.name;
  for (const after of ["fillable", "fillable", "refunding"]) {
    await movePool("bought", 20_000n * 10n ** 18n);
    await world.work();
    await destination.mine();
    await world.watch(destination);
    await movePool("sold", 2_400n * 10n ** 18n);
    for (let blocks = 0; blocks < 100 && (await stateOf()) === "submitted"; blocks++) {
      await destination.mine();
      await world.watch(destination);
    }
    expect(await stateOf()).toBe(after);
  }
  const { status, fills } = await ended(agreed);
  expect({ status, fills }).toEqual({ status: "refund", fills: [] });
  const reverted = await world.services.reads.revertedSlotsOfLeg("fill", agreed.requestId);
  expect(reverted).toHaveLength(3);
  const { rows } = await world.pool.query("select unpaid_wei from fill_burns where request_id = $1", [
    agreed.requestId,
  ]);
  expect(rows).toEqual(reverted.map(() => ({ unpaid_wei: 0n })));
  const wei = reverted.reduce(
    (sum, { gasUsed = 0n, effectiveGasPrice = 0n }) => sum + gasUsed * effectiveGasPrice,
    0n,
  );
  const returned = (await origin.balance(refundTo, currency)) - before;
  expect(returned).toBeGreaterThan(0n);
  // At $2,500 per ETH, in millionths of a dollar.
  expect(amount - returned).toBeGreaterThan((wei * 2_500n) / 10n ** 12n);
});

test.each([
  ["less than expected, within the range", 98_000_000n, 98n],
  ["more than expected", 105_000_000n, 105n],
])(
  "pays the recipient in proportion when the origin swap yields %s, and oracles attest it",
  async (_what, brought, percent) => {
    const agreed = await deposited({ ...toOdd(), minimumDeposit: 97_000_000n, slippageBps: 500 }, brought);
    const { status, received, fills } = await ended(agreed);
    const { expectedAmount } = agreed.terms.destination;
    const part = (expectedAmount * percent) / 100n;
    expect(status).toBe("success");
    // In a shallow pool, the output is not exactly proportional.
    expect(received).toBeGreaterThan((part * 99n) / 100n);
    expect(received).toBeLessThanOrEqual(part + 1n);
    expect(await judgeFill(world, agreed, fills[0]?.hash ?? "0x")).toEqual({ amounts: [received] });
    const [found] = await world.depositsOf(agreed.requestId);
    expect(found).toMatchObject({ amount: brought, disposition: "accepted" });
    // Oracles attest no fill below the order's minimum.
    expect(brought).toBeGreaterThanOrEqual(agreed.terms.order.inputs[0]?.payment.amount ?? 0n);
  },
);

test("pays exactly the quoted gas top-up however much is deposited", async () => {
  const gasTopup = { amount: 10n ** 15n };
  const ask = { currency: world.tst, minimumDeposit: 97_000_000n, slippageBps: 500, terms: { gasTopup } };
  const agreed = await deposited(ask, 500_000_000n);
  const { status, received } = await ended(agreed);
  expect(status).toBe("success");
  expect(received).toBeGreaterThan(4n * agreed.terms.destination.expectedAmount);
  expect(await world.destination.balance(agreed.terms.recipient, NATIVE_CURRENCY)).toBe(gasTopup.amount);
});

test("refunds the deposit in its own currency when the origin swap yields too little to fill", async () => {
  const { usdc, user, origin } = world;
  const agreed = await world.storeRequest({ ...toOdd(), minimumDeposit: 97_000_000n });
  const before = await origin.balance(user.address, usdc);
  await deposit(origin, user, agreed, { amount: 96_999_999n });
  await origin.mine();
  await world.watch(origin);
  const { status, failReason, fills } = await ended(agreed);
  expect({ status, failReason, fills }).toEqual({
    status: "refund",
    failReason: "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL",
    fills: [],
  });
  expect(before - (await origin.balance(user.address, usdc))).toBeLessThan(2_000_000n);
});

test("refunds a swapped deposit with at least the order's minimum, scaled by the deposited amount", async () => {
  const { usdc, user, origin } = world;
  const agreed = await world.storeRequest({
    ...toOdd(),
    minimumDeposit: 97_000_000n,
    terms: { forceRefund: true },
  });
  const before = await origin.balance(user.address, usdc);
  await deposit(origin, user, agreed, { amount: 120_000_000n });
  await origin.mine();
  await world.watch(origin);
  expect((await ended(agreed)).status).toBe("refund");
  const lost = before - (await origin.balance(user.address, usdc));
  const promised = agreed.terms.order.inputs[0]?.refunds[0]?.minimumAmount ?? 0n;
  expect(120_000_000n - lost).toBeGreaterThanOrEqual((promised * 120n) / 97n);
});

test("records a swap and deposit through the router as one deposit of the whole output, with the user as depositor", async () => {
  const { origin, user, tst, usdc } = world;
  const pools = await world.bestSwap(origin, tst, usdc, 200n * 10n ** 18n);
  const agreed = await world.storeRequest({
    ...toOdd(),
    deposit: pools.amountOut,
    minimumDeposit: (pools.amountOut * 99n) / 100n,
    terms: { input: { currency: tst, amount: 200n * 10n ** 18n } },
  });
  const { router, approvalProxy, depository } = origin.chain.contracts;
  const minDeposit = agreed.terms.origin.minimumAmount ?? 0n;
  const deposits = routerCalls.depositBalance(
    depository,
    user.address,
    usdc,
    minDeposit,
    agreed.terms.orderId,
  );
  const calls = [
    ...pools.calls({ kind: "exactIn", limit: minDeposit, recipient: router }),
    { to: router, data: deposits, value: 0n },
  ];
  await origin.send(user, approveCall(tst, approvalProxy, 200n * 10n ** 18n));
  const hash = await origin.send(user, {
    to: approvalProxy,
    data: pullAndRouteCalldata(tst, 200n * 10n ** 18n, {
      calls,
      refundTo: user.address,
      refundTokens: [],
    }),
    gas: 1_000_000n,
  });
  // A pending transaction is not treated as a wrong deposit.
  const state = await origin.connected.connection.reader.transaction(hash);
  expect(judgeOrigin(agreed.terms, origin.chain, state, { ...UNREAD_SENDER, deposits: [] })).toBeUndefined();
  await origin.mine();
  await world.watch(origin);
  const { status, received } = await ended(agreed);
  const [found] = await world.depositsOf(agreed.requestId);
  expect(found).toMatchObject({ depositor: user.address, sender: user.address, amount: pools.amountOut });
  expect({ status, received }).toEqual({
    status: "success",
    received: agreed.terms.destination.expectedAmount,
  });
});

test("counts a user's own swap once it is mined and paid the quoted amount to the recipient, and no other swap", async () => {
  const { origin, user, tst, usdc } = world;
  const pools = await world.bestSwap(origin, usdc, tst, 10_000_000n);
  const recipient = world.anAddress();
  const { approvalProxy } = origin.chain.contracts;
  const ask: SwapParams = {
    currency: usdc,
    recipient,
    terms: {
      kind: "swap",
      destination: {
        chainId: origin.chain.id,
        currency: tst,
        expectedAmount: pools.amountOut,
        minimumAmount: pools.amountOut,
      },
    },
  };
  const [agreed, other] = [await world.storeRequest(ask), await world.storeRequest(ask)];
  await origin.send(user, approveCall(usdc, approvalProxy, 10_000_000n));
  /** Swaps this much for a request. `to` gets the output. */
  const swapFor = async ({ requestId }: QuotedRequest, to: Address) => {
    const calls = pools.calls({ kind: "exactIn", limit: 0n, recipient: to });
    const job = { calls, refundTo: user.address, refundTokens: [] };
    const data = `${pullAndRouteCalldata(usdc, 10_000_000n, job)}${requestId.slice(2)}` as const;
    return await origin.send(user, { to: approvalProxy, data, gas: 1_000_000n });
  };
  const report = async ({ requestId }: QuotedRequest, txHash: TxHash) =>
    await recordSingleTransaction(world.services, { chainId: origin.chain.id, txHash, requestId });
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "waiting",
    nextAction: "send_payment",
  });

  const hash = await swapFor(agreed, recipient);
  await expect(report(other, hash)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  await report(agreed, hash);
  await origin.mine();
  await world.watch(origin);
  expect(await world.status(agreed.requestId)).toMatchObject({
    status: "success",
    fundsAt: "recipient",
    inTxHashes: [hash],
    txHashes: [hash],
  });
  await origin.mine();
  await world.watch(origin);
  expect((await world.status(agreed.requestId)).final).toBe(true);

  // The output of this swap goes elsewhere. A report from before the swap is mined is dropped when it is
  // mined, and a later report is refused.
  await origin.send(user, approveCall(usdc, approvalProxy, 10_000_000n));
  const misdirected = await swapFor(other, world.anAddress());
  await report(other, misdirected);
  await origin.mine();
  await world.watch(origin);
  expect((await world.status(other.requestId)).status).toBe("waiting");
  await expect(report(other, misdirected)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
});

test("whenever the process crashes while it plans, signs or broadcasts a fill with a swap, the recipient is paid exactly once", async () => {
  const { origin, destination } = world;
  const crashes = await crashAtEveryStep(world, {
    prepare: async () => {
      const agreed = await world.storeRequest(toOdd());
      await deposit(origin, world.user, agreed);
      await origin.mine();
      await world.watch(origin);
      return agreed;
    },
    run: async (by) => await world.work(by),
    verify: async (agreed, moment) => {
      const { recipient, destination: promised } = agreed.terms;
      expect(await world.paymentsOf(agreed, destination), moment).toHaveLength(1);
      const received = await destination.balance(recipient, promised.currency);
      expect(received, moment).toBeGreaterThanOrEqual(promised.minimumAmount);
      expect(received, moment).toBeLessThanOrEqual(promised.expectedAmount);
    },
  });
  for (const moment of ["before lanes.reserve", "before sign", "before broadcast", "after broadcast"])
    expect(crashes).toContain(moment);
}, 120_000);

/** The services with another reader of the destination. */
function tracingBy(reader: typeof world.destination.connected.connection.reader): typeof world.services {
  const { services, destination } = world;
  const connection = { ...destination.connected.connection, reader };
  const get = (id: number): ReturnType<typeof services.chains.get> => {
    const known = services.chains.get(id);
    return known && id === destination.chain.id ? { ...known, connection } : known;
  };
  return { ...services, chains: { ...services.chains, get } };
}

test("if the node stops tracing, a fill with a swap is refunded, and the solver's balance is not named as the reason", async () => {
  const agreed = await deposited(toOdd());
  const { reader } = world.destination.connected.connection;
  const blind = tracingBy({
    ...reader,
    trace: async (...question: Parameters<typeof reader.trace>) => {
      const outcome = await reader.trace(...question);
      return outcome.kind === "ok" ? { ...outcome, effects: { kind: "unseen" } } : outcome;
    },
  });
  const tryFill = async () => await pay(blind, fillLeg, agreed.requestId);
  expect(await tryFill()).toEqual({ waitMs: 1_000, why: "the node cannot trace the fill" });
  world.clock.forward(world.services.enginePolicy.inventoryWaitMs + 1_000);
  expect(await tryFill()).toEqual({ waitMs: 0 });
  const { status, failReason, fills, received } = await ended(agreed);
  expect({ status, failReason, fills, received }).toEqual({
    status: "refund",
    failReason: "SOLVER_CAPACITY_EXCEEDED",
    fills: [],
    received: 0n,
  });
});

test("refunds a fill whose plan fails for one reason for as long as fills wait for inventory, and retries after any other fault", async () => {
  const agreed = await deposited(toOdd());
  const { services, events } = world;
  const { reader } = world.destination.connected.connection;
  let attempt = 0;
  let nodeText = (): string =>
    `transaction gas limit (${30_000_000 + attempt}) is greater than the cap (16777216)`;
  const trace = async (): Promise<never> => {
    attempt += 1;
    throw new NodeRefusal({
      method: "debug_traceCall",
      nodeCode: -32_000,
      nodeText: nodeText(),
      nodeData: undefined,
    });
  };
  const failing = tracingBy({ ...reader, trace });
  const tryFill = async (): Promise<unknown> =>
    await pay(failing, fillLeg, agreed.requestId).catch((error: unknown) => error);
  const { inventoryWaitMs } = services.enginePolicy;
  const tryFor = async (ms: number): Promise<void> => {
    for (let at = 0; at < 4; at++) {
      expect(await tryFill()).toBeInstanceOf(NodeRefusal);
      world.clock.forward(ms / 4);
    }
  };
  await tryFor(inventoryWaitMs - 1_000);
  // Another reason starts the wait again.
  const before = nodeText;
  nodeText = () => "header not found";
  expect(await tryFill()).toBeInstanceOf(NodeRefusal);
  nodeText = before;
  await tryFor(inventoryWaitMs);
  expect(await world.status(agreed.requestId)).toMatchObject({ status: "pending" });
  expect(await tryFill()).toEqual({ waitMs: 0 });
  expect(events.of("fill_impossible").at(-1)?.facts).toMatchObject({ reason: "UNKNOWN" });
  const { status, failReason, fills, received } = await ended(agreed);
  expect({ status, failReason, fills, received }).toEqual({
    status: "refund",
    failReason: "UNKNOWN",
    fills: [],
    received: 0n,
  });
});
