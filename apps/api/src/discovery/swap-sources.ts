import type { SwapSourcesAnswer } from "@causeway/wire";
import type { Services } from "../db/services.port.ts";
import { findChain } from "./find-chain.ts";

/**
 * The swap sources of a chain; empty for a chain without pools.
 * @throws ServiceError UNSUPPORTED_CHAIN
 */
export function swapSources(
  services: Pick<Services, "chains" | "liquidity">,
  chainId: number,
): SwapSourcesAnswer {
  const { chain } = findChain(services.chains, chainId);
  return { sources: [...services.liquidity.sources(chain.id)] };
}
