import type { Address } from "@causeway/domain";
import type { HubChain } from "./hub.port.ts";

/** The hub with only these of its signers; all of them if undefined. */
export function restrictSigners(hub: HubChain, signers: readonly Address[] | undefined): HubChain {
  if (signers === undefined) return hub;
  const allowed = new Set(signers);
  return {
    ...hub,
    async signers() {
      const accepted = await hub.signers();
      return { ...accepted, signers: new Set([...accepted.signers].filter((signer) => allowed.has(signer))) };
    },
  };
}
