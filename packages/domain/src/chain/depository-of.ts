import type { Hex } from "../ids/hex.ts";
import type { Chain } from "./chain.ts";
import type { NonEvmChain } from "./non-evm-chain.ts";

/** The depository that a chain is configured with, canonical bytes. */
export function depositoryOf(chain: Chain | NonEvmChain): Hex {
  return chain.vmType === "evm" ? chain.contracts.depository : chain.depository;
}
