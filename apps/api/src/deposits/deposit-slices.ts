import type { DepositFact } from "@causeway/chains";
import type { TooSmall } from "./too-small-deposits.ts";

/**
 * Limits of one commit. The chain's cursor is locked meanwhile, for tens of milliseconds: a deposit too small
 * to refund costs one row, any other one several statements.
 */
const MAX_DEPOSITS = 250;
const MAX_LOOKED_AT = 50;

export interface Slice<Fact> {
  readonly now: readonly Fact[];
  readonly later: readonly Fact[];
}

/** Cuts off what one commit stores. Only the last slice can be empty. */
export function sliceDeposits(facts: readonly DepositFact[], isTooSmall: TooSmall): Slice<DepositFact> {
  let lookedAt = 0;
  const end = facts.findIndex((fact, at) => {
    if (at === MAX_DEPOSITS || lookedAt === MAX_LOOKED_AT) return true;
    if (!isTooSmall(fact)) lookedAt += 1;
    return false;
  });
  return cut(facts, end);
}

/** The same for facts that cost one statement each. */
export function sliceEvenly<Fact>(facts: readonly Fact[]): Slice<Fact> {
  return cut(facts, facts.length > MAX_DEPOSITS ? MAX_DEPOSITS : -1);
}

function cut<Fact>(facts: readonly Fact[], end: number): Slice<Fact> {
  return end < 0 ? { now: facts, later: [] } : { now: facts.slice(0, end), later: facts.slice(end) };
}
