import { ServiceError, concernsRequest } from "@causeway/domain";
import type { FoundFunds } from "@causeway/domain";
import type { AnyConnectedChain } from "../../chains/chains.port.ts";
import type { DepositAddress } from "./deposit-addresses.port.ts";
import type { AddressServices } from "./address-services.ts";
import { returnFacts } from "./return-facts.ts";

/** Loads the rule that decides whether the status of a request reports funds at its deposit address. */
export async function loadReportRule(
  services: AddressServices,
  connected: AnyConnectedChain,
  depositAddress: DepositAddress | undefined,
): Promise<(funds: FoundFunds) => Promise<boolean>> {
  const first = depositAddress && (await services.reads.request(depositAddress.requestId));
  return async (funds) =>
    first !== undefined &&
    concernsRequest({ quoted: first.terms.origin }, funds, {
      isListed: services.chains.currency(funds.chainId, funds.currency) !== undefined,
      isDust: await isDust(services, connected, funds),
    });
}

/** Without a price nothing counts as dust: a request's funds must not be overlooked. */
async function isDust(
  services: AddressServices,
  connected: AnyConnectedChain,
  funds: FoundFunds,
): Promise<boolean> {
  try {
    const { isPriced, isWorthMoving } = await returnFacts(services, connected, funds);
    return isPriced && !isWorthMoving(funds.amount);
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}
