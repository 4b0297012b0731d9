import type { Hex } from "@causeway/domain";
import type { ConnectedRail } from "./chains.port.ts";

/** Adds what the adapter of a non-EVM chain declares about it. */
export function withCapabilities<T extends ConnectedRail>(parts: T): T {
  const { rail, pulse } = parts;
  return {
    ...parts,
    ...(rail.isRateLimited && { isRateLimited: true }),
    ...(rail.costsByRecipient && {
      async costOfPaying(currency: Hex, account: Hex): Promise<bigint> {
        const usual = pulse.paymentCost(currency);
        const own = await rail.paymentCost(currency, account);
        return own > usual ? own : usual;
      },
    }),
  };
}
