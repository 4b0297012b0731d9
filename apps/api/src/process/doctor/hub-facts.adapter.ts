import { hubAbi, oracleAbi, oracleMultisigAbi } from "@causeway/contracts";
import type { Address } from "@causeway/domain";
import type { SettlementHub } from "../../config/settlement.ts";
import { chainReads, lower, undefinedIfReverted } from "./contracts-facts.adapter.ts";
import type { HubFacts } from "./hub-check.ts";

/** Reads the hub at one of its endpoints. @throws RpcFault or an error of viem around it */
export async function readHub(
  url: string,
  { hub, multisig }: SettlementHub,
  solver: Address | undefined,
): Promise<HubFacts> {
  const { reads, close } = chainReads(url, hub.chainId);
  const { client, hasCode } = reads;
  const oracle = { abi: oracleAbi, address: hub.oracleAddress } as const;
  const ledger = { abi: hubAbi, address: hub.hubAddress } as const;
  const quorum = { abi: oracleMultisigAbi, address: multisig } as const;
  const addresses = Object.entries({
    hubAddress: hub.hubAddress,
    oracleAddress: hub.oracleAddress,
    oracleMultisigAddress: multisig,
    ...(hub.allocatorAddress && { allocatorAddress: hub.allocatorAddress }),
    ...(hub.genericMappingAddress && { genericMappingAddress: hub.genericMappingAddress }),
  });
  try {
    const [contracts, oracleHub, hubRoles, oracleRoles, signers, threshold, solverWei] = await Promise.all([
      Promise.all(
        addresses.map(async ([field, address]) => ({ field, address, hasCode: await hasCode(address) })),
      ),
      undefinedIfReverted(client.readContract({ ...oracle, functionName: "HUB" })),
      undefinedIfReverted(
        client.readContract({ ...ledger, functionName: "rolesOf", args: [oracle.address] }),
      ),
      undefinedIfReverted(client.readContract({ ...oracle, functionName: "rolesOf", args: [multisig] })),
      undefinedIfReverted(client.readContract({ ...quorum, functionName: "signers" })),
      undefinedIfReverted(client.readContract({ ...quorum, functionName: "threshold" })),
      // Without a solver there is no balance to judge: any positive number passes.
      solver === undefined ? 1n : client.getBalance({ address: solver }),
    ]);
    return {
      contracts,
      oracleHub: lower(oracleHub),
      canOracleMint: hasRole(hubRoles),
      isMultisigOracle: hasRole(oracleRoles),
      signers: signers?.map((signer) => signer.toLowerCase() as Address),
      threshold: threshold === undefined ? undefined : Number(threshold),
      solverWei,
    };
  } finally {
    await close();
  }
}

/** Each of these contracts has one role, the lowest bit. */
function hasRole(roles: bigint | undefined): boolean | undefined {
  return roles === undefined ? undefined : (roles & 1n) === 1n;
}
