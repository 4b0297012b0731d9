import type { EvmChain } from "../chains/chains.wiring.ts";
import type { OwnKeys } from "../chains/index.ts";
import type { Services } from "../db/services.port.ts";
import { checkFactoryAtStart } from "./addresses/check-factory.ts";

/**
 * Checks every chain's deposit address factory.
 * @throws ServiceError SERVICE_UNAVAILABLE when a factory is unsafe
 */
export async function checkFactories(
  services: OwnKeys & Pick<Services, "events">,
  evmChains: readonly EvmChain[],
): Promise<void> {
  await Promise.all(evmChains.map((chain) => checkFactoryAtStart(services, chain, services.events)));
}
