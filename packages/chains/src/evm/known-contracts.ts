import {
  allocatorAbi,
  approvalProxyAbi,
  depositoryAbi,
  hubAbi,
  multicall3Abi,
  oracleAbi,
  oracleMultisigAbi,
  receiverAbi,
  requestAttestationVerifierAbi,
  routerAbi,
  transferErrorsAbi,
} from "@causeway/contracts";
import { createKnownAbis, type Address, type Chain, type KnownAbis } from "@causeway/domain";

/** Names for addresses in traces on this chain: those of standard contracts and our own. */
export function knownContractsOf({ contracts }: Pick<Chain, "contracts">): KnownAbis {
  const lowerCased = (...addresses: readonly Address[]): readonly Address[] =>
    addresses.map((address) => address.toLowerCase() as Address);
  const { depository, formerDepositories = [] } = contracts;
  return createKnownAbis([
    { name: "Depository", abi: depositoryAbi, addresses: lowerCased(depository, ...formerDepositories) },
    { name: "Router", abi: routerAbi, addresses: lowerCased(contracts.router) },
    { name: "ApprovalProxy", abi: approvalProxyAbi, addresses: lowerCased(contracts.approvalProxy) },
    { name: "Receiver", abi: receiverAbi, addresses: lowerCased(contracts.serviceReceiver) },
    { name: "Multicall3", abi: multicall3Abi, addresses: lowerCased(contracts.multicall3) },
    { name: "Allocator", abi: allocatorAbi },
    { name: "Hub", abi: hubAbi },
    { name: "Oracle", abi: oracleAbi },
    { name: "OracleMultisig", abi: oracleMultisigAbi },
    { name: "RequestAttestationVerifier", abi: requestAttestationVerifierAbi },
    { name: undefined, abi: transferErrorsAbi },
  ]);
}
