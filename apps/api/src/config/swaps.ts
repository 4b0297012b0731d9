import type { Secret, SettingValues } from "@causeway/config";
import { setting } from "@causeway/config";
import type { Chain } from "@causeway/domain";

const { secret, url } = setting;

export const swapSettings = {
  swapAggregatorUrl: url({
    name: "SWAP_AGGREGATOR_URL",
    schemes: ["http", "https"],
    optional: true,
    describe:
      "Swap aggregator, used if the configured pools offer no route or if a quote asks for it. Give the URL without `/price` and `/quote`, for example `https://api.example.org/swap/allowance-holder`. The router executes the calldata that it returns, so use only a service that you trust. Unset: swaps use pools only.",
  }),
  swapAggregatorApiKey: secret({
    name: "SWAP_AGGREGATOR_API_KEY",
    optional: true,
    describe: "API key of the swap aggregator, sent as `0x-api-key`.",
  }),
};

export const fixedAggregatorPolicy = {
  /** In `/swap-sources` and in quotes. */
  name: "aggregator",
  /** Timeout of one request. A quote without another route waits this long. */
  timeoutMs: 1_500,
};

export interface AggregatorConfig {
  /** Without `/price` and `/quote`. */
  readonly url: string;
  readonly apiKey: Secret | undefined;
  /** In `/swap-sources` and in quotes. */
  readonly name: string;
  readonly timeoutMs: number;
}

/** Undefined: swaps use pools only. */
export function aggregatorConfig(swap: SettingValues<typeof swapSettings>): AggregatorConfig | undefined {
  const { swapAggregatorUrl: baseUrl, swapAggregatorApiKey: apiKey } = swap;
  return baseUrl === undefined ? undefined : { url: baseUrl, apiKey, ...fixedAggregatorPolicy };
}

/** Clients select swap sources by name, so names must be unique. */
export function aggregatorProblems(
  { swapAggregatorUrl }: Partial<SettingValues<typeof swapSettings>>,
  chains: readonly Pick<Chain, "name" | "liquidity">[],
): readonly string[] {
  if (swapAggregatorUrl === undefined) return [];
  const { name } = fixedAggregatorPolicy;
  const clashing = chains.filter(({ liquidity }) =>
    liquidity?.sources.some((source) => source.name === name),
  );
  return clashing.map(
    (chain) =>
      `chain ${chain.name}: swap source ${name} has the name of the aggregator of SWAP_AGGREGATOR_URL; rename it`,
  );
}
