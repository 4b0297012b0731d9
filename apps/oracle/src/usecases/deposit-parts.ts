import type { DepositEvidence } from "@causeway/chains";

/** Deposits of one execution. The hub mints all of them or none, in one transaction: about 40 000 gas each. */
export const DEPOSITS_PER_PART = 64;

/**
 * The deposits of a transaction in parts, each of which is an execution of its own. Nearly every transaction is one part.
 *
 * Anybody can put any number of deposits beside somebody's: none may keep that one from being attested. And any contract can emit a Transfer to the
 * depository: beside deposits that were made as such, Transfers that name no order form parts of their own, so that they are signed only for those who ask.
 *
 * The division follows from the transaction alone. Oracles that divided differently would mint a deposit under two keys.
 */
export function depositParts<Deposit extends Pick<DepositEvidence, "isBare">>(
  deposits: readonly Deposit[],
): readonly (readonly Deposit[])[] {
  const made = deposits.filter(({ isBare }) => isBare !== true);
  const bare = deposits.filter(({ isBare }) => isBare === true);
  return [...partsOf(made), ...partsOf(bare)];
}

function partsOf<Deposit>(deposits: readonly Deposit[]): readonly (readonly Deposit[])[] {
  const parts: (readonly Deposit[])[] = [];
  for (let at = 0; at < deposits.length; at += DEPOSITS_PER_PART)
    parts.push(deposits.slice(at, at + DEPOSITS_PER_PART));
  return parts;
}
