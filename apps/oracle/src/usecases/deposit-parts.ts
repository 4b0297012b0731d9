import type { DepositEvidence } from "@causeway/chains";

/** Deposits per execution. The hub mints all or none of them in one transaction: about 40,000 gas each. */
export const DEPOSITS_PER_PART = 64;

/**
 * Splits a transaction's deposits into parts, each with its own execution; nearly every transaction has one
 * part. Any contract can emit a Transfer to the depository, so Transfers without an order form parts of their
 * own. The split depends on the transaction alone.
 */
export function depositParts<Deposit extends Pick<DepositEvidence, "isBare">>(
  deposits: readonly Deposit[],
): readonly (readonly Deposit[])[] {
  const withOrder = deposits.filter(({ isBare }) => isBare !== true);
  const bare = deposits.filter(({ isBare }) => isBare === true);
  return [...splitIntoParts(withOrder), ...splitIntoParts(bare)];
}

function splitIntoParts<Deposit>(deposits: readonly Deposit[]): readonly (readonly Deposit[])[] {
  const parts: (readonly Deposit[])[] = [];
  for (let start = 0; start < deposits.length; start += DEPOSITS_PER_PART)
    parts.push(deposits.slice(start, start + DEPOSITS_PER_PART));
  return parts;
}
