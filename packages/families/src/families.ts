import { familyIdOf, type FamilyId, type VmType } from "@causeway/domain";
import type { FamilyEntry } from "./chain-entry.ts";
import * as list from "./list.ts";

/** Configuration that only chains of one family have. */
export type FamilyFacts = { readonly [F in FamilyId]: ReturnType<(typeof list)[F]["facts"]> };

export type FactsOf<F extends FamilyId> = FamilyFacts[F];

/** Every family by its name. A family's libraries are loaded only when a chain of it is configured. */
export const families: { readonly [F in FamilyId]: FamilyEntry<F, FactsOf<F>> } = list;

/** The family with this name on the wire. */
export function familyOfVm(vm: VmType): FamilyEntry<FamilyId, unknown> {
  return families[familyIdOf(vm)];
}

/**
 * Seconds by which a family's block timestamps may be off, if more than CLOCK_SKEW_SECONDS; otherwise 0.
 */
export function headerSkewSeconds(vm: VmType): number {
  return familyOfVm(vm).headerSkewSeconds ?? 0;
}
