import type { Currency } from "@causeway/domain";
import { NATIVE_CURRENCY } from "@causeway/domain";
import type { ListedCurrency } from "@causeway/wire";

/** A currency in the words of token lists. */
export function toListedCurrency(currency: Currency): ListedCurrency {
  const { id, chainId, address, symbol, name, decimals, logoUri, verified } = currency;
  return {
    id,
    chainId,
    address,
    symbol,
    name,
    decimals,
    vmType: "evm",
    metadata: { logoURI: logoUri ?? "", verified, isNative: address === NATIVE_CURRENCY },
  };
}
