import type { NonEvmConnection, PayingConnection } from "@causeway/chains";
import type { Chain, NonEvmChain } from "@causeway/domain";
import type { ChainDirectory, ConnectedChain, ConnectedNonEvmChain } from "./chains.port.ts";

/**
 * Finds chains and currencies by id with one or two map reads.
 * @throws RangeError for a duplicate id
 */
export function createChainDirectory<R extends NonEvmConnection = PayingConnection>(
  evmChains: readonly ConnectedChain[],
  nonEvmChains: readonly ConnectedNonEvmChain<R>[] = [],
): ChainDirectory<R> {
  const chains = new Map(evmChains.map((connected) => [connected.chain.id, connected]));
  const nonEvmById = new Map(nonEvmChains.map((connected) => [connected.chain.id, connected]));
  return {
    evmChains,
    nonEvmChains,
    get: (chainId) => chains.get(chainId),
    nonEvm: (chainId) => nonEvmById.get(chainId),
    ...chainProfiles([...evmChains, ...nonEvmChains].map(({ chain }) => chain)),
  };
}

/** The configured facts of chains, without connections. @throws RangeError for a duplicate id */
export function chainProfiles(
  profiles: readonly (Chain | NonEvmChain)[],
): Pick<ChainDirectory, "profile" | "currency"> {
  const byId = new Map(profiles.map((chain) => [chain.id, chain]));
  const duplicate = profiles.find((chain) => byId.get(chain.id) !== chain);
  if (duplicate !== undefined) throw new RangeError(`chain id ${duplicate.id} is configured more than once`);
  const currencies = new Map(
    profiles.map((chain) => [
      chain.id,
      new Map([chain.native, ...chain.tokens].map((currency) => [currency.address, currency])),
    ]),
  );
  return {
    profile: (chainId) => byId.get(chainId),
    currency: (chainId, address) => currencies.get(chainId)?.get(address),
  };
}
