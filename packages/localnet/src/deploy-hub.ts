import { planHub, plannedAddress, type DeploymentPlan } from "@causeway/contracts/deploy";
import type { Address } from "viem";
import { localAccount } from "./accounts.ts";
import { deployInOrder, plannedCreations } from "./deploy-in-order.ts";
import type { NodeAddress } from "@causeway/testkit";

/** The signers for the hub, of which `threshold` must sign. */
export interface Quorum {
  readonly signers: readonly Address[];
  readonly threshold: number;
}

/** The contracts of a hub. */
export interface HubContracts {
  readonly hub: Address;
  readonly oracleMultisig: Address;
  readonly oracle: Address;
  readonly allocator: Address;
  readonly genericMapping: Address;
}

/** The chain of the local hub. */
export const localHub: { readonly chainId: number; readonly name: string } = {
  chainId: 72_100_339,
  name: "hub",
};

/** Addresses of the hub contracts for this quorum, known before deployment. */
export function hubContracts(quorum: Quorum): HubContracts {
  const plan = localPlan(quorum);
  return {
    hub: plannedAddress(plan, "Hub"),
    oracleMultisig: plannedAddress(plan, "OracleMultisig"),
    oracle: plannedAddress(plan, "Oracle"),
    allocator: plannedAddress(plan, "Allocator"),
    genericMapping: plannedAddress(plan, "GenericMapping"),
  };
}

/**
 * Deploys the hub's contracts with their roles to a fresh local chain, as `operator deploy` does.
 *
 * @throws LocalTransactionFailed if the chain is not fresh or a transaction reverts
 */
export async function deployHub(node: NodeAddress, quorum: Quorum): Promise<HubContracts> {
  await deployInOrder(node, plannedCreations(localPlan(quorum)));
  return hubContracts(quorum);
}

function localPlan({ signers, threshold }: Quorum): DeploymentPlan {
  return planHub({
    owner: localAccount("owner").address,
    allocator: localAccount("allocator").address,
    oracles: signers,
    threshold,
    domain: { name: "Oracle", version: "1" },
  });
}
