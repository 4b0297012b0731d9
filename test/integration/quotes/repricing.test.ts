import { NATIVE_CURRENCY } from "@causeway/domain";
import { encodeAbiParameters, keccak256 } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  startEngineWorld,
  type QuotedRequest,
  type QuoteOverrides,
  type EngineWorld,
} from "../../support/engine-world.ts";

let world: EngineWorld;

beforeAll(async () => {
  world = await startEngineWorld({ chain: { finalityBlocks: 2 } });
});
beforeEach(() => world.prices.set("ethereum", "2500"));
afterAll(async () => await world.stop());

/**
 * Deposits 100 USDC for a quote of native tokens, so that the price of ETH decides what the deposit buys.
 */
async function aDeposit(
  ask: QuoteOverrides = {},
  beforeDeposit: () => void = () => {},
): Promise<QuotedRequest> {
  const agreed = await world.quote({
    recipient: world.anAddress(),
    refundTo: world.anAddress(),
    destinationCurrency: NATIVE_CURRENCY,
    ...ask,
  });
  beforeDeposit();
  await world.pay(agreed);
  await world.origin.mine();
  await world.watch(world.origin);
  return agreed;
}

async function ended(agreed: QuotedRequest) {
  await world.work();
  const { status, failReason } = await world.untilFinal(agreed.requestId, 1_000);
  const received = await world.destination.balance(agreed.terms.recipient, NATIVE_CURRENCY);
  const fills = (await world.paymentsOf(agreed, world.destination)).length;
  const refunds = (await world.paymentsOf(agreed, world.origin)).length;
  return { status, failReason, received, fills, refunds };
}

const afterFirmWindow = (): void => world.clock.forward(world.services.quotePolicy.firmSeconds * 1_000 + 1);

test("a deposit during the firm quote is paid as expected even if it buys slightly less and is confirmed late", async () => {
  const agreed = await aDeposit();
  afterFirmWindow();
  // ETH is 4 bps more expensive. Between two assets, a firm price is honored up to the pair's fee of 6 bps.
  world.prices.set("ethereum", "2501");
  const { expectedAmount } = agreed.terms.destination;
  expect(await ended(agreed)).toMatchObject({
    status: "success",
    received: expectedAmount,
    fills: 1,
    refunds: 0,
  });
});

test("a firm quote covers price changes only up to a limit, beyond which the deposit is repriced", async () => {
  const agreed = await aDeposit({ slippageTolerance: "1000" });
  // ETH is 4% more expensive: above what is honored, and below the allowed slippage.
  world.prices.set("ethereum", "2600");
  const { expectedAmount, minimumAmount } = agreed.terms.destination;
  const end = await ended(agreed);
  expect(end).toMatchObject({ status: "success", fills: 1, refunds: 0 });
  expect(end.received).toBeLessThan(expectedAmount);
  expect(end.received).toBeGreaterThanOrEqual(minimumAmount);
  expect(Number((end.received * 10_000n) / expectedAmount)).toBeCloseTo(9_615, -1);
});

test("after the firm period, a slight price change reduces the recipient's output, but not below the minimum", async () => {
  const agreed = await aDeposit({}, afterFirmWindow);
  world.prices.set("ethereum", "2512");
  const { expectedAmount, minimumAmount } = agreed.terms.destination;
  const end = await ended(agreed);
  expect(end.status).toBe("success");
  expect(end.received).toBeLessThan(expectedAmount);
  expect(end.received).toBeGreaterThanOrEqual(minimumAmount);
});

test("a price that moved in the recipient's favor pays exactly what was expected", async () => {
  const agreed = await aDeposit({}, afterFirmWindow);
  world.prices.set("ethereum", "2000");
  expect(await ended(agreed)).toMatchObject({
    status: "success",
    received: agreed.terms.destination.expectedAmount,
  });
});

test("refunds the deposit for slippage instead of paying below the promised minimum", async () => {
  for (const prepare of [() => {}, afterFirmWindow]) {
    const agreed = await aDeposit({}, prepare);
    world.prices.set("ethereum", "2600");
    expect(await ended(agreed)).toEqual({
      status: "refund",
      failReason: "SLIPPAGE",
      received: 0n,
      fills: 0,
      refunds: 1,
    });
    expect(await world.statusesOf(agreed.requestId)).toEqual(["waiting", "pending", "refund"]);
    world.prices.set("ethereum", "2500");
  }
});

test("an exact output is paid exactly or not at all, whether or not the quote is firm", async () => {
  const ask: QuoteOverrides = { tradeType: "EXACT_OUTPUT", amount: "40000000000000000" };
  const kept = await aDeposit(ask, afterFirmWindow);
  world.prices.set("ethereum", "2501");
  expect(await ended(kept)).toMatchObject({ status: "success", received: 40_000_000_000_000_000n });
  world.prices.set("ethereum", "2500");

  const expensive = await aDeposit(ask);
  world.prices.set("ethereum", "2512");
  expect(await ended(expensive)).toMatchObject({ status: "refund", failReason: "SLIPPAGE", received: 0n });
});

test("without a price, the fill waits", async () => {
  const agreed = await aDeposit();
  world.prices.set("ethereum", undefined);
  await expect(world.work()).rejects.toMatchObject({ code: "PRICE_FETCH_FAILED" });
  expect((await world.status(agreed.requestId)).status).toBe("pending");
  world.prices.set("ethereum", "2500");
  expect(await ended(agreed)).toMatchObject({ status: "success", fills: 1 });
});

test("a fill waits for inventory, is paid when it arrives, and refunded if it does not", async () => {
  const whole = await world.destination.balance(world.solver.address, world.usdc);
  const ask: QuoteOverrides = { destinationCurrency: world.usdc };
  const [patient, unlucky] = [await aDeposit(ask), await aDeposit(ask)];
  const slot = await tokenBalanceSlot();
  const setInventory = async (amount: bigint): Promise<void> => {
    await world.destination.client.setStorageAt({
      address: world.usdc,
      index: slot,
      value: `0x${amount.toString(16).padStart(64, "0")}`,
    });
    await world.destination.mine();
    await world.watch(world.destination);
  };
  await setInventory(1n);
  await world.work();
  expect(world.events.of("fill_waits").length).toBeGreaterThanOrEqual(2);
  expect((await world.status(patient.requestId)).status).toBe("pending");

  await setInventory(patient.terms.destination.expectedAmount);
  await world.work();
  await world.destination.mine();
  await world.watch(world.destination);
  expect((await world.status(patient.requestId)).status).toBe("success");
  expect((await world.status(unlucky.requestId)).status, "the inventory covers only one fill").toBe(
    "pending",
  );

  world.clock.forward(world.services.enginePolicy.inventoryWaitMs + 1);
  await world.work();
  const { status, failReason } = await world.untilFinal(unlucky.requestId, 1_000);
  expect({ status, failReason }).toEqual({ status: "refund", failReason: "SOLVER_BALANCE_TOO_LOW" });
  await setInventory(whole);
});

/** The storage slot of the token with the solver's balance, found by changing candidate slots. */
async function tokenBalanceSlot(): Promise<`0x${string}`> {
  const held = await world.destination.balance(world.solver.address, world.usdc);
  for (let at = 0n; at < 20n; at++) {
    const slot = keccak256(
      encodeAbiParameters([{ type: "address" }, { type: "uint256" }], [world.solver.address, at]),
    );
    const value = await world.destination.client.getStorageAt({ address: world.usdc, slot });
    if (value !== undefined && BigInt(value) === held) return slot;
  }
  throw new Error("the storage slot of the balance was not found");
}

test("a recipient that the token refuses gets nothing and the deposit is refunded", async () => {
  const agreed = await aDeposit();
  await world.destination.client.setCode({ address: agreed.terms.recipient, bytecode: "0x60006000fd" });
  const before = await world.destination.balance(agreed.terms.recipient, NATIVE_CURRENCY);
  const end = await ended(agreed);
  expect(end).toMatchObject({
    status: "refund",
    failReason: "DESTINATION_TOKEN_TRANSFER_REJECTED",
    fills: 0,
    refunds: 1,
  });
  expect(end.received).toBe(before);
});

test("a contract that accepts native tokens is paid through the router, with the order id at the end", async () => {
  const agreed = await world
    .quote({
      recipient: world.destination.chain.contracts.serviceReceiver,
      destinationCurrency: NATIVE_CURRENCY,
    })
    .catch((error: unknown) => error);
  // Contracts of the service cannot be recipients.
  expect(agreed).toBeInstanceOf(Error);
  const recipient = world.anAddress();
  await world.destination.client.setCode({ address: recipient, bytecode: "0x00" });
  const contract = await aDeposit({ recipient });
  const end = await ended(contract);
  expect(end).toMatchObject({ status: "success", received: contract.terms.destination.expectedAmount });
  const [payment] = await world.paymentsOf(contract, world.destination);
  expect(payment?.to).toBe(world.destination.chain.contracts.router);
});

test("refunds the deposit if the recipient's code needs more gas than the router gives it", async () => {
  const agreed = await aDeposit();
  // Code that writes 30 storage slots on every payment.
  const writes = Array.from(
    { length: 30 },
    (_, slot) => `600160${(slot + 1).toString(16).padStart(2, "0")}55`,
  );
  await world.destination.client.setCode({
    address: agreed.terms.recipient,
    bytecode: `0x${writes.join("")}00`,
  });
  const before = await world.destination.balance(agreed.terms.recipient, NATIVE_CURRENCY);
  const end = await ended(agreed);
  expect(end).toMatchObject({
    status: "refund",
    failReason: "DESTINATION_TOKEN_TRANSFER_REJECTED",
    fills: 0,
    refunds: 1,
  });
  expect(end.received).toBe(before);
});

test("a fill that exceeds an asset's exposure limit per minute waits for the next minute", async () => {
  const { enginePolicy } = world.services;
  const bounded = { ...world.services, enginePolicy: { ...enginePolicy, maxPriceExposureUsd: 150 } };
  // The clock moves to the start of a minute, so that both fills are in the same minute.
  world.clock.forward(60_000 - (world.clock.nowMs() % 60_000));
  const deposits = [await aDeposit(), await aDeposit()];
  await world.work(bounded);
  const stateOf = async ({ requestId }: QuotedRequest) => (await world.request(requestId)).state.name;
  expect((await Promise.all(deposits.map(stateOf))).sort()).toEqual(["fillable", "submitted"]);
  world.clock.forward(60_000);
  await world.work(bounded);
  expect(await Promise.all(deposits.map(stateOf))).toEqual(["submitted", "submitted"]);
});

test("workers whose clocks differ by a minute share one exposure limit, and a worker whose clock is far behind starts a new one", async () => {
  const add = async (minute: number) =>
    await world.services.uow.run((tx) => tx.priceExposure.add("shared", 60n, 100n, minute * 60_000));
  expect([await add(1_001), await add(1_000), await add(1_001)]).toEqual([true, false, false]);
  expect([await add(1_002), await add(900)]).toEqual([true, true]);
});
