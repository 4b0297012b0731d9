import { NATIVE_CURRENCY, type Currency } from "@causeway/domain";
import { formatAddress } from "@causeway/families";
import type { ChainDirectory } from "../chains/chains.port.ts";
import type { ListedCurrency } from "@causeway/wire";

/** A currency in the format of token lists. */
export function toListedCurrency(
  { profile }: Pick<ChainDirectory, "profile">,
  currency: Currency,
): ListedCurrency {
  const chain = profile(currency.chainId);
  const { id, chainId, address, symbol, name, decimals, logoUri, verified } = currency;
  return {
    id,
    chainId,
    address: chain === undefined ? address : formatAddress(chain, address),
    symbol,
    name,
    decimals,
    vmType: chain?.vmType ?? "evm",
    metadata: {
      logoURI: logoUri ?? "",
      verified,
      isNative: address === (chain?.native.address ?? NATIVE_CURRENCY),
    },
  };
}
