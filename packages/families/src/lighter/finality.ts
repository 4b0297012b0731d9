import { final, refuted } from "../answer.ts";
import type { Evidence } from "../evidence.ts";

/**
 * The state of a Lighter transaction, by the number in its record: 1 is queued, 2 is in a block that may
 * still be reorged out (committed), 3 is final (executed), 4 and 5 were refused (failed, rejected). 0 is
 * refused according to Lighter's documentation, but pending according to a client library: it counts as
 * refused once it is in a block, and as undecided until then.
 */
export type TransactionState = "final" | "notFinal" | "failed";

/**
 * @param status as returned by Lighter; undocumented numbers are not final
 * @param blockHeight 0 if the transaction is not in a block
 */
export function transactionStateOf(status: bigint, blockHeight: bigint): TransactionState {
  if (status === 3n) return "final";
  if (status === 4n || status === 5n) return "failed";
  return status === 0n && blockHeight > 0n ? "failed" : "notFinal";
}

/** Seconds until a retry for an unsettled transaction; Lighter produces several blocks per second. */
export const RETRY_AFTER_SECONDS = 2;

/** Evidence of a settled transaction. @param transaction undefined if Lighter does not know it */
export function settledEvidence<T extends { readonly state: TransactionState }>(
  transaction: T | undefined,
): Evidence<T> {
  if (transaction === undefined) return { kind: "absent" };
  const { state }: { readonly state: TransactionState } = transaction;
  switch (state) {
    case "final":
      return final(transaction);
    case "failed":
      return refuted("Lighter refused the transaction");
    case "notFinal": {
      const reason = "Lighter has not settled the transaction yet";
      return { kind: "notFinal", reason, retryAfterSeconds: RETRY_AFTER_SECONDS };
    }
    default:
      state satisfies never;
      throw new TypeError("invariant violated: unknown settlement state");
  }
}
