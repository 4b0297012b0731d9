import { decodeFunctionData, encodeFunctionResult, multicall3Abi } from "viem";
import { expect, test } from "vitest";
import type { Address, Hex } from "@causeway/domain";
import {
  allowanceCall,
  balanceCall,
  decodeAggregate3,
  encodeAggregate3,
  nativeBalanceCall,
  uintAnswer,
} from "./multicall.ts";
import { RpcFault } from "@causeway/families";

const token: Address = `0x${"c1".repeat(20)}`;
const account: Address = `0x${"a1".repeat(20)}`;
const spender: Address = `0x${"5e".repeat(20)}`;

function answerOf(results: { success: boolean; returnData: Hex }[]): Hex {
  return encodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", result: results });
}

test("the hand-written encoding equals the ABI encoding", () => {
  const calls = [
    nativeBalanceCall(token, account),
    balanceCall(token, account),
    allowanceCall(token, account, spender),
  ];
  const decoded = decodeFunctionData({ abi: multicall3Abi, data: encodeAggregate3(calls) });
  expect(decoded.functionName).toBe("aggregate3");
  const tuples = decoded.args?.[0] as { target: string; allowFailure: boolean; callData: Hex }[];
  expect(tuples.map((tuple) => tuple.target.toLowerCase())).toEqual([token, token, token]);
  expect(tuples.map((tuple) => tuple.callData)).toEqual(calls.map(({ data }) => data));
  expect(tuples.every((tuple) => tuple.allowFailure)).toBe(true);
});

test("returns answers in order, and none for failed calls", () => {
  const word: Hex = `0x${"7".padStart(64, "0")}`;
  const answer = answerOf([
    { success: true, returnData: word },
    { success: false, returnData: "0x08c379a0" },
    { success: true, returnData: "0x" },
  ]);
  expect(decodeAggregate3(answer, 3)).toEqual([word, undefined, "0x"]);
});

test("throws a fault for a token that fails or returns less than a word", () => {
  expect(() => uintAnswer(undefined, "balance")).toThrow(RpcFault);
  expect(() => uintAnswer("0x", "balance")).toThrow(RpcFault);
});

test("refuses every truncation of an answer", () => {
  const answer = answerOf([{ success: true, returnData: `0x${"ff".repeat(32)}` }]);
  for (let length = 2; length < answer.length; length += 2) {
    expect(() => decodeAggregate3(answer.slice(0, length) as Hex, 1)).toThrow(RpcFault);
  }
  expect(() => decodeAggregate3(answer, 2)).toThrow(RpcFault);
});
