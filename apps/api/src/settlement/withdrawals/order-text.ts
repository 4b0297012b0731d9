import { formatAmount } from "@causeway/domain";
import type { Currency } from "@causeway/domain";
import type { KnownChains } from "../settlement-services.port.ts";
import type { WithdrawalOrder } from "./withdrawals.port.ts";

type NamedCurrency = Pick<WithdrawalOrder, "chainName" | "currency">;

/** The options of `operator withdraw` that repeat an order. */
export function optionsOf(
  chains: Pick<KnownChains, "all">,
  { chainName, currency, amount, recipient }: Omit<WithdrawalOrder, "nonce" | "depository">,
): string {
  const configured = currencyOf(chains, { chainName, currency });
  const decimal = configured === undefined ? inBaseUnits(amount) : formatAmount(amount, configured.decimals);
  return `--amount ${decimal} --currency ${currency} --chain ${chainName} --recipient ${recipient}`;
}

/** For example `1.5 USDC`. */
export function readableAmount(
  chains: Pick<KnownChains, "all">,
  order: NamedCurrency,
  amount: bigint,
): string {
  const configured = currencyOf(chains, order);
  return configured === undefined
    ? inBaseUnits(amount)
    : `${formatAmount(amount, configured.decimals)} ${configured.symbol}`;
}

const inBaseUnits = (amount: bigint): string => `(${amount} base units)`;

/** Undefined: the currency is no longer configured. */
function currencyOf(
  { all }: Pick<KnownChains, "all">,
  { chainName, currency }: NamedCurrency,
): Currency | undefined {
  const chain = all.find((entry) => entry.chain.name === chainName)?.chain;
  return chain && [chain.native, ...chain.tokens].find(({ address }) => address === currency);
}
