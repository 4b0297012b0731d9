import type { Hex } from "@causeway/domain";
import type { ConnectedNonEvmChain } from "./chains.port.ts";

/** Adds what the adapter of a non-EVM chain declares about it. */
export function withCapabilities<T extends ConnectedNonEvmChain>(parts: T): T {
  const { connection, pulse } = parts;
  return {
    ...parts,
    ...(connection.isRateLimited && { isRateLimited: true }),
    ...(connection.costDependsOnRecipient && {
      async costOfPaying(currency: Hex, account: Hex): Promise<bigint> {
        const usual = pulse.paymentCost(currency);
        const own = await connection.paymentCost(currency, account);
        return own > usual ? own : usual;
      },
    }),
  };
}
