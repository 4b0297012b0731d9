import { sha256, toHex } from "@causeway/domain";
import type { AccountFact } from "@causeway/families/solana";
import {
  LOADER_BYTES,
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
      /** How the program differs from this version's and from former ones that work in the same way. */
      readonly difference: string | undefined;
      /** Undefined: the program cannot be upgraded. */
      readonly upgradeAuthority: string | undefined;
      /** Undefined: not initialized. */
      readonly record: DepositoryRecord | undefined;
      /** Domain that the record must have. */
      readonly domain: DepositoryRecord["domain"];
    };

/** Programs of former versions, which differ only in `initialize`. */
const FORMER_BUILDS = [
  { bytes: 22_112, sha256: "0xe59064c4f1ca488fb5e522c9945a4667a186082af625953a56507c0516de7414" },
] as const;

function isFormerBuild(programData: AccountFact | undefined): boolean {
  const content = programData?.data.subarray(LOADER_BYTES.programDataHeader) ?? new Uint8Array();
  return FORMER_BUILDS.some(
    ({ bytes, sha256: hash }) =>
      toHex(sha256(content.subarray(0, bytes))) === hash &&
      content.subarray(bytes).every((byte) => byte === 0),
  );
}

/** Reads the depository program of a chain from finalized state. @throws RpcFault */
export async function readDepository(
  { reads }: Pick<ProgramChain, "reads">,
  { program, chainName }: { readonly program: string; readonly chainName: string },
): Promise<DepositoryFacts> {
  const build = await buildAt(program, programElf("depository"));
  const { accounts, domain } = await planDepository(program, { chainName, owner: undefined, allocator: "" });
  const [programAccount, programData, depository] = await reads.accounts(
    [program, build.programData, accounts.depository],
    "finalized",
  );
  if (!hasData(programAccount)) return { kind: "missing" };
  return {
    kind: "deployed",
    difference: isFormerBuild(programData) ? undefined : buildDifference(build, programAccount, programData),
    upgradeAuthority: upgradeAuthorityIn(programData),
    record: recordIn(program, depository),
    domain,
  };
}
