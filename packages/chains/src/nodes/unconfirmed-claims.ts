import type { Answer } from "./query-all.ts";

/** Maximum time for other endpoints to confirm a claim. Endpoints lag behind each other for a few seconds. */
const MAX_UNCONFIRMED_MS = 30_000;
/** Maximum number of subjects to remember. */
const MAX_SUBJECTS = 10_000;

/** Numbers that one endpoint shows but a quorum has not reached, such as a used nonce. */
export interface UnconfirmedClaims<E> {
  /**
   * Endpoints whose number a quorum has not reached for 30 s. Each is returned at most once in that time.
   * @param subject what the numbers are about
   * @param agreed the number that a quorum shows
   */
  unconfirmed(subject: string, agreed: number, answers: readonly Answer<E, number>[]): readonly E[];
}

/** @param now ms */
export function createUnconfirmedClaims<E>(now: () => number): UnconfirmedClaims<E> {
  const claims = new Map<string, Map<E, { readonly count: number; readonly sinceMs: number }>>();
  return {
    unconfirmed: (subject, agreed, answers) => {
      const previous = claims.get(subject);
      const nowMs = now();
      const current = new Map<E, { readonly count: number; readonly sinceMs: number }>();
      const late: E[] = [];
      for (const { endpoint, value } of answers) {
        if (value <= agreed) continue;
        const claim = previous?.get(endpoint);
        const isOpen = claim !== undefined && claim.count > agreed;
        const isLate = isOpen && nowMs - claim.sinceMs >= MAX_UNCONFIRMED_MS;
        if (isLate) late.push(endpoint);
        current.set(endpoint, isOpen && !isLate ? claim : { count: value, sinceMs: nowMs });
      }
      const [oldest] = claims.keys();
      claims.delete(subject);
      if (current.size === 0) return late;
      if (claims.size >= MAX_SUBJECTS && oldest !== undefined) claims.delete(oldest);
      claims.set(subject, current);
      return late;
    },
  };
}
