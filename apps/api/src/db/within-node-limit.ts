import { RateLimitShareExceeded } from "@causeway/chains";
import type { NonEvmChain } from "@causeway/domain";
import { ServiceError } from "@causeway/domain";

/**
 * Asks a chain something on behalf of a client.
 * @throws ServiceError SERVICE_UNAVAILABLE with the retry time while clients' share of the endpoint's rate
 * limit is used up
 */
export async function withinNodeLimit<T>(
  chain: Pick<NonEvmChain, "displayName">,
  field: string,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (!(cause instanceof RateLimitShareExceeded)) throw cause;
    const { reason, retryAfterSeconds } = cause;
    throw new ServiceError(
      "SERVICE_UNAVAILABLE",
      `The node of ${chain.displayName} is at its request limit: ${reason}`,
      {
        field,
        retryAfterSeconds,
        cause,
      },
    );
  }
}
