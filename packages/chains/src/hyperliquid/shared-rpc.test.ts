import type { Address, Hex32 } from "@causeway/domain";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RateLimitShareExceeded } from "../nodes/rate-limit-share-exceeded.ts";
import type { HyperliquidTransaction } from "@causeway/families/hyperliquid";
import type { HyperliquidRpc } from "./rpc.ts";
import { rpcsFor, withRecentAnswers } from "./shared-rpc.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const hash: Hex32 = `0x${"12".repeat(32)}`;
const user: Address = "0x00000000000000000000000000000000000000a1";
const solver: Address = "0x00000000000000000000000000000000000000a2";

/** An endpoint that counts its requests; `transaction` and `fault` are its next answers. */
function createEndpoint() {
  const state = {
    requests: 0,
    transaction: undefined as HyperliquidTransaction | undefined,
    fault: undefined as Error | undefined,
  };
  const answer = async <T>(value: T): Promise<T> => {
    state.requests += 1;
    if (state.fault !== undefined) throw state.fault;
    return await Promise.resolve(value);
  };
  const answers: Partial<HyperliquidRpc> = {
    transaction: async () => await answer(state.transaction),
    transferCheck: async () => await answer({ fee: "0", isSanctioned: false }),
    clock: async () => await answer(1n),
  };
  return { rpc: answers as HyperliquidRpc, state };
}

const transaction: HyperliquidTransaction = {
  hash,
  time: 1n,
  block: 1n,
  user,
  error: undefined,
  action: undefined,
  isOpaque: false,
};

test("requests an absent transaction again after five seconds, not before", async () => {
  const { rpc, state } = createEndpoint();
  const cachingRpc = withRecentAnswers(rpc);
  expect(await cachingRpc.transaction(hash)).toBeUndefined();
  state.transaction = transaction;
  vi.advanceTimersByTime(4_999);
  expect([await cachingRpc.transaction(hash), state.requests]).toEqual([undefined, 1]);
  vi.advanceTimersByTime(2);
  expect([await cachingRpc.transaction(hash), state.requests]).toEqual([transaction, 2]);
});

test("caches the cost of paying an account for five seconds, also for concurrent requests", async () => {
  const { rpc, state } = createEndpoint();
  const cachingRpc = withRecentAnswers(rpc);
  const checks = [cachingRpc.transferCheck(user, solver), cachingRpc.transferCheck(user, solver)];
  expect(await Promise.all(checks)).toEqual([
    { fee: "0", isSanctioned: false },
    { fee: "0", isSanctioned: false },
  ]);
  expect(state.requests).toBe(1);
  await cachingRpc.transferCheck(solver, user);
  expect(state.requests).toBe(2);
  vi.advanceTimersByTime(5_001);
  await cachingRpc.transferCheck(user, solver);
  expect(state.requests).toBe(3);
});

test("does not cache a fault", async () => {
  const { rpc, state } = createEndpoint();
  const cachingRpc = withRecentAnswers(rpc);
  state.fault = new Error("the endpoint failed");
  await expect(cachingRpc.transferCheck(user, solver)).rejects.toThrow("the endpoint failed");
  await expect(cachingRpc.transaction(hash)).rejects.toThrow("the endpoint failed");
  state.fault = undefined;
  state.transaction = transaction;
  expect(await cachingRpc.transferCheck(user, solver)).toEqual({ fee: "0", isSanctioned: false });
  expect(await cachingRpc.transaction(hash)).toBe(transaction);
});

test("refuses clients beyond their share of the limit while deposits and payments are still read", async () => {
  const { rpc, state } = createEndpoint();
  state.transaction = transaction;
  const api = rpcsFor(rpc, 1_200, true);
  const hashOf = (number: number): Hex32 => `0x${number.toString(16).padStart(64, "0")}`;
  // A burst of 48 pays for one read of a transaction.
  expect(await api.onDemand.transaction(hashOf(1))).toBe(transaction);
  await expect(api.onDemand.transaction(hashOf(2))).rejects.toBeInstanceOf(RateLimitShareExceeded);
  expect(state.requests).toBe(1);
  const worker = rpcsFor(rpc, 1_200, false);
  await Promise.all([worker.deposits.transaction(hashOf(3)), worker.payments.transaction(hashOf(4))]);
  expect(state.requests).toBe(3);
});

test("does not cache in the worker that a transaction is absent", async () => {
  const { rpc, state } = createEndpoint();
  for (const limit of [undefined, 1_000_000]) {
    state.transaction = undefined;
    const { onDemand: questions, payments } = rpcsFor(rpc, limit, false);
    for (const workerRpc of [questions, payments]) {
      expect(await workerRpc.transaction(hash)).toBeUndefined();
      state.transaction = transaction;
      expect(await workerRpc.transaction(hash)).toBe(transaction);
      state.transaction = undefined;
    }
  }
});
