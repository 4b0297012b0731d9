import type { ChainProfile, Currency } from "@causeway/domain";
import { pow10, ServiceError } from "@causeway/domain";
import type { LiquiditySource, PoolUsd } from "../markets/liquidity/liquidity.port.ts";

export interface PoolPriceServices {
  readonly poolUsd: PoolUsd;
  readonly liquidity: Pick<LiquiditySource, "exactIn">;
}

/**
 * USD of a whole unit (18 decimals) by the pools of its chain; undefined when they have no price.
 * @throws ServiceError RPC_HTTP_ERROR when the pools could not be read
 */
export async function poolPrice(
  { poolUsd, liquidity }: PoolPriceServices,
  chain: Pick<ChainProfile, "id" | "liquidity">,
  token: Currency,
): Promise<bigint | undefined> {
  const usd = poolUsd(token);
  const connector = chain.liquidity?.connectors.find((address) => address !== token.address);
  if (usd !== undefined || connector === undefined) return usd;
  try {
    // Pools that were never requested are not cached yet. Requesting a swap waits until they are read.
    await liquidity.exactIn(
      {
        chainId: chain.id,
        tokenIn: token.address,
        tokenOut: connector,
        included: new Set(chain.liquidity?.sources.map(({ name }) => name)),
        excluded: new Set(),
        maxHops: 2,
        shouldQueryExternal: false,
      },
      pow10(token.decimals),
    );
  } catch (cause) {
    throw new ServiceError(
      "RPC_HTTP_ERROR",
      `The swap pools of ${token.symbol} could not be read; try again`,
      {
        field: "address",
        cause,
      },
    );
  }
  return poolUsd(token);
}
