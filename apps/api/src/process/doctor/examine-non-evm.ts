import { connectForProgram, PROGRAM_VM_TYPE, readDepository } from "@causeway/chains/solana-deployment";
import type { NonEvmChainConfig } from "@causeway/config";
import type { Hex } from "@causeway/domain";
import { decodeAddress } from "@causeway/families";
import { endpointsOf } from "./chain-facts.adapter.ts";
import { findingsOf, hostOf, type Finding } from "./finding.ts";
import { gatherFacts } from "./gather.ts";
import { isUsable, judgeNonEvmAccount, judgeNonEvmEndpoints, type NonEvmEndpoint } from "./non-evm-check.ts";
import { readNonEvmAccount, readNonEvmEndpoint } from "./non-evm-facts.adapter.ts";
import { judgeProgram } from "./program-check.ts";
import type { Subjects } from "./subjects.ts";

/** Checks the endpoints of a non-EVM chain, the solver's account, and the program on Solana. */
export async function examineNonEvmChain(
  { isLocal, accounts }: Subjects,
  config: Subjects["nonEvmChains"][number],
): Promise<readonly Finding[]> {
  const { name, native, blockTimeSeconds } = config.chain;
  if (accounts === undefined)
    return [findingsOf("chain", name).skipped("the accounts of the service are not configured")];
  const endpoints = await Promise.all(
    endpointsOf(config.chain).map(async (url, index) => ({
      host: hostOf(url),
      gathered: await gatherFacts(() => readNonEvmEndpoint(config, index, accounts)),
    })),
  );
  const { rpcQuorum: quorum } = config.attestation;
  const expected = { name, nativeSymbol: native.symbol, blockTimeSeconds, quorum };
  const findings = judgeNonEvmEndpoints(expected, endpoints);
  const usable = endpoints.findIndex(isUsable);
  if (usable === -1)
    return [...findings, findingsOf("account.balance", `solver on ${name}`).skipped("no endpoint answered")];
  const [account, program] = await Promise.all([
    gatherFacts(() => readNonEvmAccount(config, usable, accounts)),
    EXAMINERS.get(config.attestation.vmType)?.(config, endpoints, { isLocal, solver: accounts.solana }),
  ]);
  return [...findings, ...judgeNonEvmAccount(expected, account), ...(program ?? [])];
}

type Examine = (
  config: NonEvmChainConfig,
  endpoints: readonly NonEvmEndpoint[],
  service: { readonly isLocal: boolean; readonly solver: Hex | undefined },
) => Promise<readonly Finding[]>;

/** Further checks by chain family. Families without contracts or programs have none. */
const EXAMINERS: ReadonlyMap<string, Examine> = new Map([[PROGRAM_VM_TYPE, examineProgram]]);

/** Reads the depository program at every usable endpoint. */
async function examineProgram(
  { chain, attestation }: NonEvmChainConfig,
  endpoints: readonly NonEvmEndpoint[],
  { isLocal, solver }: Parameters<Examine>[2],
): Promise<readonly Finding[]> {
  if (solver === undefined) return [];
  const account = (bytes: Hex): string => decodeAddress(PROGRAM_VM_TYPE, bytes);
  const program = account(chain.depository);
  const urls = endpointsOf(chain);
  const usable = endpoints.flatMap((endpoint, index) =>
    isUsable(endpoint) ? [{ host: endpoint.host, url: urls[index] ?? "" }] : [],
  );
  const shown = await Promise.all(
    usable.map(async ({ host, url }) => ({
      host,
      gathered: await gatherFacts(async () => {
        const cluster = await connectForProgram([url], attestation.solana?.genesisHash);
        try {
          return await readDepository(cluster, { program, chainName: chain.name });
        } finally {
          await cluster.close();
        }
      }),
    })),
  );
  const { depositoryRoles: roles } = chain;
  const holder = (bytes: Hex | undefined): string | undefined => bytes && account(bytes);
  return judgeProgram(
    {
      chain: chain.name,
      program,
      isLocal,
      quorum: attestation.rpcQuorum,
      solver: account(solver),
      roles: roles && {
        upgradeAuthority: holder(roles.upgradeAuthority),
        owner: holder(roles.owner),
        allocator: account(roles.allocator),
      },
    },
    shown,
  );
}
