import { createPoolReader } from "@causeway/chains";
import type { Chain } from "@causeway/domain";
import type { Lifecycle } from "@causeway/service-kit";
import type { EvmChain } from "../../chains/chains.wiring.ts";
import type { ApiConfig } from "../../config/config.ts";
import type { Services } from "../../db/services.port.ts";
import { createChainPools } from "./chain-pools.adapter.ts";
import { createCombinedLiquidity, perChain } from "./combined-liquidity.adapter.ts";
import { createHttpAggregator } from "./http-aggregator.adapter.ts";
import { createJupiter, JUPITER } from "./jupiter.adapter.ts";
import type { LiquiditySource, PoolUsd } from "./liquidity.port.ts";
import { createPoolLiquidity } from "./pool-liquidity.adapter.ts";
import { createPoolUsd, type PricedChain } from "./pool-usd.adapter.ts";
import { pairsOfPaths } from "./token-pair.adapter.ts";

interface LiquidityNeeds extends Pick<Services, "clock" | "events"> {
  readonly config: Pick<ApiConfig, "aggregator" | "nonEvmChains">;
  readonly lifecycle: Lifecycle;
}

interface PoolChain extends PricedChain, Pick<Chain, "contracts"> {}

/**
 * Swap sources, and the USD values that pools imply. Starts to read the pools of configured tokens, so that
 * no client waits for them.
 */
export function startLiquidity(
  needs: LiquidityNeeds,
  evmChains: readonly EvmChain[],
  prices: Services["prices"],
): { readonly liquidity: LiquiditySource; readonly poolUsd: PoolUsd } {
  const chains = evmChains.flatMap((evmChain) => poolsOf(evmChain, needs));
  return {
    liquidity: perChain(
      instructionSources(needs),
      createCombinedLiquidity(createPoolLiquidity(chains), aggregators(needs, chains)),
    ),
    poolUsd: createPoolUsd(chains, prices),
  };
}

/** The pools of a chain; empty for a chain without swap sources. */
function poolsOf(
  { chain, connection: { reader, heads, transport } }: EvmChain,
  { clock, events, lifecycle }: LiquidityNeeds,
): readonly PoolChain[] {
  const { id: chainId, contracts, liquidity, native, tokens } = chain;
  if (liquidity === undefined) return [];
  const onFault = (error: unknown): void => events.fault("liquidity_fault", error, { chain: chain.name });
  const pools = createChainPools({
    sources: liquidity.sources,
    pools: createPoolReader(transport, contracts.multicall3),
    reader,
    heads,
    clock,
    onFault,
  });
  lifecycle.add(`pools of ${chain.name}`, async () => pools.close());
  const pairs = tokens.flatMap(({ address }) =>
    liquidity.connectors.flatMap((connector) => pairsOfPaths(address, connector, liquidity.connectors, 3)),
  );
  const reading = pools.read(pairs);
  if (reading instanceof Promise) reading.catch(onFault);
  const plainApprovals = new Set(
    tokens.filter(({ resetsApproval }) => !resetsApproval).map(({ address }) => address),
  );
  return [{ chainId, contracts, liquidity, pools, plainApprovals, native, tokens }];
}

function aggregators(
  { config: { aggregator }, clock, events }: LiquidityNeeds,
  chains: readonly PoolChain[],
): readonly LiquiditySource[] {
  if (aggregator === undefined) return [];
  return [
    createHttpAggregator({
      ...aggregator,
      chains: new Map(chains.map(({ chainId, contracts }) => [chainId, contracts])),
      clock,
      onFault: (error, facts) =>
        events.fault("liquidity_fault", error, { ...facts, source: aggregator.name }),
    }),
  ];
}

/** Swap sources by chain id, for chains on which users swap by instructions (Solana). */
function instructionSources({
  config: { nonEvmChains },
  clock,
  events,
}: LiquidityNeeds): ReadonlyMap<number, LiquiditySource> {
  return new Map(
    nonEvmChains.flatMap(({ chain }) => {
      const { id, swapAggregator: aggregator } = chain;
      if (aggregator === undefined) return [];
      const onFault = (error: unknown, facts: { readonly chainId: number }): void =>
        events.fault("liquidity_fault", error, { ...facts, source: JUPITER });
      return [[id, createJupiter({ chain, aggregator, clock, onFault })] as const];
    }),
  );
}
