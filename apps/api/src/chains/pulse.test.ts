import type { ChainReader, EffectsView, GasPrices, Head, HeadSource } from "@causeway/chains";
import type { Address, Chain, Currency } from "@causeway/domain";
import { NATIVE_CURRENCY } from "@causeway/domain";
import { afterEach, expect, test } from "vitest";
import { createChainPulse } from "./pulse.adapter.ts";

const token: Address = "0x2222222222222222222222222222222222222222";
const solver: Address = "0x5555555555555555555555555555555555555555";
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

interface Reading {
  answer(baseFeePerGas: bigint, balance: bigint): Promise<void>;
  fail(): Promise<void>;
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A pulse whose node the test answers manually. */
function aPulse(quietRefreshMs = 60_000, readEffectsView?: () => Promise<EffectsView>, afterHeadMs?: number) {
  let nowMs = 1_000_000;
  let putBackMs = 0;
  let latest: Head | undefined;
  const listeners = new Set<(head: Head) => void>();
  const readings: Reading[] = [];
  const requestedCurrencies: (readonly Address[])[] = [];
  const faults: unknown[] = [];
  let nextGas: { resolve(prices: GasPrices): void; reject(error: Error): void };

  const reader: Pick<ChainReader, "gasPrices" | "balances"> = {
    gasPrices: () => new Promise((resolve, reject) => (nextGas = { resolve, reject })),
    balances: (account, currencies) => {
      expect(account).toBe(solver);
      requestedCurrencies.push(currencies);
      const gas = nextGas;
      return new Promise((resolve) =>
        readings.push({
          answer: async (baseFeePerGas, balance) => {
            gas.resolve({ baseFeePerGas, maxPriorityFeePerGas: 1n, maxFeePerGas: 9n });
            resolve({
              blockNumber: 7n,
              balances: new Map(currencies.map((currency) => [currency, balance])),
            });
            await nextTurn();
          },
          fail: async () => {
            gas.reject(new Error("no answer"));
            await nextTurn();
          },
        }),
      );
    },
  };
  const heads: HeadSource = {
    get latest() {
      return latest;
    },
    onHead: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => undefined,
  };
  const chain = {
    id: 1,
    name: "base",
    displayName: "Base",
    blockTimeSeconds: 2,
    native: { address: NATIVE_CURRENCY } as Currency,
    tokens: [{ address: token } as Currency],
  } as unknown as Chain;
  const pulse = createChainPulse({
    chain,
    connection: { reader: reader as ChainReader, heads },
    clock: { nowMs: () => nowMs - putBackMs },
    monotonic: { nowMs: () => nowMs },
    solver,
    gasPayers: [],
    maxAgeMs: 30_000,
    quietRefreshMs,
    ...(readEffectsView && { readEffectsView }),
    ...(afterHeadMs !== undefined && { afterHeadMs }),
    onFault: (error) => faults.push(error),
  });
  closers.push(() => pulse.close());
  return {
    pulse,
    readings,
    requestedCurrencies: requestedCurrencies,
    faults,
    listeners,
    wait: (ms: number) => {
      nowMs += ms;
    },
    putBack: (ms: number) => {
      putBackMs += ms;
    },
    head: (number: bigint) => {
      latest = { number, hash: "0x1", parentHash: "0x0", timestamp: 0n, baseFeePerGas: 1n, seenAtMs: nowMs };
      for (const listener of listeners) listener(latest);
    },
  };
}

test("has no facts before the first read", () => {
  const { pulse } = aPulse();
  expect(pulse.head()).toBeUndefined();
  expect(() => pulse.gasPrices()).toThrow(expect.objectContaining({ code: "RPC_HTTP_ERROR" }));
  expect(() => pulse.solverBalance(token)).toThrow(expect.objectContaining({ code: "RPC_HTTP_ERROR" }));
});

test("each head causes one read of gas prices and all solver balances", async () => {
  const { pulse, readings, requestedCurrencies: askedFor, head } = aPulse();
  head(5n);
  await readings[0]!.answer(100n, 42n);
  expect(askedFor).toEqual([[NATIVE_CURRENCY, token]]);
  expect(pulse.gasPrices().baseFeePerGas).toBe(100n);
  expect(pulse.solverBalance(token)).toEqual({ amount: 42n, blockNumber: 7n });
  expect(pulse.head()?.number).toBe(5n);
  head(6n);
  await readings[1]!.answer(200n, 41n);
  expect(pulse.gasPrices().baseFeePerGas).toBe(200n);
});

test("expires facts even if the system clock was set back", async () => {
  const { pulse, readings, head, wait, putBack } = aPulse();
  head(5n);
  await readings[0]!.answer(100n, 42n);
  putBack(3_600_000);
  wait(30_001);
  expect(() => pulse.gasPrices()).toThrow(expect.objectContaining({ code: "RPC_HTTP_ERROR" }));
});

test("heads during a read cause one more read, not one each", async () => {
  const { readings, head } = aPulse();
  for (const number of [1n, 2n, 3n, 4n]) head(number);
  expect(readings).toHaveLength(1);
  await readings[0]!.answer(1n, 1n);
  expect(readings).toHaveLength(2);
  await readings[1]!.answer(1n, 1n);
  expect(readings).toHaveLength(2);
});

test("a failed read is reported, and earlier facts serve until they are too old", async () => {
  const { pulse, readings, faults, head, wait } = aPulse();
  head(1n);
  await readings[0]!.answer(100n, 1n);
  wait(30_000);
  head(2n);
  await readings[1]!.fail();
  expect(faults).toHaveLength(1);
  expect(pulse.gasPrices().baseFeePerGas).toBe(100n);
  wait(1);
  expect(() => pulse.gasPrices()).toThrow(expect.objectContaining({ code: "RPC_HTTP_ERROR" }));
});

test("probes tracing support once a minute and notices when it is lost", async () => {
  let view: EffectsView = "traced";
  let probeCount = 0;
  const { pulse, readings, head, wait } = aPulse(
    60_000,
    async () => await Promise.resolve(view).finally(() => probeCount++),
  );
  const read = async (number: bigint): Promise<EffectsView | undefined> => {
    head(number);
    await readings.at(-1)?.answer(1n, 1n);
    return pulse.effectsView?.();
  };
  expect(await read(1n)).toBe("traced");
  view = "unseen";
  wait(59_999);
  expect(await read(2n)).toBe("traced");
  expect(probeCount).toBe(1);
  wait(1);
  expect(await read(3n)).toBe("unseen");
  expect(probeCount).toBe(2);
});

test("reads gas prices and balances while a probe of tracing support hangs", async () => {
  const probes: { readonly answer: (view: EffectsView) => void; readonly fail: (error: Error) => void }[] =
    [];
  const { pulse, readings, head, wait, faults } = aPulse(
    60_000,
    async () => await new Promise((answer, fail) => void probes.push({ answer, fail })),
  );
  head(1n);
  await readings[0]!.answer(1n, 1n);
  probes[0]!.answer("traced");
  await nextTurn();
  for (let number = 2n; number <= 6n; number++) {
    wait(60_000);
    head(number);
    await readings.at(-1)!.answer(number, 1n);
  }
  expect([readings.length, probes.length]).toEqual([6, 2]);
  expect(pulse.gasPrices().baseFeePerGas).toBe(6n);
  probes[1]!.fail(new Error("no answer"));
  await nextTurn();
  expect([faults.length, pulse.effectsView?.()]).toEqual([1, "traced"]);
  head(7n);
  await readings.at(-1)!.answer(7n, 1n);
  expect(probes, "a minute passes before the next probe").toHaveLength(2);
});

test("reads a chain without new blocks on a timer", async () => {
  const { readings, wait } = aPulse(10);
  wait(10);
  await expect.poll(() => readings.length).toBe(1);
});

test("a chain lags after ten block times and half a minute without a block", () => {
  const { pulse, head, wait } = aPulse();
  head(1n);
  wait(30_000);
  expect(pulse.isLagging()).toBe(false);
  wait(1);
  expect(pulse.isLagging()).toBe(true);
  head(2n);
  expect(pulse.isLagging()).toBe(false);
});

test("a closed pulse ignores heads and stops reading", async () => {
  const { pulse, readings, listeners, head } = aPulse();
  head(1n);
  head(2n);
  pulse.close();
  expect(listeners.size).toBe(0);
  await readings[0]!.answer(1n, 1n);
  expect(readings).toHaveLength(1);
});

test("reads once, after the pause, for heads that follow each other", async () => {
  const { head, readings, pulse } = aPulse(60_000, undefined, 30);
  head(1n);
  head(2n);
  expect(readings).toHaveLength(0);
  await expect.poll(() => readings.length, { timeout: 1_000, interval: 5 }).toBe(1);
  await readings[0]?.answer(5n, 6n);
  expect(pulse.gasPrices().baseFeePerGas).toBe(5n);
  head(3n);
  pulse.close();
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(readings).toHaveLength(1);
});
