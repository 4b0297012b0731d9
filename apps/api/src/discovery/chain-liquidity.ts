import { amountToUsdDown, formatUsd, type Currency } from "@causeway/domain";
import { formatAddress } from "@causeway/families";
import type { ChainLiquidityAnswer } from "@causeway/wire";
import type { ChainDirectory, AnyConnectedChain } from "../chains/chains.port.ts";
import type { PriceBook } from "../markets/prices/price-source.port.ts";
import type { Reservations } from "../markets/quote.port.ts";
import { findEnd } from "./find-chain.ts";

export interface ChainLiquidityServices {
  readonly chains: Pick<ChainDirectory, "get" | "nonEvm">;
  readonly prices: PriceBook;
  readonly reservations: Reservations;
}

/**
 * The solver's funds available for new fills on one chain.
 * @throws ServiceError UNSUPPORTED_CHAIN; RPC_HTTP_ERROR, PRICE_FETCH_FAILED when no fresh value is known
 */
export async function chainLiquidity(
  services: ChainLiquidityServices,
  chainId: number,
): Promise<ChainLiquidityAnswer> {
  const connected = findEnd(services.chains, chainId);
  const bridged = [connected.chain.native, ...connected.chain.tokens].filter(
    ({ supportsBridging }) => supportsBridging,
  );
  const liquidity = await Promise.all(
    bridged.map(async (currency) => {
      const free = freeBalance(services.reservations, connected, currency);
      const priceUsd = await services.prices.usd(currency);
      return {
        chainId,
        currencyId: currency.id,
        symbol: currency.symbol,
        address: formatAddress(connected.chain, currency.address),
        decimals: currency.decimals,
        balance: free.toString(),
        amountUsd: formatUsd(amountToUsdDown(free, { decimals: currency.decimals, priceUsd })),
      };
    }),
  );
  return { liquidity };
}

/**
 * The solver's balance minus pending payments, base units.
 * @throws ServiceError RPC_HTTP_ERROR
 */
export function freeBalance(
  reservations: Reservations,
  connected: AnyConnectedChain,
  { address }: Currency,
): bigint {
  const free =
    connected.pulse.solverBalance(address).amount - reservations.reserved(connected.chain.id, address);
  // Reservations may be slightly older than the balance.
  return free > 0n ? free : 0n;
}
