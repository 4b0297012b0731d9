import { AttestationError } from "../ports/attestation-error.ts";

const RETRY_AFTER_SECONDS = 1;

/** Maximum number of attestations in progress. */
export interface CallBounds {
  /** Per API key or, without keys, per address. */
  readonly perCaller: number;
  readonly total: number;
}

/**
 * Limits attestations in progress, so that one caller cannot use up the oracle's nodes and key service.
 * @returns a function that admits a call and returns its release function
 * @throws (the returned function) AttestationError rate_limited for a caller over its limit, overloaded above
 * the total
 */
export function limitConcurrentCalls({ perCaller, total }: CallBounds): (caller: string) => () => void {
  const inFlight = new Map<string, number>();
  let totalCalls = 0;
  return (caller) => {
    const callerCalls = inFlight.get(caller) ?? 0;
    if (callerCalls >= perCaller)
      throw new AttestationError(
        "rate_limited",
        `too many concurrent attestations of this caller (limit ${perCaller}); try again in ${RETRY_AFTER_SECONDS} s`,
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    if (totalCalls >= total)
      throw new AttestationError(
        "overloaded",
        `too many concurrent attestations on this oracle (limit ${total}); try again in ${RETRY_AFTER_SECONDS} s`,
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    inFlight.set(caller, callerCalls + 1);
    totalCalls++;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      totalCalls--;
      const remaining = (inFlight.get(caller) ?? 1) - 1;
      if (remaining === 0) inFlight.delete(caller);
      else inFlight.set(caller, remaining);
    };
  };
}
