import type { PriceSource, UsdPrice } from "./price-source.port.ts";

/**
 * Prices of one source, checked by a second one. A price is disputed when the second source contradicts it,
 * fails, or is too far behind: an outage must not lift a veto.
 * @param maxDivergenceBps maximum difference by price id, bps of the second source's price
 * @param maxLagMs how much older the second source's price may be
 * @param onFault receives failures of the second source
 */
export function createConfirmedPrices(
  primary: PriceSource,
  second: PriceSource,
  maxDivergenceBps: (priceId: string) => number,
  maxLagMs: number,
  onFault: (error: unknown) => void,
): PriceSource {
  return {
    name: `${primary.name}, confirmed by ${second.name}`,
    fetch: async (priceIds, signal) => {
      const [prices, confirming] = await Promise.all([
        primary.fetch(priceIds, signal),
        second.fetch(priceIds, signal).catch((error: unknown) => {
          onFault(error);
          return new Map<string, UsdPrice>();
        }),
      ]);
      return new Map(
        [...prices].map(([id, price]) => {
          const confirmingPrice = confirming.get(id);
          const isDisputed =
            confirmingPrice === undefined ||
            price.asOfMs - confirmingPrice.asOfMs > maxLagMs ||
            diverges(price.usd, confirmingPrice.usd, maxDivergenceBps(id));
          return [id, isDisputed ? { ...price, isDisputed } : price];
        }),
      );
    },
  };
}

/** Whether a price differs from a reference by more than `maxBps`, in bps of the reference. */
export function diverges(usd: bigint, reference: bigint, maxBps: number): boolean {
  const distance = usd > reference ? usd - reference : reference - usd;
  return distance * 10_000n > reference * BigInt(maxBps);
}
