import type { Execution, FamilyOf, HubChain } from "@causeway/attest";
import { executionDigester } from "@causeway/attest";
import { ServiceError, type Address, type AttestationHub, type Hex32 } from "@causeway/domain";
import { familyOf } from "@causeway/families";
import type { KnownChains } from "./settlement-services.port.ts";

/** The facts for verifying answers: accepted signers, the threshold, and the contract that is signed for. */
export interface Judge {
  readonly accepted: ReadonlySet<Address>;
  readonly threshold: number;
  readonly settlementKey: AttestationHub["settlementKey"];
  digestOf(execution: Execution): Hex32;
  readonly familyOf: FamilyOf;
  /** The chain as it is encoded in hub addresses. @throws ServiceError UNSUPPORTED_CHAIN */
  chainOf(name: string): HubChain;
}

/** The family of a configured chain, by name. */
export function familiesOf({
  evmChains,
  nonEvmChains,
}: Pick<KnownChains, "evmChains" | "nonEvmChains">): FamilyOf {
  const families = new Map([...evmChains, ...nonEvmChains].map(({ chain }) => [chain.name, familyOf(chain)]));
  return (name) => {
    const family = families.get(name);
    if (family === undefined)
      throw new ServiceError("UNSUPPORTED_CHAIN", `Chain ${name.slice(0, 64)} is not configured`);
    return family;
  };
}

export function judgeFor(
  hub: AttestationHub,
  { accepted, threshold }: { readonly accepted: ReadonlySet<Address>; readonly threshold: number },
  families: FamilyOf,
): Judge {
  return {
    accepted,
    threshold,
    settlementKey: hub.settlementKey,
    digestOf: executionDigester(hub),
    familyOf: families,
    chainOf: (name) => ({ name, vmType: families(name) }),
  };
}
