import type { DepositEvidence } from "./evidence.ts";

export interface DepositoryReading {
  readonly depository: string;
  readonly deposits: readonly DepositEvidence[];
}

/**
 * Which depository's deposits of one transaction are attested: the first that received something for an order
 * or by its own call, else the first that received anything. Never those of two: each depository's deposits
 * are then numbered and divided into parts by themselves, so that no change of `additionalDepositories` can
 * move a deposit into another part, where it would be minted again.
 *
 * @param readings the present depository first
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
