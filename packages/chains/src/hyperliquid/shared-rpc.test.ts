import type { Address, Hex32 } from "@causeway/domain";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RateLimitShareExceeded } from "../nodes/rate-limit-share-exceeded.ts";
import type { ExchangeTransaction } from "@causeway/families/hyperliquid";
import type { ExchangeRpc } from "./rpc.ts";
import { rpcsFor, withRecentAnswers } from "./shared-rpc.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const hash: Hex32 = `0x${"12".repeat(32)}`;
const user: Address = "0x00000000000000000000000000000000000000a1";
const solver: Address = "0x00000000000000000000000000000000000000a2";

/** An endpoint that counts its requests; `found` and `fault` are its next answers. */
function endpoint() {
  const state = {
    asked: 0,
    found: undefined as ExchangeTransaction | undefined,
    fault: undefined as Error | undefined,
  };
  const answer = async <T>(value: T): Promise<T> => {
    state.asked += 1;
    if (state.fault !== undefined) throw state.fault;
    return await Promise.resolve(value);
  };
  const answers: Partial<ExchangeRpc> = {
    transaction: async () => await answer(state.found),
    transferCheck: async () => await answer({ fee: "0", isSanctioned: false }),
    clock: async () => await answer(1n),
  };
  return { rpc: answers as ExchangeRpc, state };
}

const transaction: ExchangeTransaction = {
  hash,
  time: 1n,
  block: 1n,
  user,
  error: undefined,
  action: undefined,
  isOpaque: false,
};

test("requests an absent transaction again after five seconds, not before", async () => {
  const { rpc, state } = endpoint();
  const recent = withRecentAnswers(rpc);
  expect(await recent.transaction(hash)).toBeUndefined();
  state.found = transaction;
  vi.advanceTimersByTime(4_999);
  expect([await recent.transaction(hash), state.asked]).toEqual([undefined, 1]);
  vi.advanceTimersByTime(2);
  expect([await recent.transaction(hash), state.asked]).toEqual([transaction, 2]);
});

test("caches the cost of paying an account for five seconds, also for concurrent requests", async () => {
  const { rpc, state } = endpoint();
  const recent = withRecentAnswers(rpc);
  const both = [recent.transferCheck(user, solver), recent.transferCheck(user, solver)];
  expect(await Promise.all(both)).toEqual([
    { fee: "0", isSanctioned: false },
    { fee: "0", isSanctioned: false },
  ]);
  expect(state.asked).toBe(1);
  await recent.transferCheck(solver, user);
  expect(state.asked).toBe(2);
  vi.advanceTimersByTime(5_001);
  await recent.transferCheck(user, solver);
  expect(state.asked).toBe(3);
});

test("does not cache a fault", async () => {
  const { rpc, state } = endpoint();
  const recent = withRecentAnswers(rpc);
  state.fault = new Error("the endpoint failed");
  await expect(recent.transferCheck(user, solver)).rejects.toThrow("the endpoint failed");
  await expect(recent.transaction(hash)).rejects.toThrow("the endpoint failed");
  state.fault = undefined;
  state.found = transaction;
  expect(await recent.transferCheck(user, solver)).toEqual({ fee: "0", isSanctioned: false });
  expect(await recent.transaction(hash)).toBe(transaction);
});

test("refuses clients beyond their share of the limit while deposits and payments are still read", async () => {
  const { rpc, state } = endpoint();
  state.found = transaction;
  const api = rpcsFor(rpc, 1_200, true);
  const other = (number: number): Hex32 => `0x${number.toString(16).padStart(64, "0")}`;
  // A burst of 48 pays for one read of a transaction.
  expect(await api.questions.transaction(other(1))).toBe(transaction);
  await expect(api.questions.transaction(other(2))).rejects.toBeInstanceOf(RateLimitShareExceeded);
  expect(state.asked).toBe(1);
  const worker = rpcsFor(rpc, 1_200, false);
  await Promise.all([worker.deposits.transaction(other(3)), worker.payments.transaction(other(4))]);
  expect(state.asked).toBe(3);
});

test("does not cache in the worker that a transaction is absent", async () => {
  const { rpc, state } = endpoint();
  for (const limit of [undefined, 1_000_000]) {
    state.found = undefined;
    const { questions, payments } = rpcsFor(rpc, limit, false);
    for (const one of [questions, payments]) {
      expect(await one.transaction(hash)).toBeUndefined();
      state.found = transaction;
      expect(await one.transaction(hash)).toBe(transaction);
      state.found = undefined;
    }
  }
});
