import type { Address } from "@causeway/domain";
import { expect, test } from "vitest";
import type { SlotPlan } from "../../db/records.port.ts";
import { covers, reservedFor } from "./lane-funds.ts";

const NATIVE: Address = `0x${"00".repeat(20)}`;
const TOKEN: Address = `0x${"aa".repeat(20)}`;
const SENDER: Address = `0x${"bb".repeat(20)}`;
const chainId = 7;

interface Lane {
  readonly native: bigint;
  readonly tokens: bigint;
  readonly reserved?: Partial<Record<"native" | "tokens" | "gasWei", bigint>>;
}

/** A lane with these balances, read at block 9, and the payments that they do not show yet. */
function aLane({
  native,
  tokens,
  reserved: { native: reservedNative = 0n, tokens: reservedTokens = 0n, gasWei = 0n } = {},
}: Lane) {
  const blocks: bigint[] = [];
  const lanes = {
    reserved: async (_: number, __: Address, currency: Address, block: bigint) => {
      blocks.push(block);
      return { amount: currency === NATIVE ? reservedNative : reservedTokens, gasWei };
    },
  };
  const balance = (currency: Address) => ({ amount: currency === NATIVE ? native : tokens, blockNumber: 9n });
  return { reserve: covers({ lanes }, { chainId, sender: SENDER, native: NATIVE, balance }), blocks };
}

function aPayment(currency: Address, amount: bigint, { gas = 0n, value = 0n } = {}): SlotPlan {
  return {
    chainId,
    sender: SENDER,
    leg: { kind: "fill", id: "0x01", requestId: "0x01" as never },
    call: { to: SENDER, data: "0x", value },
    gasLimit: gas,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 0n,
    outflow: { currency, amount },
    cancelAfterMs: 0,
  };
}

test("covers payments one after another until the balance or the gas for them is used up", async () => {
  const { reserve, blocks } = aLane({
    native: 100n,
    tokens: 50n,
    reserved: { native: 10n, gasWei: 5n, tokens: 20n },
  });
  expect(await reserve(aPayment(NATIVE, 60n, { gas: 10n, value: 60n }))).toBe(true);
  // Leaves 15 native tokens and 30 tokens.
  expect(await reserve(aPayment(NATIVE, 6n, { gas: 10n }))).toBe(false);
  expect(await reserve(aPayment(TOKEN, 31n, { gas: 1n }))).toBe(false);
  expect(await reserve(aPayment(TOKEN, 30n, { gas: 10n, value: 6n }))).toBe(false);
  expect(await reserve(aPayment(TOKEN, 30n, { gas: 10n, value: 5n }))).toBe(true);
  expect(await reserve(aPayment(NATIVE, 1n))).toBe(false);
  expect(blocks).toEqual([9n, 9n]);
});

test("requires native tokens for token payments only where payments have a cost", async () => {
  const free = { native: 0n, tokens: 50n, reserved: { native: 1n } };
  expect(await aLane(free).reserve(aPayment(TOKEN, 50n))).toBe(true);
  expect(await aLane(free).reserve(aPayment(TOKEN, 50n, { gas: 1n }))).toBe(false);
  expect(await aLane(free).reserve(aPayment(NATIVE, 0n))).toBe(false);
  const costly = { ...free, reserved: { gasWei: 1n } };
  expect(await aLane(costly).reserve(aPayment(TOKEN, 50n))).toBe(false);
});

test("uses what was read with the lane locked, unless the balance has become newer since", async () => {
  const blocks: bigint[] = [];
  const lanes = {
    reserved: async (_: number, __: Address, ___: Address, block: bigint) => {
      blocks.push(block);
      return { amount: block === 9n ? 90n : 0n, gasWei: 0n };
    },
  };
  let blockNumber = 9n;
  const funds = {
    chainId,
    sender: SENDER,
    native: NATIVE,
    balance: () => ({ amount: 100n, blockNumber }),
  };
  const payment = aPayment(NATIVE, 20n);
  const reserved = await reservedFor({ lanes }, funds, [payment]);
  expect(await covers({ lanes }, funds, reserved)(payment)).toBe(false);
  expect(blocks).toEqual([9n]);
  // The newer balance shows what was reserved.
  blockNumber = 10n;
  expect(await covers({ lanes }, funds, reserved)(payment)).toBe(true);
  expect(blocks).toEqual([9n, 10n]);
});
