import { ServiceError } from "@causeway/domain";
import type { ChainHealthAnswer } from "@causeway/wire";
import type { ChainDirectory } from "../chains/chains.port.ts";
import type { Clock } from "../db/clock.port.ts";
import type { ScannedBlock } from "../db/reads.port.ts";
import { scanLag } from "../deposits/index.ts";
import { findEnd } from "./find-chain.ts";

/**
 * Whether a chain can be used now, and the reason if not.
 * @param scanned the newest block that was scanned for deposits, if any
 * @throws ServiceError UNSUPPORTED_CHAIN
 */
export function chainHealth(
  { chains, clock }: { readonly chains: Pick<ChainDirectory, "get" | "nonEvm">; readonly clock: Clock },
  chainId: number,
  scanned: ScannedBlock | undefined,
): ChainHealthAnswer {
  const { chain, pulse } = findEnd(chains, chainId);
  const head = pulse.head?.();
  const isReached = head !== undefined || pulse.head === undefined;
  const isLagging = pulse.isLagging();
  const isFresh = isAvailable(() => pulse.paymentCost(chain.native.address, 0n));
  const lag = scanLag(chain, head, scanned);
  return {
    healthy: !chain.disabled && !isLagging && isFresh && isReached && lag?.isBehind !== true,
    chainId,
    disabled: chain.disabled,
    blockProductionLagging: isLagging,
    pricesGas: isFresh,
    blockNumber: head === undefined ? null : head.number.toString(),
    blockAgeMs: head === undefined ? null : Math.max(0, clock.nowMs() - head.seenAtMs),
    scannedBlockNumber: scanned === undefined ? null : scanned.number.toString(),
    scanLagBlocks: lag === undefined ? null : Number(lag.blocks),
    scanLagSeconds: lag === undefined ? null : lag.seconds,
    effects: pulse.effectsView?.() ?? null,
    nodeLatencyMs: pulse.latencyMs?.() ?? null,
    endpoints: (pulse.endpoints?.() ?? []).map(({ host, state, isLead, headNumber, latencyMs }) => ({
      host,
      state,
      lead: isLead,
      blockNumber: headNumber === undefined ? null : headNumber.toString(),
      latencyMs: latencyMs === undefined ? null : Math.round(latencyMs),
    })),
  };
}

/**
 * {@link chainHealth}, with the newest block that was scanned for deposits.
 * @throws ServiceError UNSUPPORTED_CHAIN
 */
export async function readChainHealth(
  services: Parameters<typeof chainHealth>[0] & {
    readonly scanProgress: () => Promise<ReadonlyMap<number, ScannedBlock>>;
  },
  chainId: number,
): Promise<ChainHealthAnswer> {
  return chainHealth(services, chainId, (await services.scanProgress()).get(chainId));
}

function isAvailable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}
