import {
  blocksRecipientAbi,
  blocksRecipientBytecode,
  feeOnTransferAbi,
  feeOnTransferBytecode,
  refusesApprovalChangeAbi,
  refusesApprovalChangeBytecode,
  returnsFalseAbi,
  returnsFalseBytecode,
  returnsNothingAbi,
  returnsNothingBytecode,
} from "@causeway/contracts";
import { encodeDeployData, type Address } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { localAccount } from "./accounts.ts";
import {
  createLocalClient,
  LocalTransactionFailed,
  sendPipelined,
  type NodeAddress,
} from "@causeway/testkit";

/** Tokens with unusual behavior that some real tokens have. */
export interface HostileTokens {
  readonly feeOnTransfer: Address;
  readonly returnsFalse: Address;
  readonly returnsNothing: Address;
  readonly blocksRecipient: Address;
  readonly refusesApprovalChange: Address;
}

/** Deploys the hostile tokens after `deployLocal`. Only tests need them. */
export async function deployHostileTokens(node: NodeAddress): Promise<HostileTokens> {
  const creations = {
    feeOnTransfer: encodeDeployData({ abi: feeOnTransferAbi, bytecode: feeOnTransferBytecode }),
    returnsFalse: encodeDeployData({ abi: returnsFalseAbi, bytecode: returnsFalseBytecode }),
    returnsNothing: encodeDeployData({ abi: returnsNothingAbi, bytecode: returnsNothingBytecode }),
    blocksRecipient: encodeDeployData({ abi: blocksRecipientAbi, bytecode: blocksRecipientBytecode }),
    refusesApprovalChange: encodeDeployData({
      abi: refusesApprovalChangeAbi,
      bytecode: refusesApprovalChangeBytecode,
    }),
  };
  const calls = Object.entries(creations).map(([label, data]) => ({ label: `creation of ${label}`, data }));
  const from = privateKeyToAccount(localAccount("deployer").privateKey);
  const receipts = await sendPipelined(createLocalClient(node), from, calls, 4_000_000n);
  const addressOf = (index: number): Address => {
    const address = receipts[index]?.contractAddress;
    if (address === undefined || address === null)
      throw new LocalTransactionFailed(`${calls[index]?.label} has no contract address`);
    return address;
  };
  return {
    feeOnTransfer: addressOf(0),
    returnsFalse: addressOf(1),
    returnsNothing: addressOf(2),
    blocksRecipient: addressOf(3),
    refusesApprovalChange: addressOf(4),
  };
}
