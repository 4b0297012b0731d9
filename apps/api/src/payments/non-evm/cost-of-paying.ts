import { ServiceError } from "@causeway/domain";
import type { Hex } from "@causeway/domain";
import type { RequestEnd } from "../../chains/chains.port.ts";
import { isNonEvm } from "../../http/request-end.ts";
import { withinNodeLimit } from "../../db/within-node-limit.ts";

/**
 * The cost of paying this account if it may exceed the usual one: Hyperliquid charges a dollar for an
 * account's first payment. At least the usual cost, which may rise later. Undefined: the usual cost.
 * @throws RpcFault if the chain does not answer; ServiceError RPC_HTTP_ERROR if its state is stale
 */
export async function costOfPaying(
  end: RequestEnd,
  currency: Hex,
  account: Hex,
): Promise<bigint | undefined> {
  if (!isNonEvm(end) || end.chain.exchange === undefined) return undefined;
  const usual = end.pulse.paymentCost(currency);
  const own = await end.rail.paymentCost(currency, account);
  return own > usual ? own : usual;
}

/**
 * The same for a quote.
 * @throws ServiceError RPC_HTTP_ERROR, SERVICE_UNAVAILABLE beyond the share of the rate limit
 */
export async function quotedCostOfPaying(
  end: RequestEnd,
  currency: Hex,
  account: Hex,
  field: "originChainId" | "destinationChainId",
): Promise<bigint | undefined> {
  try {
    if (!isNonEvm(end)) return undefined;
    return await withinNodeLimit(end.chain, field, () => costOfPaying(end, currency, account));
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
