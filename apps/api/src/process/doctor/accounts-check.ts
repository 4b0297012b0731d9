import { formatAmount, type Address } from "@causeway/domain";
import { findingsOf, type Finding } from "./finding.ts";

/** Balances of the service's accounts on one EVM chain. */
export interface AccountsFacts {
  readonly gasPriceWei: bigint;
  readonly accounts: readonly {
    readonly role: "solver" | "executor" | "deposit address operator" | "former solver";
    readonly address: Address;
    readonly nativeWei: bigint;
  }[];
  /** Tokens that the solver pays with. */
  readonly tokens: readonly {
    readonly symbol: string;
    readonly address: Address;
    readonly decimals: number;
    readonly balance: bigint;
    /** The solver's allowance for the approval proxy. */
    readonly allowance: bigint;
  }[];
}

export interface AccountsChain {
  /** Name of the chain. */
  readonly chain: string;
  readonly nativeSymbol: string;
  readonly approvalProxy: Address;
}

/** Gas of a typical payment. */
const PAYMENT_GAS = 200_000n;
/** An account with gas for fewer payments gets a warning. */
const MIN_PAYMENTS = 20n;

const FAILS_WITHOUT_GAS = {
  solver: "no fill or refund is paid on this chain",
  executor: "POST /execute fails on this chain",
  "deposit address operator": "funds at deposit addresses stay there",
  "former solver": "payments that this key began cannot be replaced",
} as const;

export function judgeAccounts(
  { chain, nativeSymbol, approvalProxy }: AccountsChain,
  { gasPriceWei, accounts, tokens }: AccountsFacts,
): readonly Finding[] {
  const lowWei = gasPriceWei * PAYMENT_GAS * MIN_PAYMENTS;
  return [
    ...accounts.map(({ role, address, nativeWei }) => {
      const balance = findingsOf("account.balance", `${role} on ${chain}`);
      const why = FAILS_WITHOUT_GAS[role];
      const remedy = `send ${nativeSymbol} to ${address} on ${chain} (docs/operations/money.md)`;
      if (nativeWei === 0n && role !== "former solver")
        return balance.problem({ found: `${address} has no ${nativeSymbol}`, why, remedy });
      const text = `${formatAmount(nativeWei, 18)} ${nativeSymbol}`;
      return nativeWei < lowWei
        ? balance.warning({
            found: `${address} has ${text}, enough for less than ${MIN_PAYMENTS} payments at the current gas price`,
            why: `when it is used up, ${why}`,
            remedy,
          })
        : balance.ok(text);
    }),
    ...tokens.map(({ symbol, decimals, balance }) => {
      const inventory = findingsOf("account.inventory", `${symbol} on ${chain}`);
      return balance === 0n
        ? inventory.warning({
            found: `the solver has no ${symbol}`,
            why: "quotes that pay it out on this chain are refused: insufficient liquidity",
            remedy: `send ${symbol} to the solver on ${chain} (docs/operations/money.md), or set supportsBridging to false`,
          })
        : inventory.ok(`${formatAmount(balance, decimals)} ${symbol}`);
    }),
    ...tokens
      .filter(({ allowance, balance }) => allowance < balance || allowance === 0n)
      .map(({ symbol, address, allowance, decimals }) =>
        findingsOf("account.allowance", `${symbol} on ${chain}`).warning({
          found: `the solver allows the approval proxy to spend only ${formatAmount(allowance, decimals)} ${symbol}`,
          why: "fills with calls or swaps that pay this token through the router wait",
          remedy: `stop the worker, then send approve(${approvalProxy}, 2^256 - 1) to ${address} from the solver's account (docs/operations/money.md)`,
        }),
      ),
  ];
}
