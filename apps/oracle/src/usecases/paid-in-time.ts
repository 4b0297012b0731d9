import { CLOCK_SKEW_SECONDS, headerSkewSeconds } from "@causeway/domain";
import type { AttestationChain } from "@causeway/domain";
import { rejected } from "../ports/attestation-error.ts";
import type { SettledInput } from "./settled-inputs.ts";

/** A payment and the block that holds it. */
interface PlacedPayment {
  readonly chain: Pick<AttestationChain, "name" | "vmType">;
  /** Unix seconds. */
  readonly timestamp: bigint;
  /** Where block times are not in the order of blocks. */
  readonly height?: bigint | undefined;
}

/**
 * That a payment answers its deposits and was not there much before them. On one chain the order of blocks
 * decides: by height where block times are not in order (Bitcoin), else by time. Across chains, and for a
 * lead on one chain, times may be wrong by as much as the chains' headers allow.
 * @param leadSeconds how much older than its deposits the payment may be: more than the clocks' difference
 * only for fills, where the network permits it
 * @throws AttestationError rejected.
 */
export function mustFollowDeposits(
  inputs: readonly (Pick<SettledInput, "timestamp" | "height"> & {
    readonly chain: PlacedPayment["chain"];
  })[],
  payment: PlacedPayment,
  field: string,
  leadSeconds = CLOCK_SKEW_SECONDS,
): void {
  for (const deposit of inputs)
    if (!isInOrder(deposit, payment, leadSeconds))
      throw rejected(
        field,
        `payment on ${payment.chain.name} is older than the deposit on ${deposit.chain.name}`,
      );
}

function isInOrder(deposit: PlacedPayment, payment: PlacedPayment, leadSeconds: number): boolean {
  const isSameChain = deposit.chain.name === payment.chain.name;
  const lead = isSameChain ? leadSeconds - CLOCK_SKEW_SECONDS : leadSeconds;
  const skew = headerSkewSeconds(deposit.chain.vmType) + headerSkewSeconds(payment.chain.vmType);
  if (isSameChain && deposit.height !== undefined && payment.height !== undefined) {
    if (payment.height >= deposit.height) return true;
    if (lead === 0) return false;
  }
  return payment.timestamp + BigInt(lead + skew) >= deposit.timestamp;
}
