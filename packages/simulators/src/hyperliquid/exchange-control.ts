import { parseExactAmount, type Address, type Hex } from "@causeway/domain";
import { written } from "./decimal.ts";
import type { ExchangeState } from "./exchange-state.ts";
import type { ExplorerTransaction } from "./history.ts";

/** Which of the exchange's three doors a question came through. */
export type ExchangePath = "exchange" | "info" | "explorer";

/** Puts another answer in the place of the honest one. */
export type Lie = (
  path: ExchangePath,
  question: Readonly<Record<string, unknown>>,
  honest: unknown,
) => unknown;

/** What a test can do to the exchange; none of it is on the wire. */
export interface ExchangeControl {
  /**
   * Creates money.
   *
   * @param dex empty: the first dex; `spot`; or another one's name.
   * @param amount decimal text of whole tokens, e.g. `"12.5"`
   */
  fund(account: Address, amount: string, token?: string, dex?: string): void;
  /** Decimal text, as the exchange itself writes it. */
  balance(account: Address, token?: string, dex?: string): string;
  addSubAccount(master: Address, account: Address): void;
  /** Ms on the exchange's clock. */
  now(): number;
  /** Moves the clock on. */
  advance(ms: number): void;
  /** The next transfer fails for this reason on the exchange itself; its nonce stays unused. */
  failNext(reason: string): void;
  /**
   * Puts so many transfers of 1e-8 dollars between two accounts into the ledger at this one moment; no
   * balance changes.
   */
  crowd(from: Address, to: Address, transfers: number): void;
  /** Explorer and ledger hide this many of the newest transactions; 0: none. */
  holdBack(transactions: number): void;
  /** No answer ever contains that transaction. */
  hide(hash: Hex): void;
  /** Every answer goes through `lie`; undefined: honest again. */
  lie(lie: Lie | undefined): void;
  /** Every question is answered with this HTTP status and no JSON; undefined: up again. */
  down(status: number | undefined): void;
  /** Actions are applied, and their answers are lost. */
  loseAnswers(lose: boolean): void;
  /** All transactions, oldest first, the failed ones too. */
  transactions(): readonly ExplorerTransaction[];
}

/** What the server looks at before it answers. */
export interface FaultInjection {
  lie: Lie | undefined;
  down: number | undefined;
  losesAnswers: boolean;
}

export function createControl(state: ExchangeState, faultInjection: FaultInjection): ExchangeControl {
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
      return written(units, token.weiDecimals);
    },
    addSubAccount: (master, account) =>
      state.addSubAccount(master.toLowerCase() as Address, account.toLowerCase() as Address),
    now: () => state.now(),
    advance: (ms) => state.advance(ms),
    failNext: (reason) => state.failNext(reason),
    crowd: (from, to, transfers) => state.crowd(from, to, transfers),
    holdBack: (transactions) => state.history.holdBack(transactions),
    hide: (hash) => state.history.hide(hash),
    lie: (lie) => {
      faultInjection.lie = lie;
    },
    down: (status) => {
      faultInjection.down = status;
    },
    loseAnswers: (lose) => {
      faultInjection.losesAnswers = lose;
    },
    transactions: () => state.history.transactions,
  };
}
