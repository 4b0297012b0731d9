import type { Hex } from "@causeway/domain";
import type { ConnectedNonEvmChain } from "./chains.port.ts";

/** Adds the capabilities that the adapter of a non-EVM chain declares. */
export function withCapabilities<T extends ConnectedNonEvmChain>(parts: T): T {
  const { connection, pulse } = parts;
  return {
    ...parts,
    ...(connection.isRateLimited && { isRateLimited: true }),
    ...(connection.costDependsOnRecipient && {
      async costOfPaying(currency: Hex, account: Hex): Promise<bigint> {
        const usual = pulse.paymentCost(currency);
        // Anyone can ask for quotes, and a request to each endpoint would use up all their rate limits.
        const recipientCost = await connection.paymentCost(currency, account, "lead");
        return recipientCost > usual ? recipientCost : usual;
      },
    }),
  };
}
