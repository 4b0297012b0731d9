import { checkedTransport, createRpcTransport, mappingEntries } from "@causeway/chains";
import { genericMappingAbi } from "@causeway/contracts";
import type { Address, AttestationHub } from "@causeway/domain";
import { encodeFunctionData } from "viem";
import type { HubMappings } from "./hub-mappings.port.ts";

/**
 * Upper bounds of the gas for setting entries; unused gas is not charged. Too little would leave entries
 * unset.
 */
const GAS = { transaction: 60_000n, entry: 160_000n, signature: 15_000n, byte: 40n };

/**
 * The hub's nonce mappings through an RPC connection of their own.
 * @throws RpcFault from every method, of kind `wrongChain` when the endpoint serves another chain
 */
export function connectHubMappings(hub: AttestationHub, contract: Address): HubMappings {
  const raw = createRpcTransport({ url: hub.rpcUrl, connections: 2 });
  const { transport } = checkedTransport(raw, hub.chainId);
  const entries = mappingEntries(transport, { contract, finality: hub.finality });
  return {
    contract,
    chainId: hub.chainId,
    entry: async (user, id) => await entries.entry(user, id),
    publish(all, threshold) {
      const data = encodeFunctionData({ abi: genericMappingAbi, functionName: "setEntries", args: [all] });
      const gasLimit =
        GAS.transaction +
        BigInt(all.length) * (GAS.entry + BigInt(threshold) * GAS.signature) +
        BigInt((data.length - 2) / 2) * GAS.byte;
      return { to: contract, data, gasLimit };
    },
    close: async () => await raw.close(),
  };
}
