import { connectCalledChain, mappingEntries } from "@causeway/chains";
import { genericMappingAbi } from "@causeway/contracts";
import type { Address, AttestationHub } from "@causeway/domain";
import { encodeFunctionData } from "viem";
import type { HubMappings } from "./hub-mappings.port.ts";

/**
 * Upper bounds of the gas for setting entries; unused gas is not charged. Too little would leave entries
 * unset.
 */
const GAS = { transaction: 60_000n, entry: 160_000n, signature: 15_000n, byte: 40n };

/** Unused: this connection sends no transactions. */
const FEES = { minPriorityFeeWei: 0n, maxFeePerGasWei: 0n };

/**
 * The hub's nonce mappings through an RPC connection of their own.
 * @throws RpcFault from every method, of kind `wrongChain` when the endpoint serves another chain
 */
export function connectHubMappings(hub: AttestationHub, contract: Address): HubMappings {
  const { transport, close } = connectCalledChain({ ...hub, id: hub.chainId, fees: FEES });
  const entries = mappingEntries(transport, { contract, finality: hub.finality });
  return {
    contract,
    chainId: hub.chainId,
    entry: async (user, id) => await entries.entry(user, id),
    publish(entriesToSet, threshold) {
      const data = encodeFunctionData({
        abi: genericMappingAbi,
        functionName: "setEntries",
        args: [entriesToSet],
      });
      const gasLimit =
        GAS.transaction +
        BigInt(entriesToSet.length) * (GAS.entry + BigInt(threshold) * GAS.signature) +
        BigInt((data.length - 2) / 2) * GAS.byte;
      return { to: contract, data, gasLimit };
    },
    close,
  };
}
