import { parseExactAmount, type Address, type Hex } from "@causeway/domain";
import { formatDecimal } from "./decimal.ts";
import type { HyperliquidState } from "./hyperliquid-state.ts";
import type { ExplorerTransaction } from "./history.ts";

/** The endpoint that received a request. */
export type HyperliquidPath = "exchange" | "info" | "explorer";

/** Replaces an honest response. */
export type Lie = (
  path: HyperliquidPath,
  question: Readonly<Record<string, unknown>>,
  honest: unknown,
) => unknown;

/** Controls for tests; none of them is available over HTTP. */
export interface HyperliquidControl {
  /**
   * Credits an account with new tokens.
   *
   * @param dex name of a dex, `spot`, or empty for the first perp dex
   * @param amount decimal text of whole tokens, e.g. `"12.5"`
   */
  fund(account: Address, amount: string, token?: string, dex?: string): void;
  /** Decimal text in Hyperliquid's format. */
  balance(account: Address, token?: string, dex?: string): string;
  addSubAccount(master: Address, account: Address): void;
  /** Time of the simulated clock, ms. */
  now(): number;
  /** Advances the clock. */
  advance(ms: number): void;
  /** Makes the next transfer fail in its block for this reason; its nonce stays unused. */
  failNext(reason: string): void;
  /**
   * Adds this many transfers of $1e-8 between two accounts to the ledger at the same block time, without
   * changing balances.
   */
  addSimultaneousTransfers(from: Address, to: Address, transfers: number): void;
  /** Makes explorer and ledger omit this many of the newest transactions; 0: none. */
  hideNewest(transactions: number): void;
  /** Omits that transaction from every response. */
  hide(hash: Hex): void;
  /** Passes every response through `lie`; undefined: honest again. */
  lie(lie: Lie | undefined): void;
  /** Answers every request with this HTTP status and without JSON; undefined: normal again. */
  respondWithStatus(status: number | undefined): void;
  /** Applies actions, but drops their responses. */
  dropResponses(lose: boolean): void;
  /** All transactions, oldest first, including failed ones. */
  transactions(): readonly ExplorerTransaction[];
}

/** Faults that the server checks before it responds. */
export interface FaultInjection {
  lie: Lie | undefined;
  failureStatus: number | undefined;
  dropsResponses: boolean;
}

export function createControl(state: HyperliquidState, faultInjection: FaultInjection): HyperliquidControl {
  return {
    fund: (account, amount, name = "USDC", dex = "") => {
      const token = state.tokenNamed(name);
      const units = parseExactAmount(amount, token.weiDecimals);
      if (units === undefined) throw new RangeError(`${amount} is not a valid amount of ${name}`);
      state.balances.add(account.toLowerCase() as Address, { dex, tokenId: token.tokenId }, units);
    },
    balance: (account, name = "USDC", dex = "") => {
      const token = state.tokenNamed(name);
      const units = state.balances.of(account.toLowerCase() as Address, { dex, tokenId: token.tokenId });
      return formatDecimal(units, token.weiDecimals);
    },
    addSubAccount: (master, account) =>
      state.addSubAccount(master.toLowerCase() as Address, account.toLowerCase() as Address),
    now: () => state.now(),
    advance: (ms) => state.advance(ms),
    failNext: (reason) => state.failNext(reason),
    addSimultaneousTransfers: (from, to, transfers) => state.addSimultaneousTransfers(from, to, transfers),
    hideNewest: (transactions) => state.history.hideNewest(transactions),
    hide: (hash) => state.history.hide(hash),
    lie: (lie) => {
      faultInjection.lie = lie;
    },
    respondWithStatus: (status) => {
      faultInjection.failureStatus = status;
    },
    dropResponses: (lose) => {
      faultInjection.dropsResponses = lose;
    },
    transactions: () => state.history.transactions,
  };
}
