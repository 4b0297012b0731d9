import { formatAmount } from "@causeway/domain";
import type { Currency } from "@causeway/domain";
import type { KnownChains } from "../settlement-services.port.ts";
import type { WithdrawalOrder } from "./withdrawals.port.ts";

type Named = Pick<WithdrawalOrder, "chainName" | "currency">;

/** The options of `operator withdraw` that repeat an order. */
export function optionsOf(
  chains: Pick<KnownChains, "evmChains">,
  { chainName, currency, amount, recipient }: Omit<WithdrawalOrder, "nonce" | "depository">,
): string {
  const known = currencyOf(chains, { chainName, currency });
  const decimal = known === undefined ? inBaseUnits(amount) : formatAmount(amount, known.decimals);
  return `--amount ${decimal} --currency ${currency} --chain ${chainName} --recipient ${recipient}`;
}

/** For example `1.5 USDC`. */
export function readableAmount(chains: Pick<KnownChains, "evmChains">, order: Named, amount: bigint): string {
  const known = currencyOf(chains, order);
  return known === undefined
    ? inBaseUnits(amount)
    : `${formatAmount(amount, known.decimals)} ${known.symbol}`;
}

const inBaseUnits = (amount: bigint): string => `(${amount} base units)`;

/** Undefined: an earlier configuration had it. */
function currencyOf(
  { evmChains }: Pick<KnownChains, "evmChains">,
  { chainName, currency }: Named,
): Currency | undefined {
  const chain = evmChains.find((candidate) => candidate.chain.name === chainName)?.chain;
  return chain && [chain.native, ...chain.tokens].find(({ address }) => address === currency);
}
