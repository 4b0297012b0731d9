import { AttestationError } from "../ports/attestation-error.ts";

/**
 * Resolves to the value if it arrives within `ms`; otherwise aborts the work by its signal.
 * @throws AttestationError upstream_unavailable on timeout, because only chain nodes and key services are
 * awaited
 */
export async function withTimeout<Value>(
  ms: number,
  start: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  // Hand-written, because a promise race and its cleanup cost more than some chain calls.
  return await new Promise((resolve, reject) => {
    const controller = new AbortController();
    const timer = setTimeout(() => {
      const timeoutError = new AttestationError(
        "upstream_unavailable",
        "chain nodes did not respond in time; try again",
      );
      controller.abort(timeoutError);
      reject(timeoutError);
    }, ms);
    start(controller.signal).then(
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
