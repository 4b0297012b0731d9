import type { Address, Hex } from "@causeway/domain";
import { expect, test } from "vitest";
import { RpcFault } from "@causeway/families";
import { readRequestState, requestStateProgram } from "./request-state.ts";

const depository: Address = `0x${"de".repeat(20)}`;
const id: Hex = `0x${"1d".repeat(32)}`;
const answer = (...words: readonly bigint[]): Hex =>
  `0x${words.map((word) => word.toString(16).padStart(64, "0")).join("")}`;

test("the program queries only this depository, and only about this request", () => {
  const program = requestStateProgram(depository, id);
  expect(program).toContain(`d52bfcc8${"1d".repeat(28)}`);
  expect(program).toContain(depository.slice(2));
  expect(requestStateProgram(depository, `0x${"2e".repeat(32)}`)).not.toBe(program);
});

test("accepts a complete true or false from the depository, with its block", () => {
  expect(readRequestState(answer(15n, 1_700_000_000n, 1n, 1n, 32n))).toEqual({
    isUsed: true,
    blockNumber: 15n,
    timestamp: 1_700_000_000n,
  });
  expect(readRequestState(answer(15n, 1_700_000_000n, 1n, 0n, 32n)).isUsed).toBe(false);
});

test("no other result means that a request was not used", () => {
  const silent: Record<string, Hex> = {
    "the call failed": answer(15n, 1n, 0n, 0n, 32n),
    "there is no contract": answer(15n, 1n, 1n, 0n, 0n),
    "it answered two words": answer(15n, 1n, 1n, 0n, 64n),
    "it answered a number": answer(15n, 1n, 1n, 2n, 32n),
    "a word is missing": answer(15n, 1n, 1n, 0n),
    "a word too many": answer(15n, 1n, 1n, 0n, 32n, 0n),
    nothing: "0x",
  };
  for (const [reason, hex] of Object.entries(silent))
    expect(() => readRequestState(hex), reason).toThrow(RpcFault);
});
