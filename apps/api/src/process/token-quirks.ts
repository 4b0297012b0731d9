import { createTokenProbe } from "@causeway/chains";
import { createTokenQuirks } from "../chains/token-quirks.adapter.ts";
import type { PoolChain } from "./liquidity.ts";
import type { Services } from "../db/services.port.ts";
import type { TokenQuirks } from "../chains/token-quirks.port.ts";

/** How tokens behave that nobody has vouched for, on every chain whose pools hold some. */
export function tokenQuirks(
  connected: readonly PoolChain[],
  { clock, events }: Pick<Services, "clock" | "events">,
): TokenQuirks {
  const probes = connected.flatMap(({ chain, connection: { transport } }) => {
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
