import { ConfigError } from "@causeway/config";
import type { SettingValues } from "@causeway/config";
import type { Chain, Currency } from "@causeway/domain";
import { inChargeOrder } from "@causeway/domain";
import { parseUnits } from "viem";
import type { AppBalancePolicy } from "../balances/app-balance.port.ts";
import type { appBalanceSettings } from "./settings.ts";

/** What charges take first where nothing else is said and the chain has it. */
const USUAL_CURRENCY = "usdc";

/**
 * What is wrong between these settings and the chains. Settings that are wrong by themselves are left out of
 * `settings`.
 * @param faulty ids of chains that are left out of `chains` because of their own problems
 */
export function appBalanceProblems(
  settings: Partial<SettingValues<typeof appBalanceSettings>>,
  chains: readonly Chain[],
  faulty: readonly unknown[],
): readonly string[] {
  const { appBalanceChainId: id, appBalanceCurrency: wanted } = settings;
  // Which chain is the first is known only when all of them are.
  const isFirst = id === undefined && "appBalanceChainId" in settings && faulty.length === 0;
  const chain = isFirst ? chains[0] : chains.find((one) => one.id === id);
  if (chain === undefined)
    return id === undefined || faulty.includes(id)
      ? []
      : ["APP_BALANCE_CHAIN_ID must be the chain id of an enabled EVM chain"];
  return wanted === undefined || payable(chain).some((currency) => isCalled(currency, wanted))
    ? []
    : [`APP_BALANCE_CURRENCY must be a currency of ${chain.name}`];
}

/**
 * Where app balances live and what counts as balance.
 * @param chains the enabled ones, never empty
 * @throws ConfigError
 */
export function appBalancePolicy(
  settings: SettingValues<typeof appBalanceSettings>,
  chains: readonly Chain[],
): AppBalancePolicy {
  const problems = appBalanceProblems(settings, chains, []);
  const chain = chains.find(({ id }) => id === settings.appBalanceChainId) ?? chains[0];
  if (problems.length > 0 || chain === undefined) throw new ConfigError(problems);
  return {
    chainId: chain.id,
    currencies: inChargeOrder(payable(chain), settings.appBalanceCurrency ?? USUAL_CURRENCY),
    confirmations:
      settings.appBalanceConfirmations ??
      Math.max(1, ...chain.confirmationTiers.map(({ confirmations }) => confirmations)),
    minTopUpUsd: parseUnits(settings.appBalanceMinTopUpUsd, 18),
    claimLifetimeSeconds: settings.appBalanceClaimSeconds,
  };
}

/** What the solver does not hold it cannot pay out, and what nobody prices is no balance in dollars. */
function payable({ native, tokens }: Chain): readonly Currency[] {
  return [native, ...tokens].filter(({ supportsBridging }) => supportsBridging);
}

function isCalled({ symbol, id, priceId }: Currency, word: string): boolean {
  return [symbol, id, priceId].some((name) => name.toLowerCase() === word.toLowerCase());
}
