import { nonceMappingSlot, readNonceMappingData } from "@causeway/attest";
import { mappingEntries } from "@causeway/chains";
import type { NonceMappings, RpcTransport } from "@causeway/chains";
import type { Address, AttestationHub } from "@causeway/domain";

/**
 * Nonce mappings of Hyperliquid wallets, read from the hub.
 * @param transport must refuse to call nodes of another chain
 */
export function createNonceMappings(
  { finality }: Pick<AttestationHub, "finality">,
  contract: Address,
  transport: RpcTransport,
): NonceMappings {
  const entries = mappingEntries(transport, { contract, finality });
  return {
    async of(chainName, wallet, nonce) {
      const { user, id } = nonceMappingSlot(chainName, wallet, nonce);
      const { data, setAt, asOf } = await entries.entry(user, id);
      const content = readNonceMappingData(data);
      return { entry: content && { ...content, setAt }, asOf };
    },
  };
}
