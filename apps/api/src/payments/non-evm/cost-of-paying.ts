import { ServiceError } from "@causeway/domain";
import type { Hex } from "@causeway/domain";
import type { AnyConnectedChain } from "../../chains/chains.port.ts";
import { withinNodeLimit } from "../../db/within-node-limit.ts";

/**
 * The cost of paying this account, for a quote. Undefined: the usual cost.
 * @throws ServiceError RPC_HTTP_ERROR; SERVICE_UNAVAILABLE while clients' share of the node's rate limit is
 * used up
 */
export async function quotedCostOfPaying(
  connected: AnyConnectedChain,
  currency: Hex,
  account: Hex,
  field: "originChainId" | "destinationChainId",
): Promise<bigint | undefined> {
  try {
    return await withinNodeLimit(
      connected.chain,
      field,
      async () => await connected.costOfPaying?.(currency, account),
    );
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    throw new ServiceError(
      "RPC_HTTP_ERROR",
      `The node of ${connected.chain.displayName} did not return the cost of a payment; try again`,
      {
        field,
        cause,
      },
    );
  }
}
