import { depositAddressFactoryAbi } from "@causeway/contracts";
import { cloneCodeHash, NATIVE_CURRENCY } from "@causeway/domain";
import type { Address } from "@causeway/domain";
import { parseEther } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startAddressWorld, type AddressWorld } from "../support/address-world.ts";

// Money is sent to addresses by people who only can send: all of it is filled, or goes back, or stays where everyone sees it.

let world: AddressWorld;

beforeAll(async () => {
  world = await startAddressWorld({ chain: { finalityBlocks: 2 } });
});
afterAll(async () => await world.stop());

const usd = (dollars: number): bigint => BigInt(Math.round(dollars * 1e6));

test("the address that a quote tells is the one that the factory makes of the order, and its one step is a plain payment", async () => {
  const { origin, usdc } = world;
  const factory = origin.chain.contracts.depositAddressFactory as Address;
  const { answer, terms, at } = await world.address({ strict: true, refundTo: world.anAddress() });
  const read = { abi: depositAddressFactoryAbi, address: factory } as const;
  expect(await origin.client.readContract({ ...read, functionName: "initCodeHash" })).toBe(
    cloneCodeHash(factory),
  );
  const key = { id: terms.orderId, depositor: terms.user, recovery: NATIVE_CURRENCY, strict: true };
  const told = await origin.client.readContract({ ...read, functionName: "addressOf", args: [key] });
  expect(told.toLowerCase()).toBe(at);
  expect(answer.steps).toHaveLength(1);
  expect(answer.steps[0]).toMatchObject({ id: "deposit", depositAddress: at });
  expect(answer.steps[0]?.items[0]?.data).toMatchObject({ to: at, data: "0x", value: "0" });
  expect(answer.details.currencyIn).toMatchObject({ amount: "100000000", currency: { address: usdc } });

  const native = await world.address({ originCurrency: NATIVE_CURRENCY, amount: "40000000000000000" });
  expect(native.answer.steps[0]?.items[0]?.data).toMatchObject({ data: "0x", value: "40000000000000000" });
});

test("an open address is paid three times with other amounts: the first is the quote's, each other one gets a request of its own, and all are filled", async () => {
  const { destination, origin, usdc } = world;
  const { at, terms } = await world.address();
  const { recipient } = terms;
  await world.sendTo(at, terms.origin.amount);
  expect(await world.untilSettled(at, 1)).toEqual([terms.requestId]);
  expect(await destination.balance(recipient, usdc)).toBe(terms.destination.expectedAmount);

  await world.sendTo(at, usd(37));
  const [, second] = await world.untilSettled(at, 2);
  await world.sendTo(at, usd(2_500));
  const [, , third] = await world.untilSettled(at, 3);
  expect(new Set([terms.requestId, second, third]).size).toBe(3);
  for (const [id, amount] of [
    [second, usd(37)],
    [third, usd(2_500)],
  ] as const) {
    if (id === undefined) throw new Error("each sum has its request");
    const record = await world.request(id);
    expect(record.terms.origin.amount).toBe(amount);
    expect(record.terms.depositAddress?.address).toBe(at);
    expect(await world.status(id)).toMatchObject({ status: "success", fundsAt: "recipient" });
    expect((await world.depositsOf(id)).map((deposit) => deposit.amount)).toEqual([amount]);
  }
  const [a, b, c] = await Promise.all(
    [terms.requestId, second, third].map(async (id) => (await world.request(id as `0x${string}`)).terms.destination),
  );
  const expected = (a?.expectedAmount ?? 0n) + (b?.expectedAmount ?? 0n) + (c?.expectedAmount ?? 0n);
  expect(await destination.balance(recipient, usdc)).toBe(expected);
  expect(await origin.balance(at, usdc)).toBe(0n);
});
