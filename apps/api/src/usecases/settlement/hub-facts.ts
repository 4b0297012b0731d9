import type { ExecutionDomain, FamilyOf } from "@causeway/attest";
import { executionDigester } from "@causeway/attest";
import type { Address, AttestationHub, Hex32 } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";
import type { Execution } from "../../ports/settlement.ts";

/** Chains of this service are of one family. */
export const FAMILY = "ethereum-vm";

/** What an answer is judged by: whose signatures count, how many are needed, and for which contract they must have been made. */
export interface Judge {
  readonly accepted: ReadonlySet<Address>;
  readonly threshold: number;
  readonly settlementKey: AttestationHub["settlementKey"];
  digestOf(execution: Execution): Hex32;
  readonly familyOf: FamilyOf;
}

/** The judge for a hub. `chainNames`: chains that this service knows. */
export function judgeFor(
  hub: AttestationHub,
  { accepted, threshold }: { readonly accepted: ReadonlySet<Address>; readonly threshold: number },
  chainNames: ReadonlySet<string>,
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
    familyOf: (name) => {
      if (!chainNames.has(name))
        throw new ServiceError("UNSUPPORTED_CHAIN", `no chain is called ${name.slice(0, 64)}`);
      return FAMILY;
    },
  };
}

export const hubChainOf = (name: string) => ({ name, vmType: FAMILY }) as const;
