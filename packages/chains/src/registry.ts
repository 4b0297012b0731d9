import type { AttestationChain, VmType } from "@causeway/domain";
import type { EvidenceSource, NonceMappings } from "@causeway/families";
import { evmEvidence, type EvmEvidenceOptions } from "./evm/evidence.ts";
import type { Disagreement } from "./nodes/rpc-quorum.ts";
import type { ObserveCall } from "./nodes/rpc-call.ts";

/** What all families are given. */
export interface EvidenceOptions {
  readonly evm?: Pick<EvmEvidenceOptions, "rpc">;
  /** What is to be told of each call to a node of a chain; the endpoints of one chain are not told apart. */
  readonly observeCalls?: (chain: string) => ObserveCall;
  /** Told when endpoints contradict each other about something final. Never holds a URL. */
  readonly onDisagreement?: (disagreement: Disagreement) => void;
  /** What the hub says of nonces; without it a transfer of the perpetuals exchange is for no order. */
  readonly nonceMappings?: NonceMappings;
}

type SourceOf = (chain: AttestationChain, options: EvidenceOptions) => EvidenceSource;

/** How each family is loaded: its libraries are read when a chain of it is configured, and not before. */
const FAMILIES: Readonly<Partial<Record<VmType, () => Promise<SourceOf> | SourceOf>>> = {
  "bitcoin-vm": async () => (await import("./bitcoin/evidence.ts")).bitcoinEvidence,
  "ethereum-vm": () => (chain, options) => evmEvidence(chain, { ...options, ...options.evm }),
  "hyperliquid-vm": async () => (await import("./hyperliquid/evidence.ts")).hyperliquidEvidence,
  "lighter-vm": async () => (await import("./lighter/evidence.ts")).lighterEvidence,
  "solana-vm": async () => (await import("./solana/evidence.ts")).solanaEvidence,
  "tron-vm": async () => (await import("./tron/evidence.ts")).tronEvidence,
};

/**
 * A source for each configured chain, by its name. Nothing is asked of any chain yet.
 *
 * @throws RangeError for a name that comes twice, and for a family that is not supported: at startup, not at
 * the first request about it
 */
export async function evidenceSources(
  chains: readonly AttestationChain[],
  options: EvidenceOptions = {},
): Promise<ReadonlyMap<string, EvidenceSource>> {
  const sources = new Map<string, EvidenceSource>();
  for (const chain of chains) {
    if (sources.has(chain.name)) throw new RangeError(`chain ${chain.name} is configured more than once`);
    const load = FAMILIES[chain.vmType];
    if (load === undefined)
      throw new RangeError(`chain ${chain.name}: family ${chain.vmType} is not supported yet`);
    const sourceOf = await load();
    sources.set(chain.name, sourceOf(chain, options));
  }
  return sources;
}

/** Whether this build can read chains of a family. */
export function isReadable(vm: VmType): boolean {
  return FAMILIES[vm] !== undefined;
}
