import type { ConnectedChain } from "../../apps/api/src/chains/chains.port.ts";
import type { WorkerServices } from "../../apps/api/src/db/services.port.ts";

/** The same services, with the configuration or the connection of one chain changed. */
export function withChain(
  services: WorkerServices,
  connected: ConnectedChain,
  { chain = {}, connection = {} }: ChainChange,
): WorkerServices {
  const changed = {
    ...connected,
    chain: { ...connected.chain, ...chain },
    connection: { ...connected.connection, ...connection },
  };
  const get: WorkerServices["chains"]["get"] = (id) =>
    id === changed.chain.id ? changed : services.chains.get(id);
  return { ...services, chains: { ...services.chains, get } };
}

interface ChainChange {
  readonly chain?: Partial<ConnectedChain["chain"]>;
  readonly connection?: Partial<ConnectedChain["connection"]>;
}
