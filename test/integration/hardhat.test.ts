import { NATIVE_CURRENCY } from "@causeway/domain";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startAddressWorld, type AddressWorld } from "../support/address-world.ts";
import { deposit } from "../support/deposits.ts";
import type { Agreed, EngineWorld } from "../support/engine-world.ts";
import { startHardhatNode } from "../support/hardhat-node.ts";
import { aSponsor } from "../support/sponsors.ts";
import { startSwapWorld, type SwapWorld } from "../support/swap-world.ts";

// The main flows once more on a node whose EVM, RPC server and error texts are not anvil's.

let world: SwapWorld;

beforeAll(async () => {
  world = await startSwapWorld({ chain: { finalityBlocks: 2 }, startNode: startHardhatNode });
}, 60_000);
afterAll(async () => await world.stop());

/** The user deposits what was agreed, and everything goes on until it is final. */
async function carriedOut(agreed: Agreed, change: Parameters<typeof deposit>[3] = {}) {
  const { destination } = agreed.terms;
  const origin = agreed.terms.origin.chainId === world.origin.chain.id ? world.origin : world.destination;
  const end = destination.chainId === world.origin.chain.id ? world.origin : world.destination;
  await deposit(origin, world.user, agreed, change);
  await origin.mine();
  await world.watch(origin);
  const { status } = await world.untilFinal(agreed.requestId, 1_000);
  const payments = await world.paymentsOf(agreed, end);
  const received = await end.balance(agreed.terms.recipient, destination.currency);
  return { status, payments: payments.length, received };
}

const back = (ask: Parameters<EngineWorld["quote"]>[0]): Parameters<EngineWorld["quote"]>[0] => ({
  originChainId: world.destination.chain.id,
  destinationChainId: world.origin.chain.id,
  ...ask,
});

test.each([
  ["an ERC-20 token there", () => ({})],
  [
    "native token there",
    () => ({
      originCurrency: NATIVE_CURRENCY,
      destinationCurrency: NATIVE_CURRENCY,
      amount: "40000000000000000",
    }),
  ],
  ["an ERC-20 token back", () => back({})],
  [
    "native token back",
    () =>
      back({
        originCurrency: NATIVE_CURRENCY,
        destinationCurrency: NATIVE_CURRENCY,
        amount: "40000000000000000",
      }),
  ],
])("a bridge of %s arrives, paid once", async (_, ask) => {
  const agreed = await world.quote({ recipient: world.anAddress(), refundTo: world.anAddress(), ...ask() });
  expect(await carriedOut(agreed)).toEqual({
    status: "success",
    payments: 1,
    received: agreed.terms.destination.expectedAmount,
  });
});

test("a fill with a swap in it arrives, paid once, although no transaction may have a whole block's gas", async () => {
  const agreed = await world.agree({ currency: world.odd, paidFrom: world.usdc });
  expect(await carriedOut(agreed)).toEqual({
    status: "success",
    payments: 1,
    received: agreed.terms.destination.expectedAmount,
  });
});

test("a deposit that is too small for its quote is refunded", async () => {
  const refundTo = world.anAddress();
  const agreed = await world.quote({ recipient: world.anAddress(), refundTo });
  const amount = agreed.terms.origin.amount / 2n;
  expect(await carriedOut(agreed, { amount })).toEqual({ status: "refund", payments: 0, received: 0n });
  const refunded = await world.origin.balance(refundTo, agreed.terms.origin.currency);
  expect(refunded).toBeGreaterThan((amount * 9n) / 10n);
  expect(refunded).toBeLessThanOrEqual(amount);
});

test("a fast fill arrives while its deposit is unmined, and is paid once", async () => {
  const sponsor = await aSponsor(world, 1_000);
  const agreed = await world.quote(
    { recipient: world.anAddress(), refundTo: world.anAddress() },
    sponsor.key.id,
  );
  await deposit(world.origin, world.user, agreed);
  expect(await sponsor.fastFill(agreed)).toBe("queued");
  await world.work();
  await world.destination.mine();
  await world.watch(world.destination);
  const { recipient, destination } = agreed.terms;
  expect(await world.destination.balance(recipient, destination.currency)).toBe(destination.expectedAmount);
  expect((await world.untilFinal(agreed.requestId)).status).toBe("success");
  expect(await world.paymentsOf(agreed, world.destination)).toHaveLength(1);
  expect(await sponsor.holdState(agreed)).toBe("released");
});

describe("deposit addresses", () => {
  let addresses: AddressWorld;
  beforeAll(async () => {
    addresses = await startAddressWorld({ chain: { finalityBlocks: 2 }, startNode: startHardhatNode });
  }, 60_000);
  afterAll(async () => await addresses.stop());

  test("what is sent to a deposit address is swept and filled", async () => {
    const { at, terms } = await addresses.address();
    await addresses.sendTo(at, terms.origin.amount);
    expect(await addresses.untilSettled(at, 1)).toEqual([terms.requestId]);
    const { recipient, destination } = terms;
    expect(await addresses.destination.balance(recipient, destination.currency)).toBe(
      destination.expectedAmount,
    );
    expect(await addresses.origin.balance(at, terms.origin.currency)).toBe(0n);
  });
});
