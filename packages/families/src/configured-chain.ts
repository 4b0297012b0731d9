import type { FamilyId, VmType } from "@causeway/domain";
import type { Depositories } from "./depositories.ts";
import type { FactsOf, FamilyFacts } from "./families.ts";

/** A chain of the chain file as oracles and the service see it, including the facts of its family. */
export interface ConfiguredChain extends Depositories, Partial<Omit<FamilyFacts, "evm">> {
  /** Name used in orders and attestations, e.g. `base`. */
  readonly name: string;
  readonly vmType: VmType;
  /** RPC endpoints, at least one. They may contain credentials: never shown or logged. */
  readonly rpcUrls: readonly string[];
  /** How many endpoints must agree on a fact; 1 with a single endpoint. */
  readonly rpcQuorum: number;
  /** Decimal id of the chain on the hub: the EVM chain id, else keccak256 of the name. */
  readonly hubChainId: string;
  readonly evm: FactsOf<"evm"> | undefined;
}

/** The chain's facts of this family; undefined for a chain of another family. */
export function factsOf<F extends FamilyId>(
  chain: { readonly [Family in FamilyId]?: FactsOf<Family> | undefined },
  id: F,
): FactsOf<F> | undefined {
  return chain[id];
}
