/** Where a chain's deposits are made, in the family's format (lower case on EVM chains). */
export interface Depositories {
  /** Undefined: deposits and withdrawals cannot be attested. */
  readonly depository: string | undefined;
  /** Former depositories, whose deposits still count. */
  readonly additionalDepositories: readonly string[];
}

/** All depositories of a chain, the current one first. */
export function depositoriesOf({ depository, additionalDepositories }: Depositories): readonly string[] {
  return depository === undefined ? additionalDepositories : [depository, ...additionalDepositories];
}

/** @throws TypeError if no depository is configured; deposits are not judged on such chains */
export function currentFirst<T>(depositories: readonly T[]): readonly [current: T, ...former: T[]] {
  const [current, ...former] = depositories;
  if (current === undefined)
    throw new TypeError("invariant violated: deposits of a chain without a depository");
  return [current, ...former];
}
