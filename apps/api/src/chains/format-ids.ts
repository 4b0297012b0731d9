import type { TxHash } from "@causeway/domain";
import { formatAddress, formatTransactionId } from "@causeway/families";
import type { ChainDirectory } from "./chains.port.ts";
import type { AddressFormat } from "./address-format.port.ts";

/** Ids of a chain that is no longer configured stay in hex. */
export function addressFormatOf(chains: Pick<ChainDirectory, "profile">): AddressFormat {
  return {
    address: (chainId, bytes) => {
      const chain = chains.profile(chainId);
      return chain === undefined ? bytes : formatAddress(chain, bytes);
    },
    transaction: (chainId, id) => {
      const chain = chains.profile(chainId);
      return chain === undefined ? id : formatTransactionId(chain, id);
    },
  };
}

/** Formats several transaction ids of one chain. */
export function formatTransactionIds(
  format: AddressFormat,
  chainId: number,
  ids: readonly TxHash[],
): readonly string[] {
  return ids.length === 0 ? ids : ids.map((id) => format.transaction(chainId, id));
}
