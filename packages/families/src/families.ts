import { familyIdOf, type FamilyId, type VmType } from "@causeway/domain";
import type { FamilyEntry } from "./chain-entry.ts";
import * as list from "./list.ts";

/** Configuration that only chains of one family have. */
export type FamilyFacts = { readonly [F in FamilyId]: ReturnType<(typeof list)[F]["facts"]> };

export type FactsOf<F extends FamilyId> = FamilyFacts[F];

/** Every family by its name. Their libraries are loaded when a chain is configured, and not before. */
export const families: { readonly [F in FamilyId]: FamilyEntry<F, FactsOf<F>> } = list;

/** The family with this name on the wire. */
export function familyOfVm(vm: VmType): FamilyEntry<FamilyId, unknown> {
  return families[familyIdOf(vm)];
}

/**
 * Seconds by which a chain's block timestamps may be off beyond CLOCK_SKEW_SECONDS.
 */
export function headerSkewSeconds(vm: VmType): number {
  return familyOfVm(vm).headerSkewSeconds ?? 0;
}
