import { parseAddress, ServiceError } from "@causeway/domain";
import type { ChainDirectory } from "../../ports/chains.ts";
import type { PriceBook } from "../../ports/price-source.ts";
import type { TokenBook } from "../../ports/token-book.ts";
import { findChain } from "./find-chain.ts";
import { poolPrice, type PoolPriceServices } from "./pool-price.ts";

export interface TokenPriceServices extends PoolPriceServices {
  readonly chains: Pick<ChainDirectory, "get" | "currency">;
  readonly tokens: TokenBook;
  readonly prices: PriceBook;
}

/**
 * USD of a whole unit, 18 decimals: from the price source for configured currencies, from pools for the others.
 * @throws ServiceError UNSUPPORTED_CHAIN, INVALID_ADDRESS, UNSUPPORTED_CURRENCY for what has no price; PRICE_FETCH_FAILED, RPC_HTTP_ERROR for one that could not be read now
 */
export async function tokenPrice(
  services: TokenPriceServices,
  chainId: number,
  text: string,
): Promise<bigint> {
  const { chain } = findChain(services.chains, chainId);
  const address = parseAddress(text);
  if (address === undefined)
    throw new ServiceError("INVALID_ADDRESS", "address must be a 20-byte address", { field: "address" });
  const configured = services.chains.currency(chainId, address);
  if (configured !== undefined) return await services.prices.usd(configured);
  const token = await services.tokens.token(chainId, address);
  if (token === undefined) throw unsupported("No token answers at this address");
  const usd = await poolPrice(services, chain, token);
  if (usd === undefined) throw unsupported(`There is no price of ${token.symbol}`);
  return usd;
}

function unsupported(message: string): ServiceError {
  return new ServiceError("UNSUPPORTED_CURRENCY", message, { field: "address" });
}
