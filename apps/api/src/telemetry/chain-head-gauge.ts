import type { Registry } from "prom-client";
import type { ChainDirectory } from "../chains/chains.port.ts";
import { chainGauge } from "./chain-gauge.ts";

/** How long ago this process last saw a new head of each chain. */
export function chainHeadGauge(
  registry: Registry,
  chains: Pick<ChainDirectory, "evmChains" | "nonEvmChains">,
): void {
  chainGauge(
    registry,
    {
      name: "causeway_chain_head_age_seconds",
      help: "Seconds since the last new block (non-EVM chains: since the last read), or since the process started if there was none",
    },
    async () =>
      await Promise.resolve(
        [...chains.evmChains, ...chains.nonEvmChains].map(
          ({ chain, pulse }) => [chain.name, pulse.headAgeMs() / 1000] as const,
        ),
      ),
  );
}
