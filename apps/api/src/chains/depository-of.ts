import type { Chain, Hex, RailChain } from "@causeway/domain";

/** The depository that a chain is configured with. */
export function depositoryOf(chain: Chain | RailChain): Hex {
  return chain.vmType === "evm" ? chain.contracts.depository : chain.depository;
}
