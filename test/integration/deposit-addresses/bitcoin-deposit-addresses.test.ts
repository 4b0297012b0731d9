import type { Hex, RequestId } from "@causeway/domain";
import { formatAddress } from "@causeway/families";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lookUpAddress } from "../../../apps/api/src/deposits/addresses/look-up-address.ts";
import { trackNonEvm } from "../../../apps/api/src/payments/non-evm/track-payments.ts";
import {
  CONFIRMATIONS,
  startBitcoinAddressWorld,
  type BitcoinAddressWorld,
} from "../../support/bitcoin-address-world.ts";
import { anOwner, spend, utxoOf } from "../../support/bitcoin-world.ts";
import { aSponsor } from "../../support/sponsors.ts";

// Deposit addresses on a Bitcoin regtest node. Each payment to an address is filled or refunded once, and the
// tests account for every satoshi.

let world: BitcoinAddressWorld;

beforeAll(async () => {
  world = await startBitcoinAddressWorld();
}, 120_000);
afterAll(async () => await world.stop());

const received = async (recipient: Hex): Promise<bigint> =>
  await world.destination.balance(recipient, world.usdc);
const statesOf = async (address: Hex): Promise<(bigint | string)[][]> =>
  (await world.sweepsFrom(address)).map(({ amount, state }) => [amount, state]);

test("fills a payment to an open address once its sweep has the confirmations of a deposit, and reports fundsAt until then", async () => {
  const { bitcoin } = world;
  const { address, bytes, requestId, terms, answer } = await world.bitcoinAddress();
  const [step] = answer.steps;
  expect(step).toMatchObject({ items: [{ data: { payment: { address, amount: "200000" } } }] });
  const depositoryBefore = await bitcoin.balance(bitcoin.depository.address);
  await bitcoin.controls.fund(address, 200_000n);
  await world.bitcoinRound();
  expect(await world.status(requestId)).toMatchObject({ status: "depositing", fundsAt: "depositAddress" });
  await world.bitcoinRound(CONFIRMATIONS);
  expect(await statesOf(bytes)).toMatchObject([[200_000n, expect.stringMatching(/sent|mined/)]]);
  expect(await received(terms.recipient)).toBe(0n);
  await world.untilStatus(requestId, "success");
  expect(await received(terms.recipient)).toBe(terms.destination.expectedAmount);
  expect(await bitcoin.balance(address)).toBe(0n);
  expect((await bitcoin.balance(bitcoin.depository.address)) - depositoryBefore).toBe(200_000n);
  const found = await lookUpAddress(world.watching(), { address }, undefined);
  expect(found).toMatchObject({ depositAddress: address, funds: [], chainIds: [bitcoin.connected.chain.id] });
  expect(found?.deposits[0]?.depositTxHash).toMatch(/^[0-9a-f]{64}$/);
}, 60_000);

test("quotes each further payment to an open address once, and leaves dust at the address", async () => {
  const { bitcoin } = world;
  const { address, bytes, terms } = await world.bitcoinAddress();
  await bitcoin.controls.fund(address, 130_000n);
  await world.bitcoinRound(CONFIRMATIONS);
  await bitcoin.controls.fund(address, 90_000n);
  await world.bitcoinRound(4 * CONFIRMATIONS);
  expect(await statesOf(bytes)).toEqual([
    [130_000n, "final"],
    [90_000n, "final"],
  ]);
  const successors = (await world.requestsOf(bytes)).slice(1);
  expect(successors).toHaveLength(2);
  const outputs = await Promise.all(
    successors.map(async (id) => (await world.request(id)).terms.destination.expectedAmount),
  );
  expect(await received(terms.recipient)).toBe(outputs.reduce((sum, output) => sum + output, 0n));
  await bitcoin.controls.fund(address, 700n);
  await world.bitcoinRound(CONFIRMATIONS + 1);
  const found = await lookUpAddress(world.watching(), { address }, undefined);
  expect(found?.funds).toMatchObject([{ amount: "700", heldReason: "AMOUNT_TOO_LOW" }]);
  expect(await bitcoin.balance(address)).toBe(700n);
}, 60_000);

test("a strict address fills its quote, and refunds excess, insufficient and late payments to refundTo", async () => {
  const { bitcoin } = world;
  const refundTos = [anOwner(), anOwner(), anOwner()];
  const [over, under, late] = await Promise.all(
    refundTos.map(
      async ({ address: refundTo }) => await world.bitcoinAddress({ strict: true, refundTo, ttl: 3_600 }),
    ),
  );
  if (over === undefined || under === undefined || late === undefined)
    throw new Error("expected three quotes");
  await bitcoin.controls.fund(over.address, 260_000n);
  await bitcoin.controls.fund(under.address, 150_000n);
  await world.untilStatus(over.requestId, "success");
  expect(await received(over.terms.recipient)).toBe(over.terms.destination.expectedAmount);
  world.clock.forward(3_600_000);
  await bitcoin.controls.fund(late.address, 200_000n);
  await world.bitcoinRound(6 * CONFIRMATIONS);
  const refunds = await Promise.all(refundTos.map(async ({ address }) => await bitcoin.balance(address)));
  for (const [index, paid] of [60_000n, 150_000n, 200_000n].entries()) {
    expect(refunds[index]).toBeLessThan(paid);
    expect(refunds[index]).toBeGreaterThan(paid - 3_000n);
  }
  expect(await statesOf(over.bytes)).toEqual([
    [200_000n, "final"],
    [60_000n, "final"],
  ]);
  for (const { terms, address } of [under, late]) {
    expect(await received(terms.recipient)).toBe(0n);
    expect(await bitcoin.balance(address)).toBe(0n);
  }
}, 90_000);

/** Pays an address from a wallet that can replace the payment. */
async function payReplaceably(address: string, amount: bigint) {
  const payer = anOwner();
  const utxo = await utxoOf(world.bitcoin.controls, payer, amount + 10_000n);
  const payment = spend([utxo], [{ to: address, amount }], { change: undefined, fee: 10_000n });
  await world.bitcoin.controls.send(payment.hex);
  return { payer, utxo };
}

test("re-quotes funds at an open address at current fees if their sweep is too expensive when the quote expires", async () => {
  const { bitcoin, clock } = world;
  const { connection, pulse, chain } = bitcoin.connected;
  const original = { paymentCost: connection.paymentCost, pulseCost: pulse.paymentCost };
  const [open, strict] = [await world.bitcoinAddress(), await world.bitcoinAddress({ strict: true })];
  await bitcoin.controls.fund(open.address, 200_000n);
  await bitcoin.controls.fund(strict.address, 200_000n);
  const cost = 10n * pulse.paymentCost(chain.native.address);
  Object.assign(connection, { paymentCost: async () => await Promise.resolve(cost) });
  Object.assign(pulse, { paymentCost: () => cost });
  try {
    await world.bitcoinRound(CONFIRMATIONS + 1);
    expect(clock.nowMs()).toBeLessThan(open.terms.firmUntilMs);
    for (const { bytes } of [open, strict]) expect(await statesOf(bytes)).toEqual([[200_000n, "planned"]]);
    clock.forward(open.terms.firmUntilMs - clock.nowMs() + 1_000);
    await world.bitcoinRound(3 * CONFIRMATIONS);
    expect(await statesOf(open.bytes)).toEqual([
      [200_000n, "void"],
      [200_000n, "final"],
    ]);
    // Funds at a strict address are deposited under its own order only.
    expect(await statesOf(strict.bytes)).toEqual([[200_000n, "planned"]]);
    const [, successor] = await world.requestsOf(open.bytes);
    const { destination } = (await world.request(successor ?? open.requestId)).terms;
    expect(destination.expectedAmount).toBeLessThan(open.terms.destination.expectedAmount);
    expect(await world.status(open.requestId)).toMatchObject({
      status: "success",
      supersededByRequestId: successor,
    });
    expect(await received(open.terms.recipient)).toBe(destination.expectedAmount);
  } finally {
    Object.assign(connection, { paymentCost: original.paymentCost });
    Object.assign(pulse, { paymentCost: original.pulseCost });
  }
  await world.bitcoinRound(3 * CONFIRMATIONS);
  expect(await statesOf(strict.bytes)).toEqual([[200_000n, "final"]]);
}, 60_000);

test("cancels the sweep of a payment that a reorg removed, and fills nothing", async () => {
  const { bitcoin } = world;
  const { address, bytes, requestId, terms } = await world.bitcoinAddress();
  const { payer, utxo } = await payReplaceably(address, 200_000n);
  const solverBefore = await bitcoin.balance(bitcoin.solver.address);
  await world.bitcoinRound(CONFIRMATIONS);
  await world.work();
  expect(await statesOf(bytes)).toEqual([[200_000n, "sent"]]);
  // The user replaces the payment in the branch that becomes canonical.
  const replacement = spend([utxo], [{ to: payer, amount: 205_000n }], { change: undefined, fee: 5_000n });
  await bitcoin.controls.reorganize(CONFIRMATIONS, [replacement.hex]);
  expect(await bitcoin.balance(payer.address)).toBe(205_000n);
  await world.bitcoinRound(CONFIRMATIONS);
  expect(await statesOf(bytes)).toEqual([[200_000n, "sent"]]);
  world.clock.forward(3_700_000);
  await world.bitcoinRound(CONFIRMATIONS + 2);
  world.clock.forward(70_000);
  await world.bitcoinRound(3);
  expect(await statesOf(bytes)).toEqual([[200_000n, "void"]]);
  expect(await received(terms.recipient)).toBe(0n);
  expect((await world.status(requestId)).status).not.toBe("success");
  // The solver lost at most the fee of the cancel transaction.
  expect(solverBefore - (await bitcoin.balance(bitcoin.solver.address))).toBeLessThan(3_000n);
  // The address can still be paid.
  await bitcoin.controls.fund(address, 200_000n);
  await world.bitcoinRound(5 * CONFIRMATIONS);
  expect(await received(terms.recipient)).toBeGreaterThan(0n);
}, 90_000);

test("replaces a sweep that no block includes, and moves the funds once", async () => {
  const { bitcoin } = world;
  const { connected: end, controls } = bitcoin;
  const { address, bytes, requestId, terms } = await world.bitcoinAddress();
  const depositoryBefore = await bitcoin.balance(bitcoin.depository.address);
  await controls.fund(address, 200_000n);
  await world.bitcoinRound(CONFIRMATIONS);
  await controls.mineExactly([]);
  world.clock.forward(3_600_000);
  await trackNonEvm(world.services, end);
  const slots = await world.services.reads.unsettledSlots(end.chain.id, end.connection.solver);
  const [first, second, ...others] = slots.flatMap(({ attempts }) => attempts);
  expect([second?.kind, others]).toEqual(["pay", []]);
  expect(second?.maxFeePerGas).toBeGreaterThan(first?.maxFeePerGas ?? 0n);
  await world.untilStatus(requestId, "success");
  expect(await statesOf(bytes)).toEqual([[200_000n, "final"]]);
  expect((await bitcoin.balance(bitcoin.depository.address)) - depositoryBefore).toBe(200_000n);
  expect(await bitcoin.balance(address)).toBe(0n);
  expect(await received(terms.recipient)).toBe(terms.destination.expectedAmount);
}, 60_000);

test("after a crash before or after the broadcast of a sweep, another process moves the funds once", async () => {
  const { bitcoin, services } = world;
  const { connected: end } = bitcoin;
  const depositoryBefore = await bitcoin.balance(bitcoin.depository.address);
  const quotes: { bytes: Hex; requestId: RequestId; recipient: Hex; expected: bigint }[] = [];
  for (const failingCall of ["prepare", "send"] as const) {
    const { address, bytes, requestId, terms } = await world.bitcoinAddress();
    const { recipient, destination } = terms;
    quotes.push({ bytes, requestId, recipient, expected: destination.expectedAmount });
    await bitcoin.controls.fund(address, 200_000n);
    await world.bitcoinRound(CONFIRMATIONS - 1);
    const dead = {
      ...end,
      connection: { ...end.connection, [failingCall]: async () => await Promise.reject(new Error("died")) },
    };
    const workerServices = { ...services, chains: { ...services.chains, nonEvm: () => dead } };
    await expect(world.bitcoinRound(1, workerServices)).rejects.toThrow("died");
    expect(await statesOf(bytes)).toEqual([[200_000n, "sent"]]);
    world.clock.forward(60_000);
  }
  for (const { bytes, requestId, recipient, expected } of quotes) {
    await world.untilStatus(requestId, "success");
    expect(await statesOf(bytes)).toEqual([[200_000n, "final"]]);
    expect(await received(recipient)).toBe(expected);
  }
  expect((await bitcoin.balance(bitcoin.depository.address)) - depositoryBefore).toBe(400_000n);
  expect(formatAddress(end.chain, quotes[0]?.bytes ?? "0x")).toMatch(/^bcrt1q/);
}, 90_000);

test("refuses to fast fill while the sweep may take too long, and never both fills and refunds", async () => {
  const { bitcoin, clock, services } = world;
  const app = await aSponsor(world, 1_000);
  const refundTo = anOwner().address;
  const agreed = await world.bitcoinAddress({ ttl: 600, refundTo });
  const { address, bytes, requestId, terms } = agreed;
  await bitcoin.controls.fund(address, 200_000n);
  await world.bitcoinRound(CONFIRMATIONS);
  await world.work();
  expect(await statesOf(bytes)).toEqual([[200_000n, "sent"]]);
  const servicesWithFillLead = (fillLeadMs: number) => ({
    ...services,
    enginePolicy: { ...services.enginePolicy, fillLeadMs },
  });
  const earlySettlement = {
    message: expect.stringContaining("The sweep of the deposit address may take up to") as string,
    facts: { data: { rule: "settledTooSoon" } },
  };
  await expect(app.fastFill(agreed, {}, servicesWithFillLead(87 * 60_000))).rejects.toMatchObject(
    earlySettlement,
  );
  await expect(app.fastFill(agreed), "between different assets").rejects.toMatchObject(earlySettlement);
  expect(await app.holdOf(agreed)).toBeUndefined();
  // The deadline for payments and the grace period have passed, but the sweep still moves funds that were
  // paid in time.
  clock.forward(2_400_000);
  await expect(app.fastFill(agreed, {}, servicesWithFillLead(87 * 60_000))).rejects.toMatchObject(
    earlySettlement,
  );
  expect(await app.fastFill(agreed, {}, servicesWithFillLead(30 * 24 * 3_600_000))).toBe("queued");
  await world.work();
  await world.destination.mine();
  await world.watch(world.destination);
  expect(await received(terms.recipient)).toBe(terms.destination.expectedAmount);
  clock.forward(3 * 3_600_000);
  await world.bitcoinRound(4 * CONFIRMATIONS);
  expect(await app.holdState(agreed)).toBe("released");
  expect(await world.depositsOf(requestId)).toMatchObject([{ disposition: "accepted" }]);
  expect(await received(terms.recipient)).toBe(terms.destination.expectedAmount);
  expect(await bitcoin.balance(refundTo)).toBe(0n);
}, 90_000);
