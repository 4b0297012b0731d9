import { ServiceError } from "@causeway/domain";
import type { ChainHealthAnswer } from "@causeway/wire";
import type { ChainDirectory, ChainPulse } from "../../ports/chains.ts";
import type { Clock } from "../../ports/clock.ts";
import { findChain } from "./find-chain.ts";

/** Whether a chain can be used now, and what is wrong with it if not. @throws ServiceError UNSUPPORTED_CHAIN */
export function chainHealth(
  { chains, clock }: { readonly chains: Pick<ChainDirectory, "get">; readonly clock: Clock },
  chainId: number,
): ChainHealthAnswer {
  const { chain, pulse } = findChain(chains, chainId);
  const head = pulse.head();
  const lagging = pulse.lagging();
  const fresh = hasFreshFacts(pulse);
  return {
    healthy: !chain.disabled && !lagging && fresh && head !== undefined,
    chainId,
    disabled: chain.disabled,
    blockProductionLagging: lagging,
    pricesGas: fresh,
    blockNumber: head === undefined ? null : head.number.toString(),
    blockAgeMs: head === undefined ? null : Math.max(0, clock.nowMs() - head.seenAtMs),
  };
}

function hasFreshFacts(pulse: ChainPulse): boolean {
  try {
    pulse.gasPrices();
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}
