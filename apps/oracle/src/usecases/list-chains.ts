import type { OracleChainsAnswer } from "@causeway/wire";
import type { AttestedChains } from "../ports/attested-chains.ts";

/** The enabled chains: names, families and depositories, but no endpoints. */
export function chainList(chains: AttestedChains): OracleChainsAnswer {
  return {
    chains: [...chains.values()].map(({ chain: { name, vmType, depository } }) => ({
      id: name,
      vmType,
      ...(depository === undefined ? {} : { depository }),
    })),
  };
}
