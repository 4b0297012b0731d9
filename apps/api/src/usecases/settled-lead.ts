import type { EnginePolicy } from "../ports/engine-policy.ts";

/** A fill's block may be dated before the moment at which it was accepted here, and a deposit's block after the one at which it is seen: clocks differ. */
const CLOCKS_MS = 120_000;

/** How much later than the acceptance of a fast fill its deposit may come and still be settled, ms; undefined: nothing is settled here, so nothing binds. */
export function settledLeadMs({ fillLeadMs }: Pick<EnginePolicy, "fillLeadMs">): number | undefined {
  return fillLeadMs === undefined ? undefined : Math.max(fillLeadMs - CLOCKS_MS, 0);
}
