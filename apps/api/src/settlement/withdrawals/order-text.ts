import { formatAmount } from "@causeway/domain";
import type { Currency } from "@causeway/domain";
import type { KnownChains } from "../settlement-services.port.ts";
import type { WithdrawalOrder } from "./withdrawals.port.ts";

type NamedCurrency = Pick<WithdrawalOrder, "chainName" | "currency">;

/** The options of `operator withdraw` that repeat an order. */
export function optionsOf(
  chains: Pick<KnownChains, "evmChains">,
  { chainName, currency, amount, recipient }: Omit<WithdrawalOrder, "nonce" | "depository">,
): string {
  const configured = currencyOf(chains, { chainName, currency });
  const decimal = configured === undefined ? inBaseUnits(amount) : formatAmount(amount, configured.decimals);
  return `--amount ${decimal} --currency ${currency} --chain ${chainName} --recipient ${recipient}`;
}

/** For example `1.5 USDC`. */
export function readableAmount(
  chains: Pick<KnownChains, "evmChains">,
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
  { evmChains }: Pick<KnownChains, "evmChains">,
  { chainName, currency }: NamedCurrency,
): Currency | undefined {
  const chain = evmChains.find((entry) => entry.chain.name === chainName)?.chain;
  return chain && [chain.native, ...chain.tokens].find(({ address }) => address === currency);
}
