import type { Hex } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import { afterEach, expect, test, vi } from "vitest";
import { aNonEvmChain } from "../../../../test/fakes/non-evm-chains.ts";
import { createNonEvmPulse } from "./non-evm-pulse.adapter.ts";
import type { OwnedNonEvmPulse } from "./non-evm-pulse.adapter.ts";

const chain = aNonEvmChain("svm");
const [usdc] = chain.tokens;
const open: OwnedNonEvmPulse[] = [];
afterEach(() => {
  for (const pulse of open.splice(0)) pulse.close();
  vi.useRealTimers();
});

/** A chain with scripted answers that counts reads. */
function aWorld(tested = chain) {
  vi.useFakeTimers({ now: 1_000_000 });
  const facts = { balance: 7n, cost: 3n, down: false, reads: 0, head: undefined as bigint | undefined };
  const faults: unknown[] = [];
  let news: () => void = () => undefined;
  const respond = <T>(value: T): Promise<T> =>
    facts.down ? Promise.reject(new Error("connection refused")) : Promise.resolve(value);
  const pulse = createNonEvmPulse({
    chain: tested,
    connection: {
      head: async () => await respond({ position: facts.head ?? BigInt(Date.now()) }),
      balances: async (currencies) => {
        facts.reads++;
        return await respond(new Map(currencies.map((currency): [Hex, bigint] => [currency, facts.balance])));
      },
      paymentCost: async () => await respond(facts.cost),
      onNews: (listener) => {
        news = listener;
        return () => {
          news = () => undefined;
        };
      },
    },
    monotonic: { nowMs: () => Date.now() },
    maxAgeMs: 60_000,
    refreshMs: 10_000,
    minPauseMs: 2_000,
    onFault: (error) => faults.push(error),
  });
  open.push(pulse);
  return { facts, faults, pulse, announceNews: () => news() };
}

const codeOf = (act: () => unknown): string | undefined => {
  try {
    act();
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
  return undefined;
};

test("returns the last read values of every configured currency", async () => {
  const { pulse } = aWorld();
  await pulse.refresh();
  expect(pulse.solverBalance(chain.native.address).amount).toBe(7n);
  expect(pulse.solverBalance(usdc!.address).amount).toBe(7n);
  expect(pulse.paymentCost(usdc!.address)).toBe(3n);
  expect(() => pulse.solverBalance(`0x${"99".repeat(32)}`)).toThrow(RangeError);
});

test("has no facts before the first read or once the last one is too old", async () => {
  const { pulse, facts } = aWorld();
  expect(codeOf(() => pulse.solverBalance(chain.native.address))).toBe("RPC_HTTP_ERROR");
  await pulse.refresh();
  facts.down = true;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(codeOf(() => pulse.paymentCost(chain.native.address))).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(codeOf(() => pulse.paymentCost(chain.native.address))).toBe("RPC_HTTP_ERROR");
});

test("reads on a timer and retries after a failure, which keeps the known values", async () => {
  const { pulse, facts, faults } = aWorld();
  await pulse.refresh();
  facts.balance = 8n;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(pulse.solverBalance(chain.native.address).amount).toBe(8n);
  facts.down = true;
  facts.balance = 9n;
  await vi.advanceTimersByTimeAsync(12_000);
  expect(faults.length).toBeGreaterThan(0);
  expect(pulse.solverBalance(chain.native.address).amount).toBe(8n);
  facts.down = false;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(pulse.solverBalance(chain.native.address).amount).toBe(9n);
});

test("changes cause prompt reads, limited to the configured rate", async () => {
  const { pulse, facts, announceNews } = aWorld();
  await pulse.refresh();
  await vi.advanceTimersByTimeAsync(2_000);
  const before = facts.reads;
  for (let n = 0; n < 50; n++) announceNews();
  await vi.advanceTimersByTimeAsync(0);
  expect(facts.reads).toBe(before + 1);
  announceNews();
  await vi.advanceTimersByTimeAsync(0);
  expect(facts.reads).toBe(before + 1);
});

test("a silent chain lags", async () => {
  const { pulse, facts } = aWorld();
  await pulse.refresh();
  facts.down = true;
  expect(pulse.isLagging()).toBe(false);
  await vi.advanceTimersByTimeAsync(60_001);
  expect(pulse.isLagging()).toBe(true);
  facts.down = false;
  await pulse.refresh();
  expect(pulse.isLagging()).toBe(false);
});

test.each([
  ["a fast chain", 0.4, 60_000],
  ["a slow chain", 600, 6_000_000],
])("a node that answers but stands still makes %s lag", async (_, blockTimeSeconds, lateMs) => {
  const { pulse, facts } = aWorld({ ...chain, blockTimeSeconds });
  facts.head = 5n;
  await pulse.refresh();
  await vi.advanceTimersByTimeAsync(lateMs);
  expect(pulse.isLagging()).toBe(false);
  expect(pulse.headAgeMs()).toBeLessThanOrEqual(12_000);
  await vi.advanceTimersByTimeAsync(1);
  expect(pulse.isLagging()).toBe(true);
  expect(pulse.headAgeMs()).toBe(lateMs + 1);
  facts.head = 6n;
  await pulse.refresh();
  expect(pulse.isLagging()).toBe(false);
});

test("stops reading once closed", async () => {
  const { pulse, facts, announceNews } = aWorld();
  await pulse.refresh();
  pulse.close();
  const before = facts.reads;
  announceNews();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(facts.reads).toBe(before);
});
