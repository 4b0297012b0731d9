import { approvalProxyAbi, routerAbi } from "@causeway/contracts";
import type { Address, FrameLog, Hex, OrderId } from "@causeway/domain";
import { decodeFunctionData, erc20Abi, pad, toHex } from "viem";
import { expect, test } from "vitest";
import { TRANSFER_TOPIC } from "./deposits.ts";
import { fillWithCalls, keepsPayment } from "./fill-with-calls.ts";

const account = (digit: string): Address => `0x${digit.repeat(40)}`;
const [solver, router, approvalProxy, recipient] = [account("1"), account("2"), account("3"), account("4")];
const [token, stranger, depository, target] = [account("5"), account("6"), account("7"), account("8")];
const orderId: OrderId = `0x${"ab".repeat(32)}` as OrderId;
const payment = { currency: token, recipient, amount: 90n, orderId };
const calls = [{ to: target, data: "0x1234" as Hex, value: 5n }];

const moved = (from: Address, to: Address, amount: bigint): FrameLog => ({
  address: token,
  topics: [TRANSFER_TOPIC, pad(from), pad(to)],
  data: pad(toHex(amount)),
});
const paid = [moved(solver, router, 90n), moved(router, recipient, 90n)];

test("in a token the payment stands between the note of the recipient's balance and the demand that it was received", () => {
  const plan = fillWithCalls({ payment, calls, solver, router, approvalProxy });
  expect(plan).toMatchObject({ to: approvalProxy, value: 5n });
  expect(plan.data.endsWith(orderId.slice(2))).toBe(true);
  const { args } = decodeFunctionData({ abi: approvalProxyAbi, data: plan.data });
  expect(args.slice(0, 2)).toEqual([token, 90n]);
  const made = args[2] ?? [];
  expect(made.map(({ to, value, allowFailure }) => [to, value, allowFailure])).toEqual([
    [router, 0n, false],
    [token, 0n, false],
    [target, 5n, false],
    [router, 0n, false],
  ]);
  const [note, transfer, , demand] = made.map(({ data }) => data);
  expect(decodeFunctionData({ abi: routerAbi, data: note ?? "0x" })).toEqual({
    functionName: "noteBalance",
    args: [token, recipient],
  });
  expect(decodeFunctionData({ abi: erc20Abi, data: transfer ?? "0x" })).toEqual({
    functionName: "transfer",
    args: [recipient, 90n],
  });
  expect(decodeFunctionData({ abi: routerAbi, data: demand ?? "0x" })).toEqual({
    functionName: "requireReceived",
    args: [token, recipient, 90n],
  });
});

test.each<readonly [string, readonly FrameLog[], boolean]>([
  ["what he was paid", [], true],
  ["it, when some of it goes on", [moved(recipient, stranger, 1n)], false],
  ["it, when what went comes back", [moved(recipient, stranger, 90n), moved(stranger, recipient, 90n)], true],
  // Whoever checks the payment does not count that.
  [
    "it, when a depository pays him as much as goes",
    [moved(recipient, stranger, 90n), moved(depository, recipient, 90n)],
    false,
  ],
])("whether a recipient keeps %s", (_what, after, keeps) => {
  expect(keepsPayment([...paid, ...after], payment, depository)).toBe(keeps);
});
