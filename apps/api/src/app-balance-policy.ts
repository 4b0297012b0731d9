import { ConfigError } from "@causeway/config";
import type { SettingValues } from "@causeway/config";
import type { Chain, Currency } from "@causeway/domain";
import { inChargeOrder } from "@causeway/domain";
import { parseUnits } from "viem";
import type { AppBalancePolicy } from "./ports/app-balance.ts";
import type { appBalanceSettings } from "./settings.ts";

/** What charges take first where nothing else is said and the chain has it. */
const USUAL_CURRENCY = "usdc";

/**
 * Where app balances live and what counts as balance.
 * @param chains the enabled ones, never empty
 * @throws ConfigError
 */
export function appBalancePolicy(
  settings: SettingValues<typeof appBalanceSettings>,
  chains: readonly Chain[],
): AppBalancePolicy {
  const chain = chains.find(({ id }) => id === settings.appBalanceChainId) ?? chains[0];
  if (chain === undefined || (settings.appBalanceChainId ?? chain.id) !== chain.id)
    throw new ConfigError(["APP_BALANCE_CHAIN_ID is not the chain id of an enabled chain"]);
  // What the solver does not hold it cannot pay out, and what nobody prices is no balance in dollars.
  const currencies = [chain.native, ...chain.tokens].filter(({ supportsBridging }) => supportsBridging);
  const wanted = settings.appBalanceCurrency;
  if (wanted !== undefined && !currencies.some((currency) => isCalled(currency, wanted)))
    throw new ConfigError([`APP_BALANCE_CURRENCY names no currency of ${chain.name}`]);
  return {
    chainId: chain.id,
    currencies: inChargeOrder(currencies, wanted ?? USUAL_CURRENCY),
    confirmations:
      settings.appBalanceConfirmations ??
      Math.max(1, ...chain.confirmationTiers.map(({ confirmations }) => confirmations)),
    leastTopUpUsd: parseUnits(settings.appBalanceLeastTopUpUsd, 18),
    claimLifetimeSeconds: settings.appBalanceClaimSeconds,
  };
}

function isCalled({ symbol, id, priceId }: Currency, word: string): boolean {
  return [symbol, id, priceId].some((name) => name.toLowerCase() === word.toLowerCase());
}
