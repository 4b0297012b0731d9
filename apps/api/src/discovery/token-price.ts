import { ServiceError } from "@causeway/domain";
import { currencyForm, parseCurrency } from "@causeway/families";
import type { ChainDirectory } from "../chains/chains.port.ts";
import type { PriceBook } from "../markets/prices/price-source.port.ts";
import type { TokenBook } from "../markets/tokens/token-book.port.ts";
import { findEnd } from "./find-chain.ts";
import { poolPrice, type PoolPriceServices } from "./pool-price.ts";

export interface TokenPriceServices extends PoolPriceServices {
  readonly chains: Pick<ChainDirectory, "get" | "nonEvm" | "currency">;
  readonly tokens: TokenBook;
  readonly prices: PriceBook;
}

/**
 * USD of a whole unit, 18 decimals: from the price source for configured currencies, otherwise from pools.
 * @throws ServiceError UNSUPPORTED_CHAIN, INVALID_ADDRESS, UNSUPPORTED_CURRENCY for a currency without a
 * price; PRICE_FETCH_FAILED, RPC_HTTP_ERROR for one that could not be read now
 */
export async function tokenPrice(
  services: TokenPriceServices,
  chainId: number,
  text: string,
): Promise<bigint> {
  const { chain } = findEnd(services.chains, chainId);
  const address = parseCurrency(chain, text);
  if (address === undefined)
    throw new ServiceError("INVALID_ADDRESS", `address must be a ${currencyForm(chain)}`, {
      field: "address",
    });
  const configured = services.chains.currency(chainId, address);
  if (configured !== undefined) return await services.prices.usd(configured);
  // Chains without contracts have no other tokens.
  if (chain.contracts === undefined)
    throw unsupported(`address is not a supported currency of ${chain.displayName}`);
  const token = await services.tokens.token(chainId, address, true);
  if (token === undefined) throw unsupported(`address is not a token contract on ${chain.displayName}`);
  const usd = await poolPrice(services, chain, token);
  if (usd === undefined) throw unsupported(`No price of ${token.symbol} available`);
  return usd;
}

function unsupported(message: string): ServiceError {
  return new ServiceError("UNSUPPORTED_CURRENCY", message, { field: "address" });
}
