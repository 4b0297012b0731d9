import type { EvmConnection } from "@causeway/chains";
import { createPoolReader } from "@causeway/chains";
import type { Chain } from "@causeway/domain";
import type { Lifecycle } from "@causeway/service-kit";
import { createChainPools } from "../markets/liquidity/chain-pools.adapter.ts";
import { createCombinedLiquidity } from "../markets/liquidity/combined-liquidity.adapter.ts";
import { createHttpAggregator } from "../markets/liquidity/http-aggregator.adapter.ts";
import { createPoolLiquidity } from "../markets/liquidity/pool-liquidity.adapter.ts";
import { createPoolUsd, type PricedChain } from "../markets/liquidity/pool-usd.adapter.ts";
import { pairsOfPaths } from "../markets/liquidity/token-pair.adapter.ts";
import type { AggregatorConfig } from "../config/config.ts";
import type { LiquiditySource, PoolUsd } from "../markets/liquidity/liquidity.port.ts";
import type { Services } from "../db/services.port.ts";

/** A chain with the connection that its pools are read by. */
export interface PoolChain {
  readonly chain: Chain;
  readonly connection: Pick<EvmConnection, "reader" | "heads" | "transport">;
}

/**
 * Where tokens are exchanged, and what pools say of their worth. The configured tokens' pools are read at
 * once, so that no client waits for them.
 */
export function liquidityServices(
  connected: readonly PoolChain[],
  { clock, events, prices }: Pick<Services, "clock" | "events" | "prices">,
  aggregator: AggregatorConfig | undefined,
  lifecycle: Lifecycle,
): { readonly liquidity: LiquiditySource; readonly poolUsd: PoolUsd } {
  const chains = connected.flatMap(({ chain, connection }): (PricedChain & Pick<Chain, "contracts">)[] => {
    const { liquidity, native, tokens } = chain;
    if (liquidity === undefined) return [];
    const onFault = (error: unknown): void => events.fault("liquidity_fault", error, { chain: chain.name });
    const { reader, heads, transport } = connection;
    const pools = createChainPools({
      sources: liquidity.sources,
      pools: createPoolReader(transport, chain.contracts.multicall3),
      reader,
      heads,
      clock,
      onFault,
    });
    lifecycle.add(`pools of ${chain.name}`, async () => pools.close());
    const configured = tokens.map(({ address }) => address);
    const [first = [], ...others] = configured.map((token) =>
      liquidity.connectors.flatMap((connector) => pairsOfPaths(token, connector, liquidity.connectors, 3)),
    );
    const reading = pools.at([...first, ...others.flat()]);
    if (reading instanceof Promise) reading.catch(onFault);
    const plainApprovals = new Set(
      tokens.filter(({ resetsApproval }) => !resetsApproval).map(({ address }) => address),
    );
    const { id: chainId, contracts } = chain;
    return [{ chainId, contracts, liquidity, pools, plainApprovals, native, tokens }];
  });
  const services = aggregator && [
    createHttpAggregator({
      ...aggregator,
      chains: new Map(chains.map(({ chainId, contracts }) => [chainId, contracts])),
      clock,
      onFault: (error, facts) =>
        events.fault("liquidity_fault", error, { ...facts, source: aggregator.name }),
    }),
  ];
  return {
    liquidity: createCombinedLiquidity(createPoolLiquidity(chains), services ?? []),
    poolUsd: createPoolUsd(chains, prices),
  };
}
