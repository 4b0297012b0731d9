import { ONE_USD } from "@causeway/domain";
import { awaitTogether } from "../../db/await-together.ts";
import type { Services } from "../../db/services.port.ts";
import type { Tx } from "../../db/unit-of-work.port.ts";

/** USD with 18 decimals by price id. */
type Exposures = ReadonlyMap<string, bigint>;

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
  return await tx.priceExposure.add(priceId, usd, maxUsdOf(enginePolicy), clock.nowMs());
}

/**
 * {@link addExposure} for each asset of several trades. The first trade of a minute may exceed the limit, but
 * several together may not. If it returns an asset, the caller must roll back the transaction, because other
 * assets may have been counted.
 * @returns the price id of an asset whose limit would be exceeded; undefined if all were counted
 */
export async function addExposures(
  services: Pick<Services, "clock" | "enginePolicy">,
  tx: Pick<Tx, "priceExposure">,
  trades: readonly Exposures[],
): Promise<string | undefined> {
  const exceeded = findExceeded(services, trades);
  if (exceeded !== undefined) return exceeded;
  // Always in the same order, so that two commits that lock two assets cannot deadlock.
  const sums = sumsOf(trades).toSorted((a, b) => (a.priceId < b.priceId ? -1 : 1));
  const added = await awaitTogether(
    sums.map(async ({ priceId, usd }) => await addExposure(services, tx, priceId, usd)),
  );
  return sums[added.indexOf(false)]?.priceId;
}

/** @returns the price id of an asset whose limit several trades together exceed in any minute */
export function findExceeded(
  { enginePolicy }: Pick<Services, "enginePolicy">,
  trades: readonly Exposures[],
): string | undefined {
  const maxUsd = maxUsdOf(enginePolicy);
  return sumsOf(trades).find(({ count, usd }) => count > 1 && usd > maxUsd)?.priceId;
}

function sumsOf(trades: readonly Exposures[]) {
  const byAsset = Map.groupBy(
    trades.flatMap((exposed) => [...exposed]),
    ([priceId]) => priceId,
  );
  return [...byAsset].map(([priceId, parts]) => ({
    priceId,
    usd: parts.reduce((sum, [, part]) => sum + part, 0n),
    count: parts.length,
  }));
}

/**
 * Which of several trades each fit, on their own, into what is left of this minute's limits. Counts none:
 * {@link addExposures} still refuses trades that exceed a limit together or with concurrent ones.
 * @returns for each trade, in order, whether it fits
 */
export async function fitExposures(
  { clock, enginePolicy }: Pick<Services, "clock" | "enginePolicy">,
  tx: Pick<Tx, "priceExposure">,
  trades: readonly Exposures[],
): Promise<readonly boolean[]> {
  const priceIds = new Set(trades.flatMap((exposed) => [...exposed.keys()]));
  if (priceIds.size === 0) return trades.map(() => true);
  const maxUsd = maxUsdOf(enginePolicy);
  const totals = await tx.priceExposure.totals([...priceIds], clock.nowMs());
  return trades.map((exposed) =>
    [...exposed].every(([priceId, usd]) => {
      const total = totals.get(priceId);
      return total === undefined || total + usd <= maxUsd;
    }),
  );
}

function maxUsdOf({ maxPriceExposureUsd }: Services["enginePolicy"]): bigint {
  return BigInt(maxPriceExposureUsd) * ONE_USD;
}
