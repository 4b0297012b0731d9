import { encodeFillContract } from "@causeway/domain";
import type { Chain, Hex } from "@causeway/domain";
import type { RequestEnd } from "./chains.port.ts";

/**
 * Every order names the same few contracts: reusing one string per chain lets order hashing reuse its result.
 */
const known = new WeakMap<Chain, Hex>();

/**
 * The `extraData` of orders made now: the router whose payments oracles count. Chains without contracts have
 * none.
 */
export function fillContractOf(end: Pick<RequestEnd, "chain">): Hex {
  const { chain } = end;
  if (chain.vmType !== "evm") return "0x";
  const encoded = known.get(chain) ?? encodeFillContract(chain.contracts.router);
  known.set(chain, encoded);
  return encoded;
}
