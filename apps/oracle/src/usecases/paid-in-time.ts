import { CLOCK_SKEW_SECONDS } from "@causeway/domain";
import { headerSkewSeconds, type ConfiguredChain } from "@causeway/families";
import { rejected } from "../ports/attestation-error.ts";
import type { SettledInput } from "./settled-inputs.ts";

/** A payment and its block. */
interface PlacedPayment {
  readonly chain: Pick<ConfiguredChain, "name" | "vmType">;
  /** Unix seconds. */
  readonly timestamp: bigint;
  /** Set if block times do not follow block order. */
  readonly height?: bigint | undefined;
}

/**
 * Requires that a payment does not precede its deposits by much. Within one chain the block order decides: by
 * height where block times are unordered (Bitcoin), else by time. Across chains, or with a lead, times may be
 * off by the tolerance of the chains' headers.
 * @param leadSeconds how much earlier than its deposits the payment may be; above the clock tolerance only
 * for fills, where the network permits it
 * @throws AttestationError rejected
 */
export function assertFollowsDeposits(
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
