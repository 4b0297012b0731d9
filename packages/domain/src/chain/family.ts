/**
 * The chain families: the name of a family's folders, and its name in configuration files, orders and
 * attestations (`vmType`). To add a family, add it here: the compiler then names every record that lacks it.
 */
export const FAMILY_VM_TYPES = {
  evm: "ethereum-vm",
  solana: "solana-vm",
  bitcoin: "bitcoin-vm",
  hyperliquid: "hyperliquid-vm",
  lighter: "lighter-vm",
  tron: "tron-vm",
} as const;

export type FamilyId = keyof typeof FAMILY_VM_TYPES;
export type VmType = (typeof FAMILY_VM_TYPES)[FamilyId];

export const FAMILY_IDS = Object.keys(FAMILY_VM_TYPES) as readonly FamilyId[];
export const VM_TYPES: readonly VmType[] = Object.values(FAMILY_VM_TYPES);

/** A value for each family, by the family's name on the wire. */
export function byVmType<T>(values: Readonly<Record<FamilyId, T>>): Readonly<Record<VmType, T>> {
  return Object.fromEntries(FAMILY_IDS.map((id) => [FAMILY_VM_TYPES[id], values[id]])) as Record<VmType, T>;
}

/** The family with this name on the wire. */
export function familyIdOf(vm: VmType): FamilyId {
  return IDS[vm];
}

const IDS = Object.fromEntries(FAMILY_IDS.map((id) => [FAMILY_VM_TYPES[id], id])) as Readonly<
  Record<VmType, FamilyId>
>;
