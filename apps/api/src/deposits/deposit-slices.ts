import type { DepositFact } from "@causeway/chains";
import type { IsTooSmall } from "./too-small-deposits.ts";

/**
 * Maximum number of deposits in one commit. Each slice costs the same few statements, so larger ones are
 * cheaper; but the chain's cursor is locked in the meantime, and no fill starts before the commit.
 */
const MAX_DEPOSITS = 250;
/**
 * Maximum number of deposits in one commit that name the same order and are not too small to refund: each
 * waits for the transition that the previous one causes, so each costs several statements.
 */
const MAX_PER_ORDER = 25;

export interface Slice<Fact> {
  readonly now: readonly Fact[];
  readonly later: readonly Fact[];
}

/** Splits off the part that one commit stores. Only the last slice can be empty. */
export function sliceDeposits(facts: readonly DepositFact[], isTooSmall: IsTooSmall): Slice<DepositFact> {
  const countByOrder = new Map<DepositFact["id"], number>();
  const end = facts.findIndex((fact, index) => {
    if (index === MAX_DEPOSITS) return true;
    if (fact.id === undefined || isTooSmall(fact)) return false;
    const count = countByOrder.get(fact.id) ?? 0;
    countByOrder.set(fact.id, count + 1);
    return count === MAX_PER_ORDER;
  });
  return splitAt(facts, end);
}

/** Splits off the part that one commit stores, for facts that only become rows. */
export function sliceEvenly<Fact>(facts: readonly Fact[]): Slice<Fact> {
  return splitAt(facts, facts.length > MAX_DEPOSITS ? MAX_DEPOSITS : -1);
}

function splitAt<Fact>(facts: readonly Fact[], end: number): Slice<Fact> {
  return end < 0 ? { now: facts, later: [] } : { now: facts.slice(0, end), later: facts.slice(end) };
}
