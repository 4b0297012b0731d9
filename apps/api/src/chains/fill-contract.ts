import { encodeFillContract } from "@causeway/domain";
import type { ChainContracts, Hex } from "@causeway/domain";
import type { AnyConnectedChain } from "./chains.port.ts";

/**
 * Cached, because all orders contain the same few contracts: one string per chain lets order hashing reuse
 * its result.
 */
const encodedContracts = new WeakMap<ChainContracts, Hex>();

/**
 * The `extraData` of new orders: the router whose payments oracles count. Empty on chains without contracts.
 */
export function fillContractOf(connected: Pick<AnyConnectedChain, "chain">): Hex {
  const { contracts } = connected.chain;
  if (contracts === undefined) return "0x";
  const encoded = encodedContracts.get(contracts) ?? encodeFillContract(contracts.router);
  encodedContracts.set(contracts, encoded);
  return encoded;
}
