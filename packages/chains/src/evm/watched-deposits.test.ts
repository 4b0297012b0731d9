import { encodeAbiParameters, encodeFunctionData, erc20Abi } from "viem";
import { expect, test } from "vitest";
import type { Address, Hex } from "@causeway/domain";
import {
  addressTopic,
  depositFilters,
  NATIVE_DEPOSIT_TOPIC,
  TRANSFER_TOPIC,
  type LogFact,
  type ReceiptFact,
  type TransactionFact,
} from "@causeway/families/evm";
import { isWatched, watchedDepositsOf } from "./watched-deposits.ts";

const current: Address = `0x${"d0".repeat(20)}`;
const former: Address = `0x${"d1".repeat(20)}`;
const usdc: Address = `0x${"c1".repeat(20)}`;
const unlisted: Address = `0x${"ef".repeat(20)}`;
const alice: Address = `0x${"a1".repeat(20)}`;
const id: Hex = `0x${"1d".repeat(32)}`;
const txHash: Hex = `0x${"77".repeat(32)}`;
const blockHash: Hex = `0x${"bb".repeat(32)}`;
const question = { depositories: [current, former], tokens: new Set([usdc]) } as const;

type Part = Pick<LogFact, "address" | "topics" | "data">;

function native(depository: Address, amount = 1n): Part {
  const types = [{ type: "address" }, { type: "uint256" }, { type: "bytes32" }] as const;
  return {
    address: depository,
    topics: [NATIVE_DEPOSIT_TOPIC],
    data: encodeAbiParameters(types, [alice, amount, id]),
  };
}

function transfer(token: Address, to: Address): Part {
  return {
    address: token,
    topics: [TRANSFER_TOPIC, addressTopic(alice), addressTopic(to)],
    data: encodeAbiParameters([{ type: "uint256" }], [5n]),
  };
}

function logsOf(parts: readonly Part[]): LogFact[] {
  return parts.map((part, logIndex) => ({ ...part, logIndex, blockNumber: 9n, blockHash, txHash }));
}

/** Depository, amount, ordinal and attestability of each deposit. */
function read(parts: readonly Part[], call: Partial<TransactionFact> = {}): unknown[] {
  const receipt: ReceiptFact = {
    txHash,
    blockNumber: 9n,
    blockHash,
    status: "success",
    gasUsed: 1n,
    effectiveGasPrice: 1n,
    logs: logsOf(parts),
  };
  const transaction: TransactionFact = {
    hash: txHash,
    from: alice,
    to: former,
    input: "0x",
    value: 0n,
    nonce: 0,
    ...call,
  };
  return watchedDepositsOf(question, receipt, transaction).map((deposit) => [
    deposit.depository,
    deposit.amount,
    deposit.ordinal,
    deposit.isUnattestable !== true,
  ]);
}

test("a deposit in a former depository is attestable if the transaction pays nothing to the current one", () => {
  expect(read([native(former)])).toEqual([[former, 1n, 0, true]]);
  expect(read([native(former), transfer(usdc, current)]), "a bare transfer to the current one").toEqual([
    [former, 1n, 0, true],
    [current, 5n, 0, false],
  ]);
});

test("only deposits in the current depository are attestable; ordinals are unique", () => {
  expect(read([native(former), native(current), native(former), native(former, 2n)])).toEqual([
    [former, 1n, 1, false],
    [current, 1n, 0, true],
    [former, 1n, 2, false],
    [former, 2n, 0, false],
  ]);
});

test("a deposit in a former depository is unattestable if an order payment in an unlisted token reaches the current one", () => {
  const input = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [current, 5n] });
  const call = { to: unlisted, input: `${input}${id.slice(2)}` } as const;
  expect(read([native(former), transfer(unlisted, current)], call)).toEqual([[former, 1n, 0, false]]);
  expect(read([native(former), transfer(unlisted, current)])).toEqual([[former, 1n, 0, true]]);
});

test("the same two filters find deposits in every depository", () => {
  expect(depositFilters(question.depositories, question.tokens)).toMatchObject([
    { address: [current, former] },
    { address: [usdc], topics: [TRANSFER_TOPIC, null, [addressTopic(current), addressTopic(former)]] },
  ]);
  const seen = logsOf([native(former), native(current), native(alice), transfer(usdc, former)]);
  expect(seen.map((log) => isWatched(question, log))).toEqual([true, true, false, true]);
});
