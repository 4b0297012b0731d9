import type { ExecutionDomain, FamilyOf, HubChain } from "@causeway/attest";
import { executionDigester } from "@causeway/attest";
import type { Address, AttestationHub, Hex32 } from "@causeway/domain";
import { familyOf, ServiceError } from "@causeway/domain";
import type { KnownChains } from "./settlement-services.port.ts";
import type { Execution } from "./settlement.port.ts";

/**
 * What an answer is judged by: whose signatures count, how many are needed, and for which contract they must
 * have been made.
 */
export interface Judge {
  readonly accepted: ReadonlySet<Address>;
  readonly threshold: number;
  readonly settlementKey: AttestationHub["settlementKey"];
  digestOf(execution: Execution): Hex32;
  readonly familyOf: FamilyOf;
  /** A chain as it enters addresses on the hub. @throws ServiceError UNSUPPORTED_CHAIN */
  chainOf(name: string): HubChain;
}

/** Family of a chain by its name, among those that this service knows. */
export function familiesOf({ all, rails }: Pick<KnownChains, "all" | "rails">): FamilyOf {
  const families = new Map([...all, ...rails].map(({ chain }) => [chain.name, familyOf(chain)]));
  return (name) => {
    const family = families.get(name);
    if (family === undefined)
      throw new ServiceError("UNSUPPORTED_CHAIN", `Chain ${name.slice(0, 64)} is not configured`);
    return family;
  };
}

/** The judge for a hub and the chains that this service knows. */
export function judgeFor(
  hub: AttestationHub,
  { accepted, threshold }: { readonly accepted: ReadonlySet<Address>; readonly threshold: number },
  families: FamilyOf,
): Judge {
  const domain: ExecutionDomain = {
    ...hub.domain,
    chainId: hub.chainId,
    verifyingContract: hub.oracleAddress,
  };
  return {
    accepted,
    threshold,
    settlementKey: hub.settlementKey,
    digestOf: executionDigester(domain),
    familyOf: families,
    chainOf: (name) => ({ name, vmType: families(name) }),
  };
}
