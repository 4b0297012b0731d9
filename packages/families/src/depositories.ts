import type { AttestationChain } from "@causeway/domain";

/** All depositories of a chain, the present one first. */
export function depositoriesOf({
  depository,
  additionalDepositories,
}: Pick<AttestationChain, "depository" | "additionalDepositories">): readonly string[] {
  return depository === undefined ? additionalDepositories : [depository, ...additionalDepositories];
}

/** @throws TypeError: deposits are judged only where a depository is configured */
export function presentFirst<T>(depositories: readonly T[]): readonly [present: T, ...former: T[]] {
  const [present, ...former] = depositories;
  if (present === undefined)
    throw new TypeError("invariant violated: deposits of a chain without a depository");
  return [present, ...former];
}
