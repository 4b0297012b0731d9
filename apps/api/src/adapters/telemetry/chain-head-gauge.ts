import type { Registry } from "prom-client";
import type { ChainDirectory } from "../../ports/chains.ts";
import { chainGauge } from "./chain-gauge.ts";

/** How long ago this process last heard of each chain. */
export function chainHeadGauge(registry: Registry, chains: Pick<ChainDirectory, "all" | "rails">): void {
  chainGauge(
    registry,
    {
      name: "causeway_chain_head_age_seconds",
      help: "Seconds since a new block of the chain arrived (non-EVM chains: since its state was last read), or since the start while none did",
    },
    async () =>
      await Promise.resolve(
        [...chains.all, ...chains.rails].map(
          ({ chain, pulse }) => [chain.name, pulse.headAgeMs() / 1000] as const,
        ),
      ),
  );
}
