import { CLOCK_SKEW_SECONDS } from "@causeway/domain";
import { rejected } from "../ports/attestation-error.ts";
import type { SettledInput } from "./settled-inputs.ts";

/**
 * That a payment answers its deposits and was not there much before them. On one chain times are in order: there a lead counts only as far as it is more than the
 * clocks of two chains may differ.
 * @param leadSeconds how much older than its deposits the payment may be: more than the clocks' difference only for fills, where the network permits it
 * @throws AttestationError rejected.
 */
export function mustFollowDeposits(
  inputs: readonly SettledInput[],
  payment: { readonly chain: string; readonly timestamp: bigint },
  field: string,
  leadSeconds = CLOCK_SKEW_SECONDS,
): void {
  for (const { chain, timestamp } of inputs) {
    const lead = BigInt(chain.name === payment.chain ? leadSeconds - CLOCK_SKEW_SECONDS : leadSeconds);
    if (payment.timestamp + lead < timestamp)
      throw rejected(field, `the payment on ${payment.chain} is older than the deposit on ${chain.name}`);
  }
}
