import { ONE_USD } from "@causeway/domain";
import type { Services } from "../../db/services.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";

/**
 * Adds a trade to this minute's exposure to the price of one asset (`PRICE_EXPOSURE_USD_PER_MINUTE`).
 * @param usd USD with 18 decimals
 * @returns false when the limit would be exceeded; nothing was added then
 */
export async function addExposure(
  { clock, enginePolicy }: Pick<Services, "clock" | "enginePolicy">,
  tx: Pick<Tx, "priceExposure">,
  priceId: string,
  usd: bigint,
): Promise<boolean> {
  const maxUsd = BigInt(enginePolicy.maxPriceExposureUsd) * ONE_USD;
  return await tx.priceExposure.add(priceId, usd, maxUsd, clock.nowMs());
}

/**
 * {@link addExposure} for each asset. If it returns an asset, the caller must roll back the transaction,
 * because other assets may have been counted.
 * @returns the price id of the asset whose limit would be exceeded; undefined if all were counted
 */
export async function addExposures(
  services: Pick<Services, "clock" | "enginePolicy">,
  tx: Pick<Tx, "priceExposure">,
  exposed: ReadonlyMap<string, bigint>,
): Promise<string | undefined> {
  // Always in the same order, so that two commits that lock two assets cannot deadlock.
  for (const [priceId, usd] of [...exposed].sort(([a], [b]) => (a < b ? -1 : 1)))
    if (!(await addExposure(services, tx, priceId, usd))) return priceId;
  return undefined;
}
