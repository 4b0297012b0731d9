import type { ChainDirectory, ConnectedChain } from "../../ports/chains.ts";

/** Finds chains and currencies by id; every look-up is one or two map reads. */
export function createChainDirectory(all: readonly ConnectedChain[]): ChainDirectory {
  const chains = new Map(all.map((connected) => [connected.chain.id, connected]));
  const currencies = new Map(
    all.map(({ chain }) => [
      chain.id,
      new Map([chain.native, ...chain.tokens].map((currency) => [currency.address, currency])),
    ]),
  );
  return {
    all,
    get: (chainId) => chains.get(chainId),
    currency: (chainId, address) => currencies.get(chainId)?.get(address),
  };
}
