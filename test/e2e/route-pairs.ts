import { parseUnits } from "viem";
import type { Chain, Currency } from "./client.ts";

export const tradeTypes = ["EXACT_INPUT", "EXPECTED_OUTPUT", "EXACT_OUTPUT"] as const;
export type TradeType = (typeof tradeTypes)[number];

/** What is paid and what is wanted, on one chain or on two. */
export interface Pair {
  /** As people say it, unlike any other pair's. */
  readonly name: string;
  readonly origin: Chain;
  readonly destination: Chain;
  readonly pay: Currency;
  readonly receive: Currency;
  /** What is asked for, in the unit of `pay` for an exact input and of `receive` otherwise. */
  asked(tradeType: TradeType): bigint;
}

/**
 * Native coin, its token, two that the solver holds, and one that leads to the others over one shallow pool:
 * about five dollars of each.
 */
const worth: Readonly<Record<string, string>> = {
  ETH: "0.002",
  USDC: "5",
  TST: "10",
  WETH: "0.002",
  ODD: "1.25",
};

/**
 * Every ordered pair of the currencies, from each chain to each: those of one chain with itself too, where a
 * currency is sent as it is.
 */
export function everyPair(chains: readonly Chain[]): Pair[] {
  const pairs: Pair[] = [];
  for (const origin of chains)
    for (const destination of chains)
      for (const pay of currenciesOf(origin))
        for (const receive of currenciesOf(destination)) {
          // No two ask for the same, and none for a round number: what is cut off by a division shows.
          const odd = BigInt(pairs.length * 7_919 + 1);
          pairs.push({
            name: `${pay.symbol} on ${origin.name} to ${receive.symbol} on ${destination.name}`,
            origin,
            destination,
            pay,
            receive,
            asked: (tradeType) => {
              const { symbol, decimals } = tradeType === "EXACT_INPUT" ? pay : receive;
              return parseUnits(worth[symbol] ?? "", decimals) + odd;
            },
          });
        }
  return pairs;
}

/** Those of the comparison, in one order on every chain. @throws Error when the chain does not list one */
export function currenciesOf(chain: Chain): Currency[] {
  return Object.keys(worth).map((symbol) => {
    const found = [chain.currency, ...chain.erc20Currencies].find((one) => one.symbol === symbol);
    if (found === undefined) throw new Error(`no ${symbol} on ${chain.name}`);
    return found;
  });
}
