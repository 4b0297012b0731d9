import {
  allocatorAbi,
  allocatorBytecode,
  genericMappingAbi,
  genericMappingBytecode,
  hubAbi,
  hubBytecode,
  oracleAbi,
  oracleBytecode,
  oracleMultisigAbi,
  oracleMultisigBytecode,
} from "@causeway/contracts";
import { encodeDeployData, encodeFunctionData, parseEther, type Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { localAccount } from "./accounts.ts";
import { createdBy, deployInOrder, type Creation } from "./deploy-in-order.ts";
import { giveNative } from "./give-native.ts";
import { createLocalClient, sendPipelined, type NodeAddress } from "@causeway/testkit";

/** What stands on the local hub. */
export interface HubContracts {
  readonly hub: Address;
  readonly oracleMultisig: Address;
  readonly oracle: Address;
  readonly allocator: Address;
  readonly genericMapping: Address;
}

/** Known before anything is deployed. */
export const localHub: { readonly chainId: number; readonly name: string; readonly contracts: HubContracts } =
  {
    chainId: 72_100_339,
    name: "hub",
    contracts: {
      hub: createdBy(0),
      oracleMultisig: createdBy(1),
      oracle: createdBy(2),
      allocator: createdBy(3),
      genericMapping: createdBy(4),
    },
  };

/** Whose word the hub takes: `threshold` of the signers. */
export interface Quorum {
  readonly signers: readonly Address[];
  readonly threshold: number;
}

/** First of each role that the contracts know; they have no other. */
const role = 1n;

/**
 * Deploys the hub's contracts to a fresh local chain and gives each its role: the ledger listens to the
 * oracle contract, that to the quorum, and the record of payloads to the allocator.
 *
 * @throws LocalTransactionFailed when the chain is not fresh or a transaction reverts.
 */
export async function deployHub(node: NodeAddress, quorum: Quorum): Promise<void> {
  await deployInOrder(node, creations(quorum));
  const { hub, oracle, oracleMultisig, allocator } = localHub.contracts;
  const roles = [
    { label: "grant of the minter role", to: hub, holder: oracle },
    { label: "grant of the oracle role", to: oracle, holder: oracleMultisig },
    { label: "grant of the allocator role", to: allocator, holder: localAccount("allocator").address },
  ];
  const client = createLocalClient(node);
  const owner = privateKeyToAccount(localAccount("owner").privateKey);
  await giveNative(client, [{ address: owner.address, value: parseEther("1000") }]);
  const grants = roles.map(({ label, to, holder }) => ({
    label,
    to,
    // The function is the same in all three.
    data: encodeFunctionData({ abi: hubAbi, functionName: "grantRoles", args: [holder, role] }),
  }));
  await sendPipelined(client, owner, grants, 100_000n);
}

function creations({ signers, threshold }: Quorum): Creation[] {
  const owner = localAccount("owner").address;
  const { hub, oracleMultisig } = localHub.contracts;
  return [
    { label: "Hub", data: encodeDeployData({ abi: hubAbi, bytecode: hubBytecode, args: [owner] }) },
    {
      label: "OracleMultisig",
      data: encodeDeployData({
        abi: oracleMultisigAbi,
        bytecode: oracleMultisigBytecode,
        args: [owner, signers, BigInt(threshold)],
      }),
    },
    {
      label: "Oracle",
      data: encodeDeployData({
        abi: oracleAbi,
        bytecode: oracleBytecode,
        args: [owner, hub, "Oracle", "1"],
      }),
    },
    {
      label: "Allocator",
      data: encodeDeployData({
        abi: allocatorAbi,
        bytecode: allocatorBytecode,
        args: [owner, oracleMultisig],
      }),
    },
    {
      label: "GenericMapping",
      data: encodeDeployData({
        abi: genericMappingAbi,
        bytecode: genericMappingBytecode,
        args: [oracleMultisig],
      }),
    },
  ];
}
