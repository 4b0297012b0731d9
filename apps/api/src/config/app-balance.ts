import type { ReadChains, SettingValues } from "@causeway/config";
import { ConfigError, setting } from "@causeway/config";
import type { Chain, Currency } from "@causeway/domain";
import { inChargeOrder } from "@causeway/domain";
import { parseUnits } from "viem";
import type { AppBalancePolicy } from "../balances/app-balance.port.ts";

const { integer, text, usd } = setting;

export const appBalanceSettings = {
  appBalanceChainId: integer({
    name: "APP_BALANCE_CHAIN_ID",
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    optional: true,
    describe:
      "Chain on which app balances are topped up, by transfers to the solver, and paid out. Do not change it once there are balances. Default: the first enabled chain.",
  }),
  appBalanceCurrency: text({
    name: "APP_BALANCE_CURRENCY",
    optional: true,
    describe:
      "Symbol, `id` or `priceId` of the currency that is charged first and in which debts are recorded. The chain's other currencies follow in order of address. Default: `usdc` if the chain has it.",
  }),
  appBalanceConfirmations: integer({
    name: "APP_BALANCE_CONFIRMATIONS",
    min: 1,
    max: 100_000,
    optional: true,
    describe:
      "Confirmations before a top-up is credited, including its own block. Default: those of the chain's strictest tier.",
  }),
  appBalanceMinTopUpUsd: usd({
    name: "APP_BALANCE_LEAST_TOP_UP_USD",
    default: "0.10",
    describe:
      "Minimum value of a top-up. Smaller transfers are not credited, because each credit slows down block scanning; `operator funds` lists them.",
  }),
};

/** How long a claim can be signed after it was offered. */
export const APP_BALANCE_CLAIM_SECONDS = 600;
/** The currency that is charged first if none is configured and the chain has this one. */
const DEFAULT_CURRENCY = "usdc";

/**
 * Problems of these settings with the configured chains.
 * @param settings the valid settings only
 * @param invalidChains chains that `chains` lacks because their own configuration is invalid
 */
export function appBalanceProblems(
  settings: Partial<SettingValues<typeof appBalanceSettings>>,
  { chains, invalidChains }: Pick<ReadChains, "chains" | "invalidChains">,
): readonly string[] {
  // Having no enabled chain is reported elsewhere.
  if (chains.length + invalidChains.length === 0) return [];
  const { appBalanceChainId: id, appBalanceCurrency: currencyName } = settings;
  // The first chain is only known if no chain is invalid.
  const usesFirst = id === undefined && "appBalanceChainId" in settings && invalidChains.length === 0;
  const chain = usesFirst ? chains[0] : chains.find((candidate) => candidate.id === id);
  if (chain === undefined)
    return id === undefined || invalidChains.some((invalid) => invalid.id === id)
      ? []
      : ["APP_BALANCE_CHAIN_ID must be the chain id of an enabled EVM chain"];
  return currencyName === undefined ||
    payableCurrencies(chain).some((currency) => hasName(currency, currencyName))
    ? []
    : [`APP_BALANCE_CURRENCY must be a currency of ${chain.name}`];
}

/**
 * @param chains all enabled chains, at least one
 * @throws ConfigError
 */
export function appBalancePolicy(
  settings: SettingValues<typeof appBalanceSettings>,
  chains: readonly Chain[],
): AppBalancePolicy {
  const problems = appBalanceProblems(settings, { chains, invalidChains: [] });
  const chain = chains.find(({ id }) => id === settings.appBalanceChainId) ?? chains[0];
  if (problems.length > 0 || chain === undefined) throw new ConfigError(problems);
  return {
    chainId: chain.id,
    currencies: inChargeOrder(payableCurrencies(chain), settings.appBalanceCurrency ?? DEFAULT_CURRENCY),
    confirmations:
      settings.appBalanceConfirmations ??
      Math.max(1, ...chain.confirmationTiers.map(({ confirmations }) => confirmations)),
    minTopUpUsd: parseUnits(settings.appBalanceMinTopUpUsd, 18),
    claimLifetimeSeconds: APP_BALANCE_CLAIM_SECONDS,
  };
}

/** Currencies that the solver holds: only those have a price and can be paid out. */
function payableCurrencies({ native, tokens }: Chain): readonly Currency[] {
  return [native, ...tokens].filter(({ supportsBridging }) => supportsBridging);
}

function hasName({ symbol, id, priceId }: Currency, name: string): boolean {
  return [symbol, id, priceId].some((text) => text.toLowerCase() === name.toLowerCase());
}
