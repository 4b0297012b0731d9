import { rejected } from "../ports/attestation-error.ts";
import type { SettledInput } from "./settled-inputs.ts";

/**
 * Two chains do not have one clock, and a rollup whose sequencer catches up writes past times: a payment on another chain may seem so much older than the
 * deposit that it answers. On one chain times are in order.
 */
export const CLOCK_SKEW_SECONDS = 60n;

/** That a payment answers its deposits and was not there before them. @throws AttestationError rejected. */
export function mustFollowDeposits(
  inputs: readonly SettledInput[],
  payment: { readonly chain: string; readonly timestamp: bigint },
  field: string,
): void {
  for (const { chain, timestamp } of inputs) {
    const skew = chain.name === payment.chain ? 0n : CLOCK_SKEW_SECONDS;
    if (payment.timestamp + skew < timestamp)
      throw rejected(field, `the payment on ${payment.chain} is older than the deposit on ${chain.name}`);
  }
}
