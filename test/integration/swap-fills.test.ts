import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address } from "@causeway/domain";
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
  const before = await world.destination.balance(solver.address, paidFrom);
  const { status, failReason } = await world.untilFinal(agreed.requestId, 1_000);
  const fills = await world.paymentsOf(agreed, world.destination);
  const router = world.destination.chain.contracts.router;
  const leftInRouter = await Promise.all(
    [paidFrom, destination.currency, world.weth].map((one) => world.destination.balance(router, one)),
  );
  return {
    status,
    failReason,
    fills,
    received: await world.destination.balance(recipient, destination.currency),
    spent: before - (await world.destination.balance(solver.address, paidFrom)),
    leftInRouter,
  };
}

const NOTHING_LEFT = [0n, 0n, 0n];

test.each<[string, () => SwapAsk]>([
  ["a token through a pool", () => ({ currency: world.tst, paidFrom: world.usdc })],
  ["a token through several pools", () => ({ currency: world.odd, paidFrom: world.usdc })],
  ["the wrapped coin", () => ({ currency: world.weth, paidFrom: world.usdc })],
  ["native coin", () => ({ currency: NATIVE_CURRENCY, paidFrom: world.usdc })],
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
    expect(spent).toBeGreaterThan(99_000_000n);
    expect(spent).toBeLessThanOrEqual(100_000_000n);
    const [fill] = fills;
    expect(await world.judged(agreed, fill?.hash ?? "0x")).toEqual({ amounts: [expectedAmount] });
  },
);
