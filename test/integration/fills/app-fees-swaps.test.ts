import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import { afterAll, beforeAll, expect, test } from "vitest";
import { judgeFill } from "../../support/judge-fill.ts";
import type { QuotedRequest } from "../../support/engine-world.ts";
import { violatedInvariants } from "../../support/ledger-world.ts";
import { aPayingKey } from "../../support/paying-key.ts";
import { startSwapWorld, type SwapWorld } from "../../support/swap-world.ts";

let world: SwapWorld;

beforeAll(async () => {
  world = await startSwapWorld({ chain: { finalityBlocks: 2 } });
}, 60_000);
afterAll(async () => {
  expect(await violatedInvariants(world.pool)).toEqual([]);
  await world.stop();
});

async function settled(agreed: QuotedRequest): Promise<void> {
  await world.pay(agreed);
  await world.origin.mine();
  await world.watch(world.origin);
  expect((await world.untilFinal(agreed.requestId, 1_000)).status).toBe("success");
}

async function balanceOf(wallet: Address): Promise<bigint> {
  const { lines } = await world.services.balances.book(wallet);
  return lines.find(({ asset }) => asset.currency === world.usdc)?.balance ?? 0n;
}

test("charges the sponsor for the swap cost of a fill, pays the gas top-up and credits the app", async () => {
  const payer = await aPayingKey(world, 100);
  const [recipient, app] = [world.anAddress(), world.anAddress()];
  const ask = { destinationCurrency: world.odd, recipient, refundTo: recipient };
  const plain = await world.quote(ask);
  const appFees = [{ recipient: app, fee: 20 }];
  const agreed = await world.quote(
    { ...ask, appFees, subsidizeFees: true, topupGas: true, topupGasAmount: "500000" },
    payer.key,
  );
  const { sponsorship, destination } = agreed.terms;
  expect(destination.paidFrom).toBeDefined();
  expect(sponsorship?.components.swap.sponsoredUsd).toBeGreaterThan(0n);
  // Half a dollar of a hundred became native tokens, and the rest became output.
  expect(destination.expectedAmount).toBeGreaterThan(
    (plain.terms.destination.expectedAmount * 994n) / 1_000n,
  );
  await settled(agreed);
  expect(await world.destination.balance(recipient, world.odd)).toBe(destination.expectedAmount);
  const topup = agreed.terms.gasTopup?.amount ?? 0n;
  expect(await world.destination.balance(recipient, NATIVE_CURRENCY)).toBe(topup);
  expect(await balanceOf(app)).toBe(200_000n);
  expect(await balanceOf(payer.wallet)).toBe(100_000_000n - (sponsorship?.amount ?? 0n));
  const [fill, ...more] = await world.paymentsOf(agreed, world.destination);
  expect(more).toEqual([]);
  expect(await judgeFill(world, agreed, fill?.hash ?? "0x")).toEqual({
    amounts: [destination.expectedAmount, topup],
  });
  const { router } = world.destination.chain.contracts;
  for (const currency of [world.usdc, world.tst, world.odd, world.weth, NATIVE_CURRENCY])
    expect(await world.destination.balance(router, currency)).toBe(0n);
});

test("computes app fees from what the origin swap deposited", async () => {
  const app = world.anAddress();
  const agreed = await world.quote({
    originCurrency: world.tst,
    amount: (100n * 10n ** 18n).toString(),
    recipient: world.anAddress(),
    appFees: [{ recipient: app, fee: 100 }],
  });
  await settled(agreed);
  const [deposit] = await world.depositsOf(agreed.requestId);
  const due = agreed.terms.appFees?.fees[0]?.amount ?? 0n;
  expect(await balanceOf(app)).toBe((due * (deposit?.amount ?? 0n)) / agreed.terms.origin.amount);
});
