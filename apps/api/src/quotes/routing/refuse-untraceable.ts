import { ServiceError } from "@causeway/domain";
import type { AnyConnectedChain } from "../../chains/chains.port.ts";

/**
 * Refuses a fill with a swap, calls or a top-up if the node cannot dry-run it: the deposit could only be
 * refunded.
 * @throws ServiceError
 */
export function refuseUntraceable(
  { destination: { chain, pulse } }: { readonly destination: AnyConnectedChain },
  code: "NO_SWAP_ROUTES_FOUND" | "SERVICE_UNAVAILABLE",
  field: string,
  what: string,
): void {
  if (pulse.effectsView?.() !== "unseen") return;
  const why = `the node of ${chain.displayName} cannot trace calls`;
  throw new ServiceError(code, `${what}: ${why}`, { field });
}
