import { ServiceError } from "@causeway/domain";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import type { ChainDirectory } from "../chains/chains.port.ts";
import type { OpenPayments } from "../payments/open-payments.port.ts";
import { solverGauges } from "./solver-gauges.ts";

const native = { id: "eth", address: "0x00", decimals: 18, supportsBridging: false };
const usdc = { id: "usdc", address: "0x01", decimals: 6, supportsBridging: true };
const foreign = { id: "odd", address: "0x02", decimals: 6, supportsBridging: false };
const bitcoin = { id: "btc", address: "0x03", decimals: 8, supportsBridging: true };

function world() {
  let isFresh = true;
  const whileFresh = <T>(answer: T): T => {
    if (isFresh) return answer;
    throw new ServiceError("RPC_HTTP_ERROR", "No fresh state of the chain is available; try again");
  };
  const chains = {
    evmChains: [
      {
        chain: { id: 1, name: "base", native, tokens: [usdc, foreign] },
        pulse: {
          solverBalance: () => ({ amount: 2_500_000n, blockNumber: 1n }),
          gasBalance: () => whileFresh({ amount: 25n * 10n ** 16n, blockNumber: 1n }),
        },
      },
    ],
    nonEvmChains: [
      {
        chain: { id: 2, name: "bitcoin", native: bitcoin, tokens: [] },
        pulse: { solverBalance: () => ({ amount: whileFresh(150_000_000n) }) },
      },
    ],
  } as unknown as ChainDirectory;
  return { chains, loseTrack: () => (isFresh = false) };
}

test("publishes the solver's balances on every chain, and none for a chain without fresh facts", async () => {
  const registry = new Registry();
  const { chains, loseTrack } = world();
  solverGauges(registry, chains, async () => await Promise.resolve([]), { nowMs: () => 0 }, []);
  const shown = await registry.metrics();
  expect(shown).toContain('causeway_solver_balance{chain="base",currency="usdc"} 2.5');
  expect(shown).toContain('causeway_solver_balance{chain="base",currency="eth"}');
  expect(shown).not.toContain("odd");
  expect(shown).toContain('causeway_solver_balance{chain="bitcoin",currency="btc"} 1.5');
  loseTrack();
  const later = await registry.metrics();
  expect(later).toContain('chain="base",currency="usdc"} 2.5');
  expect(later).not.toContain('causeway_solver_balance{chain="bitcoin"');
});

test("publishes the gas balance of each account that only pays for gas, and none when it is unknown", async () => {
  const registry = new Registry();
  const { chains, loseTrack } = world();
  const noPayments = async (): Promise<readonly OpenPayments[]> => await Promise.resolve([]);
  solverGauges(registry, chains, noPayments, { nowMs: () => 0 }, [
    { name: "executor", address: "0x0e" },
    { name: "depositAddressOperator", address: "0x0f" },
  ]);
  const shown = await registry.metrics();
  expect(shown).toContain('causeway_gas_balance{chain="base",account="executor"} 0.25');
  expect(shown).toContain('causeway_gas_balance{chain="base",account="depositAddressOperator"} 0.25');
  loseTrack();
  expect(await registry.metrics()).not.toContain("causeway_gas_balance{");
});

test("publishes payments that are not mined, by chain, with the age of the oldest; zero for none, and the last value when unknown", async () => {
  const registry = new Registry();
  let answer = async (): Promise<readonly OpenPayments[]> =>
    await Promise.resolve([
      { chainId: 2, count: 3, oldestMs: 40_000 },
      { chainId: 2, count: 1, oldestMs: 90_000 },
    ]);
  solverGauges(registry, world().chains, () => answer(), { nowMs: () => 100_000 }, []);
  const shown = await registry.metrics();
  expect(shown).toContain('causeway_payments_open{chain="bitcoin"} 3');
  expect(shown).toContain('causeway_payments_oldest_seconds{chain="bitcoin"} 60');
  expect(shown).toContain('causeway_payments_oldest_seconds{chain="base"} 0');
  answer = async () => await Promise.reject(new Error("the database is unreachable"));
  expect(await registry.metrics()).toContain('causeway_payments_open{chain="bitcoin"} 3');
});
