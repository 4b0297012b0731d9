import { RpcFault } from "@causeway/chains";
import type { Address, Hex } from "@causeway/domain";
import { NATIVE_CURRENCY } from "@causeway/domain";
import { failuresAbi, failuresBytecode, routerAbi } from "@causeway/contracts";
import { answerFor } from "@causeway/service-kit";
import { encodeFunctionData, erc20Abi } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createChainDirectory } from "../../../apps/api/src/chains/directory.adapter.ts";
import { openLane } from "../../../apps/api/src/payments/open-lane.ts";
import { planTransaction } from "../../../apps/api/src/payments/plan/plan-transaction.ts";
import { priceDestination } from "../../../apps/api/src/payments/executions/price-destination.ts";
import { judgeFill } from "../../support/judge-fill.ts";
import type { QuotedRequest, QuoteOverrides } from "../../support/engine-world.ts";
import { violatedInvariants } from "../../support/ledger-world.ts";
import { aPayingKey } from "../../support/paying-key.ts";
import { approveCall, transferFromCall } from "../../support/execution-world.ts";
import { aSponsor } from "../../support/sponsors.ts";
import { startSwapWorld, type SwapWorld } from "../../support/swap-world.ts";
import { someHash } from "../../support/terms.ts";

// Quotes whose fill makes calls with the output. The recipient gets the remainder, which oracles count as the
// payment.

let world: SwapWorld;
const failures: Address = "0xfa11fa11fa11fa11fa11fa11fa11fa11fa11fa11";
const ETHER = 10n ** 18n;

beforeAll(async () => {
  world = await startSwapWorld({ chain: { finalityBlocks: 2 } });
  const { client } = world.destination;
  const { data: code } = await client.call({ data: failuresBytecode });
  if (code === undefined) throw new Error("the compiler returned no bytecode");
  await client.setCode({ address: failures, bytecode: code });
}, 60_000);
afterAll(async () => await world.stop());

type Tx = NonNullable<QuoteOverrides["txs"]>[number];

const transfer = (token: Address, to: Address, amount: bigint): Tx => ({
  to: token,
  value: "0",
  data: encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] }),
});
const nativeCall = (to: Address, value: bigint): Tx => ({ to, value: value.toString(), data: "0x" });
const failingCall = (data: Hex): Tx => ({ to: failures, value: "0", data });
const encodeSay = (text: string): Hex =>
  encodeFunctionData({ abi: failuresAbi, functionName: "say", args: [text] });

/** Requests a quote, pays it, and waits for the end of the request. */
async function runQuote(ask: QuoteOverrides) {
  const agreed = await world.quote(ask);
  await world.pay(agreed);
  const end = await world.untilFinal(agreed.requestId, 1_000);
  return { agreed, end, ...(await outcomeOf(agreed)) };
}

async function outcomeOf(agreed: QuotedRequest) {
  const { terms } = agreed;
  const fills = await world.paymentsOf(agreed, world.destination);
  const { router } = world.destination.chain.contracts;
  const { currency, paidFrom } = terms.destination;
  const inRouter = [currency, paidFrom ?? currency, world.weth, NATIVE_CURRENCY];
  return {
    fills,
    judged: await Promise.all(fills.map(async ({ hash }) => await judgeFill(world, agreed, hash))),
    leftInRouter: await Promise.all(inRouter.map((token) => world.destination.balance(router, token))),
  };
}

/**
 * The amount that the router guarantees. If the router pays a remainder, oracles count this amount in the
 * transaction.
 */
const guaranteedAmounts = ({ terms }: QuotedRequest) =>
  terms.order.output.payments.map(({ minimumAmount }) => minimumAmount);

/** Approves a spender of the solver's tokens, as an operator does before the lane starts. */
async function approveSpender(spender: Address, amount: bigint): Promise<void> {
  const { destination, solver, usdc } = world;
  await destination.send(solver, approveCall(usdc, spender, amount));
  await destination.mine();
  await world.watch(destination);
  await openLane(world.services, destination.connected);
}

const NOTHING_LEFT = [0n, 0n, 0n, 0n];

/** The error that the client gets if the quote is refused. */
async function refusalOf(ask: QuoteOverrides) {
  const thrown: unknown = await world.quote(ask).then(
    () => "quoted",
    (error: unknown) => error,
  );
  const { status, body } = answerFor(thrown);
  return { status, body: body as unknown as Record<string, unknown> };
}

test("runs the calls in order with the whole token output and pays the recipient the rest", async () => {
  const { destination, usdc } = world;
  const [first, second, recipient] = [world.anAddress(), world.anAddress(), world.anAddress()];
  const { agreed, end, fills, judged, leftInRouter } = await runQuote({
    recipient,
    txs: [transfer(usdc, first, 30_000_000n), transfer(usdc, second, 20_000_000n)],
  });
  expect(end).toMatchObject({ status: "success", fundsAt: "recipient" });
  const { expectedAmount, minimumAmount } = agreed.terms.destination;
  const { details } = agreed.answer;
  expect(details.currencyOut).toMatchObject({
    amount: `${expectedAmount}`,
    minimumAmount: `${minimumAmount}`,
  });
  const remainder = expectedAmount - 50_000_000n;
  expect(agreed.terms.outputCalls?.left.expected).toBe(remainder);
  expect(agreed.terms.order.output.payments).toMatchObject([
    { recipient, currency: usdc, expectedAmount: remainder },
  ]);
  expect(agreed.terms.order.output.calls).toHaveLength(2);
  expect(
    await Promise.all([first, second, recipient].map((account) => destination.balance(account, usdc))),
  ).toEqual([30_000_000n, 20_000_000n, remainder]);
  expect(fills).toHaveLength(1);
  expect(judged).toEqual([{ amounts: guaranteedAmounts(agreed) }]);
  expect(leftInRouter).toEqual(NOTHING_LEFT);
});

test("calls carry a part of a native output, exact to the wei, and the recipient gets the rest", async () => {
  const { destination } = world;
  const [callee, recipient] = [world.anAddress(), world.anAddress()];
  const output = ETHER / 50n;
  const { agreed, end, judged, leftInRouter } = await runQuote({
    recipient,
    destinationCurrency: NATIVE_CURRENCY,
    tradeType: "EXACT_OUTPUT",
    amount: output.toString(),
    txs: [nativeCall(callee, ETHER / 100n)],
  });
  expect(end.status).toBe("success");
  expect(agreed.terms.destination.minimumAmount).toBe(output);
  expect(await destination.balance(callee, NATIVE_CURRENCY)).toBe(ETHER / 100n);
  expect(await destination.balance(recipient, NATIVE_CURRENCY)).toBe(ETHER / 100n);
  expect(judged).toEqual([{ amounts: guaranteedAmounts(agreed) }]);
  expect(leftInRouter).toEqual(NOTHING_LEFT);
});

test("calls may use the whole output, and the quote then promises the recipient nothing", async () => {
  const { destination } = world;
  const [callee, recipient] = [world.anAddress(), world.anAddress()];
  const output = ETHER / 50n;
  // The recipient rejects native tokens, and is not called when the remainder is zero.
  await destination.client.setCode({ address: recipient, bytecode: "0x5f5ffd" });
  const { agreed, end, judged } = await runQuote({
    recipient,
    destinationCurrency: NATIVE_CURRENCY,
    tradeType: "EXACT_OUTPUT",
    amount: output.toString(),
    txs: [nativeCall(callee, output)],
  });
  expect(end.status).toBe("success");
  expect(agreed.terms.order.output.payments).toMatchObject([{ minimumAmount: 0n, expectedAmount: 0n }]);
  expect(await destination.balance(callee, NATIVE_CURRENCY)).toBe(output);
  expect(judged).toEqual([{ amounts: [0n] }]);
});

test("passes a swap's output to the calls and its leftover to the solver", async () => {
  const { destination, tst, odd, solver } = world;
  const [callee, recipient] = [world.anAddress(), world.anAddress()];
  const before = await destination.balance(solver.address, tst);
  const { agreed, end, judged, leftInRouter } = await runQuote({
    recipient,
    destinationCurrency: odd,
    txs: [transfer(odd, callee, 10n ** 15n)],
  });
  expect(end.status).toBe("success");
  // The solver pays from the currency with the shortest path to the output.
  expect(agreed.terms.destination.paidFrom).toBe(tst);
  const { expectedAmount } = agreed.terms.destination;
  expect(await destination.balance(callee, odd)).toBe(10n ** 15n);
  const remainder = await destination.balance(recipient, odd);
  expect(remainder).toBe(expectedAmount - 10n ** 15n);
  expect(judged).toEqual([{ amounts: guaranteedAmounts(agreed) }]);
  expect(leftInRouter).toEqual(NOTHING_LEFT);
  // About 200 TST at $0.50. The unused part of the swap's limit was returned.
  expect(before - (await destination.balance(solver.address, tst))).toBeLessThan(201n * ETHER);
});

test("reduces the calls' output when a quote is repriced and pays the recipient the rest", async () => {
  const { destination, prices, clock, services } = world;
  const [callee, recipient] = [world.anAddress(), world.anAddress()];
  const agreed = await world.quote({
    recipient,
    destinationCurrency: NATIVE_CURRENCY,
    slippageTolerance: "500",
    txs: [nativeCall(callee, ETHER / 100n)],
  });
  const { expectedAmount, minimumAmount } = agreed.terms.destination;
  expect(minimumAmount).toBeLessThan(expectedAmount);
  clock.forward(services.quotePolicy.firmSeconds * 1000 + 1_000);
  prices.set("ethereum", "2575");
  await world.pay(agreed);
  const end = await world.untilFinal(agreed.requestId, 1_000);
  prices.set("ethereum", "2500");
  expect(end.status).toBe("success");
  const remainder = await destination.balance(recipient, NATIVE_CURRENCY);
  expect(await destination.balance(callee, NATIVE_CURRENCY)).toBe(ETHER / 100n);
  expect(remainder + ETHER / 100n).toBeLessThan(expectedAmount);
  expect(remainder + ETHER / 100n).toBeGreaterThanOrEqual(minimumAmount);
  expect((await outcomeOf(agreed)).judged).toEqual([{ amounts: guaranteedAmounts(agreed) }]);
});

test("authorizations are sent with the fill", async () => {
  const { destination } = world;
  const owner = privateKeyToAccount(generatePrivateKey());
  const signed = await owner.signAuthorization({
    chainId: destination.chain.id,
    contractAddress: failures,
    nonce: 0,
  });
  const { end } = await runQuote({
    txs: [nativeCall(world.anAddress(), 0n)],
    authorizationList: [
      {
        chainId: signed.chainId,
        address: signed.address,
        nonce: signed.nonce,
        yParity: signed.yParity ?? 0,
        r: signed.r,
        s: signed.s,
      },
    ],
  });
  expect(end.status).toBe("success");
  expect(await destination.client.getCode({ address: owner.address })).toBe(`0xef0100${failures.slice(2)}`);
});

test("the price includes the gas that the calls need, or that the client reserves for them", async () => {
  const { destinationCurrency, txs } = {
    destinationCurrency: NATIVE_CURRENCY,
    txs: [nativeCall(world.anAddress(), 1n)],
  };
  const outputOf = async (ask: QuoteOverrides) =>
    BigInt((await world.quote({ destinationCurrency, ...ask })).answer.details.currencyOut.amount);
  const plain = await outputOf({});
  const called = await outputOf({ txs });
  const reserved = await outputOf({ txs, txsGasLimit: 1_000_000 });
  expect(called).toBeLessThan(plain);
  expect(reserved).toBeLessThan(called);
});

test("refuses a quote with a reverting call, and reports the reason, the call and the block", async () => {
  const { destination, usdc } = world;
  const data = encodeSay("the vault is closed");
  const { status, body } = await refusalOf({
    txs: [transfer(usdc, world.anAddress(), 1n), failingCall(data)],
  });
  expect(status).toBe(400);
  expect(body).toMatchObject({
    errorCode: "DESTINATION_TX_FAILED",
    errorData: "the vault is closed",
    failedCallData: { from: destination.chain.contracts.router, to: failures, data, value: "0" },
    approxSimulatedBlock: Number(destination.connected.connection.heads.latest?.number),
  });
});

test("refuses calls that take tokens from the solver", async () => {
  const { destination, solver, stranger, usdc } = world;
  const { router } = destination.chain.contracts;
  // Even if an operator approved the router by mistake, no one could take the tokens.
  await approveSpender(router, 10n ** 9n);
  const { data } = transferFromCall(usdc, solver.address as Address, stranger.address as Address, 5n);
  const { status, body } = await refusalOf({ txs: [{ to: usdc, value: "0", data }] });
  await approveSpender(router, 0n);
  expect(status).toBe(400);
  expect(body).toMatchObject({ errorCode: "DESTINATION_TX_FAILED" });
  expect(String(body["errorData"])).toContain("take tokens from");
});

test("refunds the deposit and pays the recipient nothing when the calls fail at the time of the fill", async () => {
  const { destination, usdc } = world;
  const recipient = world.anAddress();
  const gate = world.anAddress();
  const agreed = await world.quote({ recipient, txs: [nativeCall(gate, 0n)] });
  await destination.client.setCode({ address: gate, bytecode: "0x5f5ffd" });
  await world.pay(agreed);
  const end = await world.untilFinal(agreed.requestId, 1_000);
  expect(end).toMatchObject({ status: "refund", failReason: "EXECUTION_REVERTED" });
  expect(await destination.balance(recipient, usdc)).toBe(0n);
  expect((await outcomeOf(agreed)).fills).toEqual([]);
});

test("deducts the gas of calls that revert only in the block from the refund", async () => {
  const { origin, destination, usdc } = world;
  const [gate, refundTo] = [world.anAddress(), world.anAddress()];
  const agreed = await world.quote({ refundTo, txs: [nativeCall(gate, 0n)] });
  await world.pay(agreed);
  await origin.mine();
  await world.watch(origin);
  await world.work();
  await destination.client.setCode({ address: gate, bytecode: "0x5f5ffd" });
  const end = await world.untilFinal(agreed.requestId, 1_000);
  expect(end).toMatchObject({ status: "refund", failReason: "TRANSACTION_REVERTED" });
  const [reverted, ...others] = await world.services.reads.revertedSlotsOfLeg("fill", agreed.requestId);
  expect(others).toEqual([]);
  const { gasUsed = 0n, effectiveGasPrice = 0n } = reverted ?? {};
  const returned = await origin.balance(refundTo, usdc);
  // At $2,500 per ETH, in millionths of a dollar.
  const deductedGas = (gasUsed * effectiveGasPrice * 2_500n) / 10n ** 12n;
  expect(deductedGas).toBeGreaterThan(0n);
  expect(returned).toBeLessThan(100_000_000n - deductedGas);
  const minimumRefund = agreed.terms.order.inputs[0]?.refunds[0]?.minimumAmount ?? 0n;
  expect(returned).toBeGreaterThanOrEqual(minimumRefund);
  expect(agreed.answer.details.refundCurrency?.minimumAmount).toBe(minimumRefund.toString());
});

/** The worth of the solver's inventory at the destination, in base units of USDC at $2,500 per ETH. */
async function solverWorth(): Promise<bigint> {
  const { destination, solver, usdc } = world;
  const native = await destination.balance(solver.address, NATIVE_CURRENCY);
  return (native * 2_500n) / 10n ** 12n + (await destination.balance(solver.address, usdc));
}

test("if the calls of a fast fill revert in the block, the app pays for their gas and for nothing else", async () => {
  const { destination } = world;
  const gate = world.anAddress();
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await world.quote({ refundTo: world.anAddress(), txs: [nativeCall(gate, 0n)] });
  const before = await solverWorth();
  expect(await sponsor.fastFill(agreed)).toBe("queued");
  await world.work();
  await destination.client.setCode({ address: gate, bytecode: "0x5f5ffd" });
  await destination.mine();
  await world.watch(destination);
  await destination.mine(3);
  await world.watch(destination);
  const spent = before - (await solverWorth());
  expect(spent).toBeGreaterThan(0n);
  const charged = 1_000_000_000n - ((await sponsor.book()).lines[0]?.balance ?? 0n);
  expect(charged - spent).toBeGreaterThanOrEqual(0n);
  expect(charged - spent).toBeLessThanOrEqual(2n);
  expect((await world.request(agreed.requestId)).state).toMatchObject({ name: "quoted", front: "none" });
});

test("the app pays for the calls of a fast fill whose deposit never comes, including their output", async () => {
  const { destination, origin } = world;
  const sponsor = await aSponsor(world, 1_000);
  const txs = [transfer(world.usdc, world.anAddress(), 30_000_000n)];
  const agreed = await world.quote({ refundTo: world.anAddress(), txs, ttl: 600 });
  const before = await solverWorth();
  await sponsor.fastFill(agreed);
  await world.work();
  await destination.mine(3);
  await world.watch(destination);
  const spent = before - (await solverWorth());
  expect(spent).toBeGreaterThan(agreed.terms.destination.expectedAmount);

  const { quotePolicy, enginePolicy } = world.services;
  world.clock.forward(602_000 + quotePolicy.fillGraceSeconds * 1_000 + enginePolicy.fastFillGraceMs);
  const { timestamp: newest } = await origin.client.getBlock();
  const now = BigInt(Math.ceil(world.clock.nowMs() / 1_000));
  await origin.client.setNextBlockTimestamp({ timestamp: now > newest ? now : newest + 1n });
  await origin.mine();
  await world.watch(origin);
  await world.round();
  expect(await sponsor.holdState(agreed)).toBe("permanent");
  const charged = 1_000_000_000n - ((await sponsor.book()).lines[0]?.balance ?? 0n);
  expect(charged - spent).toBeGreaterThanOrEqual(0n);
  expect(charged - spent).toBeLessThanOrEqual(2n);
});

test("charges the sponsor for the gas of calls that revert in the block, and refunds the deposit without deducting it", async () => {
  const { origin, destination, usdc } = world;
  const [gate, refundTo] = [world.anAddress(), world.anAddress()];
  const payer = await aPayingKey(world, 100);
  const ask = { refundTo, subsidizeFees: true, txs: [nativeCall(gate, 0n)] };
  const agreed = await world.quote(ask, payer.key);
  const quotedUsd = agreed.terms.sponsorship?.usd ?? 0n;
  await world.pay(agreed);
  await origin.mine();
  await world.watch(origin);
  await world.work();
  await destination.client.setCode({ address: gate, bytecode: "0x5f5ffd" });
  const end = await world.untilFinal(agreed.requestId, 1_000);
  expect(end).toMatchObject({ status: "refund", failReason: "TRANSACTION_REVERTED" });
  const [reverted] = await world.services.reads.revertedSlotsOfLeg("fill", agreed.requestId);
  const { gasUsed = 0n, effectiveGasPrice = 0n } = reverted ?? {};
  // At $2,500 per ETH, in USD with 18 decimals.
  const usedGasUsd = gasUsed * effectiveGasPrice * 2_500n;
  const chargedUsd = usedGasUsd < quotedUsd ? usedGasUsd : quotedUsd;
  expect(chargedUsd).toBeGreaterThan(0n);
  const { lines } = await world.services.balances.book(payer.wallet);
  const { balance = 0n, pending } = lines.find(({ asset }) => asset.currency === usdc) ?? {};
  expect(pending).toBe(0n);
  // The charge is rounded up to the base unit.
  expect(100_000_000n - balance).toBe((chargedUsd + 10n ** 12n - 1n) / 10n ** 12n);
  // The gas that the gate used is not deducted from the deposit as well.
  const unsponsored = await world.quote({ refundTo });
  expect(await origin.balance(refundTo, usdc)).toBeGreaterThanOrEqual(
    unsponsored.terms.order.inputs[0]?.refunds[0]?.minimumAmount ?? 0n,
  );
  expect(await violatedInvariants(world.pool)).toEqual([]);
});

test("an unresponsive node is not reported as a fault of the calls", async () => {
  const { reader } = world.destination.connected.connection;
  const trace = reader.trace.bind(reader);
  const fault = new RpcFault({ kind: "network", method: "debug_traceCall", reason: "gone" });
  Object.assign(reader, {
    trace: async () => {
      throw fault;
    },
  });
  const { status, body } = await refusalOf({ txs: [nativeCall(world.anAddress(), 0n)] });
  Object.assign(reader, { trace });
  expect({ status, code: body["errorCode"] }).toEqual({ status: 503, code: "RPC_HTTP_ERROR" });
});

test("quotes no calls with a token that the solver has not approved", async () => {
  const { approvalProxy } = world.destination.chain.contracts;
  await approveSpender(approvalProxy, 0n);
  const { status, body } = await refusalOf({ txs: [nativeCall(world.anAddress(), 0n)] });
  await approveSpender(approvalProxy, 2n ** 255n);
  expect({ status, code: body["errorCode"], data: body["errorData"] }).toEqual({
    status: 400,
    code: "ERC20_ROUTER_ADDRESS_NOT_FOUND",
    data: { field: "destinationCurrency" },
  });
});

test("refuses invalid calls and unsupported combinations and names the field", async () => {
  const { origin, usdc, destination } = world;
  const sameChain = { destinationChainId: origin.chain.id };
  const { router } = destination.chain.contracts;
  const codeOf = async (ask: QuoteOverrides) => {
    const { status, body } = await refusalOf(ask);
    expect(status).toBe(400);
    return [body["errorCode"], (body["errorData"] as { field?: string } | undefined)?.field];
  };
  const plain = nativeCall(world.anAddress(), 0n);
  expect(await codeOf({ txs: [nativeCall(world.anAddress(), 1n)] })).toEqual(["INVALID_EXTRA_TXS", "txs"]);
  expect(await codeOf({ txs: [{ ...plain, to: "nobody" }] })).toEqual(["INVALID_EXTRA_TXS", "txs"]);
  const nativeTransfer = encodeFunctionData({
    abi: routerAbi,
    functionName: "nativeTransfer",
    args: [world.anAddress(), 0n],
  });
  expect(await codeOf({ txs: [{ to: router, value: "0", data: nativeTransfer }] })).toEqual([
    "INVALID_EXTRA_TXS",
    "txs",
  ]);
  const toNative = { destinationCurrency: NATIVE_CURRENCY };
  expect(await codeOf({ ...toNative, txs: [nativeCall(world.anAddress(), ETHER)] })).toEqual([
    "INVALID_EXTRA_TXS",
    "txs",
  ]);
  const exact = { ...toNative, tradeType: "EXACT_OUTPUT", amount: "10" } as const;
  expect(await codeOf({ ...exact, txs: [nativeCall(world.anAddress(), 11n)] })).toEqual([
    "INVALID_EXTRA_TXS",
    "txs",
  ]);
  expect(await codeOf({ txs: [plain], tradeType: "EXPECTED_OUTPUT" })).toEqual([
    "EXTRA_TXS_NOT_SUPPORTED",
    "tradeType",
  ]);
  expect(await codeOf({ txs: [plain], txsGasLimit: 20_000_000 })).toEqual([
    "INVALID_EXTRA_TXS",
    "txsGasLimit",
  ]);
  const burningCall = failingCall(
    encodeFunctionData({ abi: failuresAbi, functionName: "write", args: [1n] }),
  );
  expect(await codeOf({ txs: [burningCall], txsGasLimit: 1 })).toEqual(["INVALID_EXTRA_TXS", "txsGasLimit"]);
  expect(await codeOf({ txs: [plain], topupGas: true })).toEqual(["UNSUPPORTED_EXECUTION_TYPE", "topupGas"]);
  expect(
    await codeOf({ ...sameChain, txs: [plain], recipient: world.anAddress(), destinationCurrency: usdc }),
  ).toEqual(["UNSUPPORTED_EXECUTION_TYPE", "txs"]);
  const authorization = { chainId: 0, address: failures, nonce: 0, yParity: 2, r: "0x1", s: "0x1" };
  expect(await codeOf({ txs: [plain], authorizationList: [authorization] })).toEqual([
    "INVALID_REQUEST",
    "authorizationList",
  ]);
  expect(
    await codeOf({ txs: [plain], authorizationList: Array.from({ length: 21 }, () => authorization) }),
  ).toEqual(["INVALID_EXTRA_TXS", "authorizationList"]);
});

test("makes same-chain calls in the solver's fill, not in the user's own swap", async () => {
  const { origin, tst, usdc } = world;
  const recipient = world.anAddress();
  const agreed = await world.quote({
    destinationChainId: origin.chain.id,
    destinationCurrency: tst,
    recipient,
    txs: [nativeCall(world.anAddress(), 0n)],
  });
  expect(agreed.terms).toMatchObject({ kind: "bridge", origin: { currency: usdc } });
});

test("refuses calls that take the remainder from the recipient", async () => {
  const { destination, usdc, stranger, user } = world;
  const recipient = user.address as Address;
  await destination.send(user, approveCall(usdc, destination.chain.contracts.router, 100n));
  await destination.mine();
  const { data } = transferFromCall(usdc, recipient, stranger.address as Address, 5n);
  const { status, body } = await refusalOf({ recipient, txs: [{ to: usdc, value: "0", data }] });
  expect({ status, code: body["errorCode"] }).toEqual({ status: 400, code: "DESTINATION_TX_FAILED" });
  expect(String(body["errorData"])).toContain("take from the recipient what is left of the output");
});

const fillKinds: readonly [string, () => QuoteOverrides][] = [
  ["makes calls", () => ({ txs: [nativeCall(world.anAddress(), 0n)] })],
  ["swaps", () => ({ destinationCurrency: world.odd })],
  ["includes a gas top-up", () => ({ topupGas: true, topupGasAmount: "1000000" })],
  ["pays native token to a contract", () => ({ recipient: failures, destinationCurrency: NATIVE_CURRENCY })],
];

test.each(fillKinds)(
  "sends no fill that %s through a router that its order does not name, and refunds the deposit",
  async (_what, askOf) => {
    const { origin, destination, services } = world;
    const agreed = await world.quote(askOf());
    await world.pay(agreed);
    await origin.mine();
    await world.watch(origin);
    const { connected, chain } = destination;
    const contracts = { ...chain.contracts, router: world.anAddress() };
    const withOtherRouter = { ...connected, chain: { ...chain, contracts } };
    await world.work({ ...services, chains: createChainDirectory([origin.connected, withOtherRouter]) });
    const end = await world.untilFinal(agreed.requestId, 1_000);
    expect(end).toMatchObject({ status: "refund", failReason: "NO_QUOTES" });
    expect((await outcomeOf(agreed)).fills).toEqual([]);
  },
);

test("refuses destination calls for a quote that has its own calls", async () => {
  const { services } = world;
  const { terms } = await world.quote({ txs: [nativeCall(world.anAddress(), 0n)] });
  const extraCalls = { calls: [], authorizationList: undefined };
  const signal = AbortSignal.timeout(1_000);
  await expect(priceDestination(services, terms, extraCalls, [], signal)).rejects.toThrow(
    "not supported for a quote with txs",
  );
});

test("refuses destination calls when the fill swaps, includes a gas top-up or needs a replaced router", async () => {
  const { services, origin, destination, odd } = world;
  const { connected, chain } = destination;
  const contracts = { ...chain.contracts, router: world.anAddress() };
  const withOtherRouter = { ...connected, chain: { ...chain, contracts } };
  const chains = createChainDirectory([origin.connected, withOtherRouter]);
  const cases: readonly [QuoteOverrides, typeof services, string][] = [
    [{ destinationCurrency: odd }, services, "not supported for a quote whose fill swaps"],
    [{ topupGas: true, topupGasAmount: "1000000" }, services, "not supported for a quote with topupGas"],
    [{}, { ...services, chains }, "request a new quote"],
  ];
  for (const [ask, workerServices, message] of cases) {
    const { terms } = await world.quote(ask);
    const extraCalls = { calls: [], authorizationList: undefined };
    const refusal = priceDestination(workerServices, terms, extraCalls, [], AbortSignal.timeout(1_000));
    await expect(refusal).rejects.toThrow(message);
  }
});

/**
 * Each swap: its name in the title, the currency that the calls get, and the currency that the solver pays
 * from.
 */
const swaps: readonly [string, () => Address, () => Address][] = [
  ["the native token bought with a token", () => NATIVE_CURRENCY, () => world.usdc],
  ["the unwrapped native token", () => NATIVE_CURRENCY, () => world.weth],
  ["a token bought with the native token", () => world.usdc, () => NATIVE_CURRENCY],
  ["the wrapped native token bought with the native token", () => world.weth, () => NATIVE_CURRENCY],
  ["the wrapped native token bought with a token", () => world.weth, () => world.usdc],
  ["a token bought with the wrapped native token", () => world.tst, () => world.weth],
];

test.each(swaps)("passes %s to the calls exactly", async (_what, currencyOf, paidFromOf) => {
  const { services, destination, solver, weth, usdc } = world;
  const [currency, paidFrom] = [currencyOf(), paidFromOf()];
  if (paidFrom === weth) {
    await destination.send(solver, { to: weth, value: ETHER, data: "0xd0e30db0" });
    await destination.send(solver, approveCall(weth, destination.chain.contracts.approvalProxy, 2n ** 255n));
    await destination.mine();
    await world.watch(destination);
    await openLane(services, destination.connected);
  }
  // The amount is so large that the price tolerance exceeds one base unit.
  const amount = currency === usdc ? 1_000_000n : ETHER / 100n;
  const [spent, remainder] = [(amount * 4n) / 10n, (amount * 6n) / 10n];
  const callee = world.anAddress();
  const call = currency === NATIVE_CURRENCY ? nativeCall(callee, spent) : transfer(currency, callee, spent);
  const plan = await planTransaction(services, destination.connected, {
    payment: {
      leg: { kind: "fill", id: someHash(), requestId: undefined },
      currency,
      amount,
      recipient: world.anAddress(),
      orderId: someHash(),
      cancelAfterMs: 0,
      toContract: false,
      maxGas: 2n ** 255n,
    },
    calls: {
      calls: [{ to: call.to as Address, data: call.data as Hex, value: BigInt(call.value) }],
      minLeft: remainder,
    },
    swap: { paidFrom, planned: 2n ** 255n, max: 2n ** 255n },
  });
  expect(plan).toMatchObject({ kind: "ready", leftOutput: remainder });
  if (plan.kind !== "ready") return;
  // The router first takes more than the swap costs, and then returns the rest.
  const { call: plannedCall, gasLimit, outflow } = plan.plan;
  expect(outflow.currency).toBe(paidFrom);
  await destination.send(solver, { ...plannedCall, gas: gasLimit });
  await destination.mine();
  await world.watch(destination);
  await openLane(services, destination.connected);
  expect(await destination.balance(callee, currency)).toBe(spent);
  const { router } = destination.chain.contracts;
  for (const token of [currency, paidFrom, weth, NATIVE_CURRENCY])
    expect(await destination.balance(router, token)).toBe(0n);
});
