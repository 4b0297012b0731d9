import { loadFixedPrices } from "@causeway/config";
import { join } from "node:path";
import type { Address } from "viem";
import { localDeployment } from "./deploy.ts";
import { repositoryRoot } from "@causeway/testkit";

/** A token of a pool. */
export interface PoolToken {
  readonly symbol: string;
  readonly address: Address;
  readonly decimals: number;
  /** USD with 18 decimals. */
  readonly usd: bigint;
}

/** Liquidity of a v3 pool in a price range. */
export interface PoolPosition {
  /** Whole USD of each token, on its side of the price. */
  readonly usdPerSide: number;
  /** Distance from the price to either bound, in ticks of 0.01 % each. Undefined: the full range. */
  readonly widthTicks?: number;
}

/** A v3 pool of the local chains. Its price follows from the fixed prices. */
export interface LocalV3Pool {
  readonly pair: readonly [PoolToken, PoolToken];
  /** Hundredths of a bp. */
  readonly fee: number;
  readonly positions: readonly PoolPosition[];
}

/** A v2 pair of the local chains, at the same prices. */
export interface LocalV2Pair {
  readonly pair: readonly [PoolToken, PoolToken];
  readonly usdPerSide: number;
}

/** No price source has it; only its pool reveals its value. */
const oddUsd = 4n * 10n ** 18n;

/**
 * Pools of every local chain, priced by `configs/prices.local.json`.
 *
 * @throws ConfigError if that file is invalid
 */
export function localPools(): { readonly v3: readonly LocalV3Pool[]; readonly v2: readonly LocalV2Pair[] } {
  const prices = loadFixedPrices({ environment: "local", configsDir: join(repositoryRoot, "configs") });
  const token = (symbol: string, usd: bigint | undefined): PoolToken => {
    const deployedToken = localDeployment.tokens.find((candidate) => candidate.symbol === symbol);
    if (deployedToken === undefined || usd === undefined)
      throw new RangeError(`${symbol} is not a token with a price`);
    return { ...deployedToken, usd };
  };
  const weth = token("WETH", prices.get("ethereum"));
  const usdc = token("USDC", prices.get("usd-coin"));
  const tst = token("TST", prices.get("causeway-test-token"));
  const odd = token("ODD", oddUsd);
  return {
    v3: [
      // Deep and concentrated around the price: a swap of some $10,000 crosses one or two ranges.
      {
        pair: [weth, usdc],
        fee: 500,
        positions: [
          { usdPerSide: 8_000_000 },
          { usdPerSide: 100_000, widthTicks: 200 },
          { usdPerSide: 4_000, widthTicks: 20 },
        ],
      },
      { pair: [weth, usdc], fee: 3_000, positions: [{ usdPerSide: 6_000_000 }] },
      { pair: [tst, weth], fee: 3_000, positions: [{ usdPerSide: 2_000_000 }] },
      { pair: [tst, usdc], fee: 10_000, positions: [{ usdPerSide: 1_000_000 }] },
      // Shallow: some $100 move the price visibly, some $1,000 cross ranges.
      {
        pair: [odd, tst],
        fee: 10_000,
        positions: [
          { usdPerSide: 20_000 },
          { usdPerSide: 5_000, widthTicks: 2_000 },
          { usdPerSide: 500, widthTicks: 400 },
        ],
      },
    ],
    v2: [{ pair: [usdc, tst], usdPerSide: 1_000_000 }],
  };
}
