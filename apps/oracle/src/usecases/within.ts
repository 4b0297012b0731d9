import { AttestationError } from "../ports/attestation-error.ts";

/**
 * The value, if it comes within `ms`. What was started learns of its end by the signal.
 * @throws AttestationError upstream_unavailable when it does not: what is waited for is always a chain's node
 * or a key service
 */
export async function within<Value>(
  ms: number,
  start: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  // By hand: a race of promises and its clean-up cost more than many a question to a chain.
  return await new Promise((resolve, reject) => {
    const over = new AbortController();
    const timer = setTimeout(() => {
      const late = new AttestationError(
        "upstream_unavailable",
        "chain nodes did not respond in time; try again",
      );
      over.abort(late);
      reject(late);
    }, ms);
    start(over.signal).then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
