import type { Address, Currency } from "@causeway/domain";
import { formatFixed } from "@causeway/domain";
import { Gauge } from "prom-client";
import type { Registry } from "prom-client";
import type { ChainDirectory } from "../chains/chains.port.ts";
import type { Clock } from "../db/clock.port.ts";
import type { OpenPayments } from "../payments/open-payments.port.ts";
import { chainGauge } from "./chain-gauge.ts";

/** An account that sends transactions and holds only native tokens for their gas. */
export interface GasPayer {
  readonly name: "executor" | "depositAddressOperator";
  readonly address: Address;
}

/**
 * Balances of the solver and of the gas accounts on every chain of any family, and the age of payments that
 * are not mined. A chain without fresh facts has no balance, so an alert on a missing balance points to the
 * chain's node.
 */
export function solverGauges(
  registry: Registry,
  chains: Pick<ChainDirectory, "evmChains" | "nonEvmChains">,
  openPayments: () => Promise<readonly OpenPayments[]>,
  clock: Clock,
  gasPayers: readonly GasPayer[],
): void {
  void new Gauge({
    name: "causeway_solver_balance",
    help: "Balances of the solver, in whole units",
    labelNames: ["chain", "currency"],
    registers: [registry],
    collect(): void {
      this.reset();
      for (const { chain, pulse } of [...chains.evmChains, ...chains.nonEvmChains])
        for (const currency of balanceCurrencies(chain)) {
          const balance = ifFresh(() => pulse.solverBalance(currency.address).amount);
          if (balance !== undefined) this.set(labelsOf(chain, currency), wholeUnits(balance, currency));
        }
    },
  });
  void new Gauge({
    name: "causeway_gas_balance",
    help: "Native token balance of the service's gas-only accounts, in whole units",
    labelNames: ["chain", "account"],
    registers: [registry],
    collect(): void {
      this.reset();
      for (const { chain, pulse } of chains.evmChains)
        for (const { name, address } of gasPayers) {
          const balance = ifFresh(() => pulse.gasBalance(address).amount);
          if (balance !== undefined)
            this.set({ chain: chain.name, account: name }, wholeUnits(balance, chain.native));
        }
    },
  });
  const addGauge = (name: string, help: string, value: (open: OpenPayments) => number): void =>
    chainGauge(registry, { name, help }, async () => {
      const open = await openPayments();
      // Publish every chain, even without open payments: an alert cannot fire on a missing series.
      return [...chains.evmChains, ...chains.nonEvmChains].map(({ chain }) => {
        const values = open.filter(({ chainId }) => chainId === chain.id).map(value);
        return [chain.name, Math.max(0, ...values)] as const;
      });
    });
  addGauge(
    "causeway_payments_open",
    "Payments that are not mined yet, in the chain's lane that has the most of them",
    ({ count }) => count,
  );
  addGauge(
    "causeway_payments_oldest_seconds",
    "Age of the chain's oldest payment that is not mined yet",
    ({ oldestMs }) => (clock.nowMs() - oldestMs) / 1000,
  );
}

interface Currencies {
  readonly name: string;
  readonly native: Currency;
  readonly tokens: readonly Currency[];
}

/** The native token pays for gas even where it is not bridged. */
function balanceCurrencies({ native, tokens }: Currencies): readonly Currency[] {
  return [native, ...tokens.filter(({ supportsBridging }) => supportsBridging)];
}

/** Labels currencies by id, because symbols are not unique on a chain. */
function labelsOf({ name }: Currencies, { id }: Currency) {
  return { chain: name, currency: id };
}

function wholeUnits(amount: bigint, { decimals }: Currency): number {
  return Number(formatFixed(amount, decimals, Math.min(decimals, 9)));
}

function ifFresh(read: () => bigint): bigint | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
