import type { AttestationChain } from "@causeway/domain";

/** All depositories of a chain, the current one first. */
export function depositoriesOf({
  depository,
  additionalDepositories,
}: Pick<AttestationChain, "depository" | "additionalDepositories">): readonly string[] {
  return depository === undefined ? additionalDepositories : [depository, ...additionalDepositories];
}

/** @throws TypeError if no depository is configured; deposits are not judged on such chains */
export function presentFirst<T>(depositories: readonly T[]): readonly [present: T, ...former: T[]] {
  const [present, ...former] = depositories;
  if (present === undefined)
    throw new TypeError("invariant violated: deposits of a chain without a depository");
  return [present, ...former];
}
