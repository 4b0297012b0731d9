import { ServiceError, concernsRequest } from "@causeway/domain";
import type { FoundFunds } from "@causeway/domain";
import type { RequestEnd } from "../../chains/chains.port.ts";
import type { DepositAddress } from "./deposit-addresses.port.ts";
import type { AddressServices } from "./address-services.ts";
import { returnFacts } from "./return-facts.ts";

/** Decides whether the status of a request reports funds at its address. */
export async function reportsFunds(
  services: AddressServices,
  connected: RequestEnd,
  at: DepositAddress | undefined,
): Promise<(found: FoundFunds) => Promise<boolean>> {
  const first = at && (await services.reads.request(at.requestId));
  return async (found) =>
    first !== undefined &&
    concernsRequest({ quoted: first.terms.origin }, found, {
      isListed: services.chains.currency(found.chainId, found.currency) !== undefined,
      isDust: await isDust(services, connected, found),
    });
}

/** Without a price nothing counts as dust: a request's funds must not be overlooked. */
async function isDust(services: AddressServices, connected: RequestEnd, found: FoundFunds): Promise<boolean> {
  try {
    const { isPriced, isWorthMoving } = await returnFacts(services, connected, found);
    return isPriced && !isWorthMoving(found.amount);
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}
