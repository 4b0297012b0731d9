import { parseUnits } from "viem";
import type { Chain, Currency } from "./client.ts";

export const tradeTypes = ["EXACT_INPUT", "EXPECTED_OUTPUT", "EXACT_OUTPUT"] as const;
export type TradeType = (typeof tradeTypes)[number];

/** The currency that the user pays, and the currency that the recipient receives, on one chain or two. */
export interface Pair {
  /** A readable and unique name. */
  readonly name: string;
  readonly origin: Chain;
  readonly destination: Chain;
  readonly pay: Currency;
  readonly receive: Currency;
  /** The requested amount in base units: of `pay` for an exact input, otherwise of `receive`. */
  requestedAmount(tradeType: TradeType): bigint;
}

/**
 * Amounts of about five dollars: of the native token, its wrapped token, two tokens that the solver holds,
 * and one that only a shallow pool connects to the others.
 */
const worth: Readonly<Record<string, string>> = {
  ETH: "0.002",
  USDC: "5",
  TST: "10",
  WETH: "0.002",
  ODD: "1.25",
};

/**
 * Every ordered pair of currencies within each chain and between the chains. Within a chain, a pair may have
 * the same currency twice, which is then sent unchanged.
 */
export function everyPair(chains: readonly Chain[]): Pair[] {
  const pairs: Pair[] = [];
  for (const origin of chains)
    for (const destination of chains)
      for (const pay of currenciesOf(origin))
        for (const receive of currenciesOf(destination)) {
          // All amounts differ and no amount is round, so that rounding errors show.
          const odd = BigInt(pairs.length * 7_919 + 1);
          pairs.push({
            name: `${pay.symbol} on ${origin.name} to ${receive.symbol} on ${destination.name}`,
            origin,
            destination,
            pay,
            receive,
            requestedAmount: (tradeType) => {
              const { symbol, decimals } = tradeType === "EXACT_INPUT" ? pay : receive;
              return parseUnits(worth[symbol] ?? "", decimals) + odd;
            },
          });
        }
  return pairs;
}

/**
 * The currencies of the pairs, in the same order on every chain.
 * @throws Error if the chain does not list one of them
 */
export function currenciesOf(chain: Chain): Currency[] {
  return Object.keys(worth).map((symbol) => {
    const currency = [chain.currency, ...chain.erc20Currencies].find(
      (candidate) => candidate.symbol === symbol,
    );
    if (currency === undefined) throw new Error(`no ${symbol} on ${chain.name}`);
    return currency;
  });
}
