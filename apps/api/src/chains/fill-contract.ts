import { encodeFillContract } from "@causeway/domain";
import type { Chain, Hex } from "@causeway/domain";
import type { RequestEnd } from "./chains.port.ts";

/** All orders name the same few contracts: one string per chain lets order hashing reuse its result. */
const known = new WeakMap<Chain, Hex>();

/**
 * The `extraData` of new orders: the router whose payments oracles count. Empty on chains without contracts.
 */
export function fillContractOf(end: Pick<RequestEnd, "chain">): Hex {
  const { chain } = end;
  if (chain.vmType !== "evm") return "0x";
  const encoded = known.get(chain) ?? encodeFillContract(chain.contracts.router);
  known.set(chain, encoded);
  return encoded;
}
