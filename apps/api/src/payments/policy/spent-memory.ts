import type { SpentMemory } from "./limits.port.ts";

interface Counted {
  readonly lane: string;
  readonly day: number;
  readonly usd: bigint;
}

/**
 * What this process has signed, by day. Rows that were changed or deleted in the database cannot lower it. A
 * process that starts again begins with nothing.
 */
export function spentMemory(): SpentMemory {
  let today = -1;
  const slots = new Map<string, Counted>();
  const sums = new Map<string, bigint>();
  return {
    add({ slotId, chainId, key, day, usd, maxUsd }) {
      if (day > today) {
        today = day;
        slots.clear();
        sums.clear();
      }
      const lane = `${chainId} ${key}`;
      const sum = sums.get(lane) ?? 0n;
      const before = slots.get(slotId);
      if (before !== undefined) return sum;
      if (sum + usd > maxUsd) return sum + usd;
      slots.set(slotId, { lane, day, usd });
      sums.set(lane, sum + usd);
      return sum + usd;
    },
    giveBack(slotId) {
      const counted = slots.get(slotId);
      if (counted === undefined) return;
      slots.delete(slotId);
      sums.set(counted.lane, (sums.get(counted.lane) ?? 0n) - counted.usd);
    },
  };
}
