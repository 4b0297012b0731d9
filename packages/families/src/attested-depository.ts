import type { DepositEvidence } from "./evidence.ts";

export interface DepositoryReading {
  readonly depository: string;
  readonly deposits: readonly DepositEvidence[];
}

/**
 * The depository whose deposits of a transaction are attested: the first that received something for an order
 * or by its own call, otherwise the first that received anything. Only one depository counts: otherwise a
 * change of `additionalDepositories` could move a deposit into another part, where it would be minted again.
 *
 * @param readings the current depository first
 */
export function attestedDepository<Reading extends DepositoryReading>(
  readings: readonly [Reading, ...Reading[]],
): Reading {
  return (
    readings.find(({ deposits }) => deposits.some(({ isBare }) => isBare !== true)) ??
    readings.find(({ deposits }) => deposits.length > 0) ??
    readings[0]
  );
}
