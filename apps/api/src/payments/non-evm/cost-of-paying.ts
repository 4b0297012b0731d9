import { ServiceError } from "@causeway/domain";
import type { Hex } from "@causeway/domain";
import type { RequestEnd } from "../../chains/chains.port.ts";
import { withinNodeLimit } from "../../db/within-node-limit.ts";

/**
 * The cost of paying this account, for a quote. Undefined: the usual cost.
 * @throws ServiceError RPC_HTTP_ERROR, SERVICE_UNAVAILABLE beyond the share of the rate limit
 */
export async function quotedCostOfPaying(
  end: RequestEnd,
  currency: Hex,
  account: Hex,
  field: "originChainId" | "destinationChainId",
): Promise<bigint | undefined> {
  try {
    return await withinNodeLimit(end.chain, field, async () => await end.costOfPaying?.(currency, account));
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    throw new ServiceError(
      "RPC_HTTP_ERROR",
      `The node of ${end.chain.displayName} did not return the cost of a payment; try again`,
      {
        field,
        cause,
      },
    );
  }
}
