import type { ConnectedChain } from "../../apps/api/src/ports/chains.ts";
import type { Services } from "../../apps/api/src/ports/services.ts";

/** The same services, with one of their chains described or answering otherwise. */
export function withChain(
  services: Services,
  connected: ConnectedChain,
  { chain = {}, connection = {} }: OtherChain,
): Services {
  const other = {
    ...connected,
    chain: { ...connected.chain, ...chain },
    connection: { ...connected.connection, ...connection },
  };
  const get: Services["chains"]["get"] = (id) => (id === other.chain.id ? other : services.chains.get(id));
  return { ...services, chains: { ...services.chains, get } };
}

interface OtherChain {
  readonly chain?: Partial<ConnectedChain["chain"]>;
  readonly connection?: Partial<ConnectedChain["connection"]>;
}
