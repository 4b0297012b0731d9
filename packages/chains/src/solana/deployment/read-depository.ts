import {
  buildDifference,
  hasData,
  recordIn,
  upgradeAuthorityIn,
  type DepositoryRecord,
} from "./program-accounts.ts";
import { programElf, type ProgramChain } from "./program-chain.ts";
import { buildAt, planDepository } from "./program-plan.ts";

/** A configured depository program as a cluster shows it. */
export type DepositoryFacts =
  | { readonly kind: "missing" }
  | {
      readonly kind: "deployed";
      /** How the program differs from this version's. */
      readonly difference: string | undefined;
      /** Undefined: none. */
      readonly upgradeAuthority: string | undefined;
      /** Undefined: not initialized. */
      readonly record: DepositoryRecord | undefined;
      /** Domain that the record must have. */
      readonly domain: DepositoryRecord["domain"];
    };

/** Reads the depository program of a chain from finalized state. @throws RpcFault */
export async function readDepository(
  { reads }: Pick<ProgramChain, "reads">,
  { program, chainName }: { readonly program: string; readonly chainName: string },
): Promise<DepositoryFacts> {
  const build = await buildAt(program, programElf("depository"));
  const { accounts, domain } = await planDepository(program, { chainName, owner: "", allocator: "" });
  const [found, programData, depository] = await reads.accounts(
    [program, build.programData, accounts.depository],
    "finalized",
  );
  if (!hasData(found)) return { kind: "missing" };
  return {
    kind: "deployed",
    difference: buildDifference(build, found, programData),
    upgradeAuthority: upgradeAuthorityIn(programData),
    record: recordIn(program, depository),
    domain,
  };
}
