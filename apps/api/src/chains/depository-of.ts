import type { Chain, Hex, NonEvmChain } from "@causeway/domain";

/** The depository that a chain is configured with. */
export function depositoryOf(chain: Chain | NonEvmChain): Hex {
  return chain.vmType === "evm" ? chain.contracts.depository : chain.depository;
}
