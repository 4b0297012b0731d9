import { createTokenProbe } from "@causeway/chains";
import type { Services } from "../db/services.port.ts";
import type { EvmChain } from "./chains.wiring.ts";
import { createTokenQuirks } from "./token-quirks.adapter.ts";
import type { TokenQuirks } from "./token-quirks.port.ts";

/** Probes how unverified tokens behave on every chain with pools. */
export function tokenQuirks({
  evmChains,
  clock,
  events,
}: Pick<Services, "clock" | "events"> & { readonly evmChains: readonly EvmChain[] }): TokenQuirks {
  const probes = evmChains.flatMap(({ chain, connection: { transport } }) => {
    const { liquidity, contracts } = chain;
    if (liquidity === undefined) return [];
    return [
      [chain.id, createTokenProbe({ transport, multicall3: contracts.multicall3, liquidity })] as const,
    ];
  });
  return createTokenQuirks({
    probes: new Map(probes),
    clock,
    onFault: (error, facts) => events.fault("token_probe_fault", error, facts),
  });
}
