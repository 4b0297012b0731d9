import { NATIVE_CURRENCY } from "@causeway/domain";
import type { Chain, NonEvmChain } from "@causeway/domain";
import type { CurrencyName } from "./request-history.port.ts";

/** Names of a chain's configured currencies. The wrapped native token has the native token's asset. */
export function currencyNamesOf(chain: Chain | NonEvmChain): CurrencyName[] {
  const { id, native, tokens, liquidity } = chain;
  return [native, ...tokens].map(({ address, id: asset, symbol }) => {
    const wrapsNative = address !== NATIVE_CURRENCY && address === liquidity?.wrappedNative;
    return { chainId: id, address, asset: wrapsNative ? native.id : asset, symbol, wrapsNative };
  });
}
