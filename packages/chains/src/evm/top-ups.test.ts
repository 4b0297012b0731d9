import { encodeFunctionData, erc20Abi } from "viem";
import { expect, test } from "vitest";
import { NATIVE_CURRENCY, type Address, type Hex } from "@causeway/domain";
import type { ReceiptFact, TransactionFact } from "@causeway/families/evm";
import {
  alice,
  aTransaction,
  blockHash,
  bob,
  dai,
  logsOf,
  receiptOf,
  solver,
  transfer,
  txHash,
  usdc,
  type EmittedLog,
} from "../../test/event-logs.ts";
import { nativeTopUp, readMark, tokenTopUps, topUpMarker } from "./top-ups.ts";

const lookAlike: Address = `0x${"c9".repeat(20)}`;
const question = { solver, tokens: new Set([usdc, dai]) };
const toBob = topUpMarker(bob).slice(2);
const toSender = topUpMarker(NATIVE_CURRENCY).slice(2);

function transferCall(amount: bigint, tail = "", to: Address = solver): Hex {
  return `${encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] })}${tail}`;
}

function read(emitted: readonly EmittedLog[], fields: Partial<TransactionFact>) {
  const transaction = aTransaction({ from: alice, to: usdc, ...fields });
  return tokenTopUps(question, logsOf(...emitted), new Map([[txHash, transaction]]));
}

/**
 * The account that a transfer of 50 by alice credits with these bytes appended; `nobody` if it is reported
 * and credits no one.
 */
function creditedBy(tail: string): Address | "nobody" | "no top-up" {
  const [topUp, ...more] = read([transfer(usdc, alice, solver, 50n)], { input: transferCall(50n, tail) });
  expect(more).toEqual([]);
  return topUp === undefined ? "no top-up" : (topUp.wallet ?? "nobody");
}

test("the marker is six bytes, an address, and the same six bytes, as documented", () => {
  expect(topUpMarker(bob)).toBe(`0x012345abcdef${bob.slice(2)}012345abcdef`);
});

test("a marked transfer to the solver credits the marked address with the received amount", () => {
  expect(read([transfer(usdc, alice, solver, 50n)], { input: transferCall(50n, toBob) })).toEqual([
    {
      txHash,
      ordinal: 0,
      blockNumber: 100n,
      blockHash,
      sender: alice,
      currency: usdc,
      amount: 50n,
      wallet: bob,
    },
  ]);
});

test("forty zero digits credit the sender of the transfer", () => {
  expect(creditedBy(toSender)).toBe(alice);
});

test("ignores a transfer without a marker", () => {
  expect(creditedBy("")).toBe("no top-up");
  expect(creditedBy("11".repeat(32))).toBe("no top-up");
  // The marker's digits, not aligned to bytes.
  expect(creditedBy(`0${toBob}0`)).toBe("no top-up");
});

test("reports an invalid marker, or one with anything before or after it, and credits no one", () => {
  for (const tail of [
    `00${toBob}`,
    `${toBob}00`,
    `${"00".repeat(32)}${toBob}`,
    `${toBob}${toBob}`,
    toBob.slice(0, -2),
    `012345abcdef${bob.slice(4)}012345abcdef`,
    `012345abcdef${bob.slice(2)}00012345abcdef`,
    `012345abcdef${bob.slice(2)}012345abcdee`,
    "012345abcdef",
  ])
    expect(creditedBy(tail), tail).toBe("nobody");
});

test("reads a marker in the amount as an amount", () => {
  const amount = BigInt(topUpMarker(bob));
  expect(read([transfer(usdc, alice, solver, amount)], { input: transferCall(amount) })).toEqual([]);
});

test("credits the received amount of a token with a transfer fee", () => {
  const emitted = [transfer(usdc, alice, dai, 3n), transfer(usdc, alice, solver, 47n)];
  expect(read(emitted, { input: transferCall(50n, toBob) })).toMatchObject([{ amount: 47n, wallet: bob }]);
});

test("ignores a token that looks like a listed one", () => {
  const emitted = [transfer(lookAlike, alice, solver, 50n)];
  expect(read(emitted, { to: lookAlike, input: transferCall(50n, toBob) })).toEqual([]);
});

test("reports a look-alike that moves a listed token, and credits no one, because its calldata is not the token's", () => {
  const emitted = [transfer(lookAlike, alice, solver, 50n), transfer(usdc, alice, solver, 50n)];
  expect(read(emitted, { to: lookAlike, input: transferCall(50n, toBob) })).toMatchObject([
    { currency: usdc, wallet: undefined },
  ]);
});

test("two transfers with one marker credit no one, because either could be meant", () => {
  const emitted = [transfer(usdc, alice, solver, 50n), transfer(usdc, alice, solver, 50n)];
  expect(read(emitted, { input: transferCall(50n, toBob) })).toMatchObject([
    { ordinal: 0, amount: 50n, wallet: undefined },
    { ordinal: 1, amount: 50n, wallet: undefined },
  ]);
});

test("ignores transfers by others to the solver in the same transaction", () => {
  const emitted = [
    transfer(usdc, bob, solver, 7n),
    transfer(usdc, alice, solver, 50n),
    transfer(dai, alice, solver, 9n),
  ];
  expect(read(emitted, { input: transferCall(50n, toSender) })).toMatchObject([
    { sender: bob, amount: 7n, wallet: undefined },
    { sender: alice, amount: 50n, wallet: alice },
    { currency: dai, amount: 9n, wallet: undefined },
  ]);
});

test("a marked call without a transfer, without one to the solver, or of zero, is not a top-up", () => {
  const input = transferCall(50n, toBob);
  expect(read([], { input })).toEqual([]);
  expect(read([transfer(usdc, alice, bob, 50n)], { input })).toEqual([]);
  expect(read([transfer(usdc, alice, solver, 0n)], { input })).toEqual([]);
});

test("credits no one for a marker after a call of another contract", () => {
  const emitted = [transfer(usdc, alice, solver, 50n)];
  const input: Hex = `0xdeadbeef${toBob}`;
  expect(read(emitted, { to: lookAlike, input })).toMatchObject([{ wallet: undefined }]);
  expect(read(emitted, { to: lookAlike, input: "0xdeadbeef" })).toEqual([]);
});

test("a marked transfer to another account credits no one, even if the token pays the solver", () => {
  const emitted = [transfer(usdc, alice, solver, 50n)];
  expect(read(emitted, { input: transferCall(50n, toBob, bob) })).toMatchObject([{ wallet: undefined }]);
});

test("ignores the solver's transfers to itself", () => {
  expect(
    read([transfer(usdc, solver, solver, 50n)], { from: solver, input: transferCall(50n, toBob) }),
  ).toEqual([]);
});

const native = (fields: Partial<TransactionFact>, receipt: Partial<ReceiptFact> = {}) =>
  nativeTopUp(
    solver,
    aTransaction({ from: alice, to: solver, value: 9n, input: topUpMarker(bob), ...fields }),
    { ...receiptOf(), ...receipt },
  );

test("a native transfer with only the marker as data credits the marked address", () => {
  expect(native({})).toEqual({
    txHash,
    ordinal: 0,
    blockNumber: 100n,
    blockHash,
    sender: alice,
    currency: NATIVE_CURRENCY,
    amount: 9n,
    wallet: bob,
  });
  expect(native({ input: topUpMarker(NATIVE_CURRENCY) })?.wallet).toBe(alice);
});

test("reports a native transfer with more than the marker and credits no one; one without a marker is not a top-up", () => {
  expect(native({ input: `${topUpMarker(bob)}00` })).toMatchObject({ wallet: undefined, amount: 9n });
  expect(native({ input: "0x" })).toBeUndefined();
  expect(native({ input: "0x1234" })).toBeUndefined();
});

test("a native transfer that reverted, has no value, goes elsewhere or comes from the solver is not a top-up", () => {
  expect(native({}, { status: "reverted" })).toBeUndefined();
  expect(native({ value: 0n })).toBeUndefined();
  expect(native({ to: bob })).toBeUndefined();
  expect(native({ to: undefined })).toBeUndefined();
  expect(native({ from: solver })).toBeUndefined();
});

test("reads an address that consists of marker bytes", () => {
  const markerLike = `0x${"012345abcdef".repeat(3)}0123` as const;
  expect(readMark(topUpMarker(markerLike).slice(2), alice)).toEqual({ kind: "credit", wallet: markerLike });
});
