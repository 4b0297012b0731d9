import { AttestationError } from "../ports/attestation-error.ts";

const RETRY_AFTER_SECONDS = 1;

/** Attestations that may be under way at once. */
export interface CallBounds {
  /** Of one API key; without keys, of one address. */
  readonly perCaller: number;
  readonly total: number;
}

/**
 * Counts the attestations under way, so that no caller alone can use up the oracle's nodes and key service.
 * @returns a function that takes a place for a caller and returns how to give it back
 * @throws (the returned function) AttestationError rate_limited for a caller over its bound, overloaded above
 * the total
 */
export function boundCalls({ perCaller, total }: CallBounds): (caller: string) => () => void {
  const underWay = new Map<string, number>();
  let all = 0;
  return (caller) => {
    const own = underWay.get(caller) ?? 0;
    if (own >= perCaller)
      throw new AttestationError(
        "rate_limited",
        `too many concurrent attestations of this caller (limit ${perCaller}); try again in ${RETRY_AFTER_SECONDS} s`,
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    if (all >= total)
      throw new AttestationError(
        "overloaded",
        `too many concurrent attestations on this oracle (limit ${total}); try again in ${RETRY_AFTER_SECONDS} s`,
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    underWay.set(caller, own + 1);
    all++;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      all--;
      const left = (underWay.get(caller) ?? 1) - 1;
      if (left === 0) underWay.delete(caller);
      else underWay.set(caller, left);
    };
  };
}
