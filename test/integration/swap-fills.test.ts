import { NATIVE_CURRENCY } from "@causeway/domain";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deposit } from "../support/deposits.ts";
import type { Agreed } from "../support/engine-world.ts";
import { startSwapWorld, type SwapAsk, type SwapWorld } from "../support/swap-world.ts";

let world: SwapWorld;

beforeAll(async () => {
  world = await startSwapWorld({ chain: { finalityBlocks: 2 } });
}, 60_000);
afterAll(async () => await world.stop());

/** Deposits what was agreed, or another amount, and lets the watcher see it. */
async function deposited(ask: SwapAsk, amount?: bigint): Promise<Agreed> {
  const agreed = await world.agree(ask);
  await deposit(world.origin, world.user, agreed, amount === undefined ? {} : { amount });
  await world.origin.mine();
  await world.watch(world.origin);
  return agreed;
}

/** What a fill brought its recipient and took from the solver, once it is beyond reorgs. */
async function ended(agreed: Agreed) {
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
    [paidFrom, destination.currency, world.weth].map((one) => world.destination.balance(router, one)),
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

const toOdd = (): SwapAsk => ({ currency: world.odd, paidFrom: world.usdc });
/** Somebody else buys the odd token, or sells it: it is traded in one shallow pool. */
async function movePool(bought: "bought" | "sold", amount: bigint): Promise<void> {
  const { destination, tst, odd, trade } = world;
  await (bought === "bought" ? trade(destination, tst, odd, amount) : trade(destination, odd, tst, amount));
}

test.each<[string, () => SwapAsk]>([
  ["a token through a pool", () => ({ currency: world.tst, paidFrom: world.usdc })],
  ["a token through several pools", () => ({ currency: world.odd, paidFrom: world.usdc })],
  ["the wrapped coin", () => ({ currency: world.weth, paidFrom: world.usdc })],
  ["native coin", () => ({ currency: NATIVE_CURRENCY, paidFrom: world.usdc })],
  ["a token for native coin", () => ({ currency: world.odd, paidFrom: NATIVE_CURRENCY })],
  ["the wrapped coin for native coin", () => ({ currency: world.weth, paidFrom: NATIVE_CURRENCY })],
])(
  "%s arrives to the unit, paid from what the solver holds at no more than its part of the deposit, and oracles see it",
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
    const worth = await world.worthOf(agreed);
    // The price of gas has moved since.
    expect(spent).toBeGreaterThan((worth * 999n) / 1_000n);
    expect(spent).toBeLessThanOrEqual((worth * 1_001n) / 1_000n);
    const [fill] = fills;
    expect(await world.judged(agreed, fill?.hash ?? "0x")).toEqual({ amounts: [expectedAmount] });
  },
);

test("pools that moved a little do not change what is paid while the quote is firm, and what that costs is bounded", async () => {
  const agreed = await deposited(toOdd());
  await movePool("bought", 5n * 10n ** 18n);
  await world.destination.mine();
  await world.watch(world.destination);
  const worth = await world.worthOf(agreed);
  const { expectedAmount } = agreed.terms.destination;
  const now = await world.best(world.destination, world.usdc, world.odd, worth);
  expect(now.amountOut).toBeLessThan(expectedAmount);
  const { status, received, spent } = await ended(agreed);
  expect({ status, received }).toEqual({ status: "success", received: expectedAmount });
  expect(spent).toBeGreaterThan(worth);
  expect(spent).toBeLessThan((worth * 10_020n) / 10_000n);
});

test("pools that moved more than is borne have the recipient get what his deposit buys there now, as long as that keeps the promise", async () => {
  const agreed = await deposited({ ...toOdd(), slippageBps: 500 });
  await movePool("bought", 400n * 10n ** 18n);
  await world.destination.mine();
  await world.watch(world.destination);
  const worth = await world.worthOf(agreed);
  const { amountOut } = await world.best(world.destination, world.usdc, world.odd, worth);
  const { expectedAmount, minimumAmount } = agreed.terms.destination;
  expect([amountOut < expectedAmount, amountOut > minimumAmount]).toEqual([true, true]);
  const { status, received, spent } = await ended(agreed);
  expect(status).toBe("success");
  // The price of gas falls from block to block.
  expect(received).toBeGreaterThanOrEqual(amountOut);
  expect(received).toBeLessThan((amountOut * 10_001n) / 10_000n);
  expect(spent).toBeLessThan((worth * 10_001n) / 10_000n);
});

test("pools that moved beyond the promise send the deposit back", async () => {
  const agreed = await deposited(toOdd());
  await movePool("bought", 5_000n * 10n ** 18n);
  await world.destination.mine();
  await world.watch(world.destination);
  expect(await ended(agreed)).toMatchObject({
    status: "refund",
    failReason: "SLIPPAGE",
    fills: [],
    received: 0n,
    spent: 0n,
  });
  await movePool("sold", 500n * 10n ** 18n);
  await world.destination.mine();
  await world.watch(world.destination);
});

test("others who move the pools in the fill's own block make it fail, at the cost of its gas; it is planned anew and paid once", async () => {
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
