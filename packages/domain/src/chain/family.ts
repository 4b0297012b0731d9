/**
 * The chain families: the name of a family's folders, and its name in configuration files, orders and
 * attestations (`vmType`). To add a family, add a line here and run `pnpm family-lists`: the compiler then
 * names every file that is missing.
 */
export const FAMILY_VM_TYPES = {
  evm: "ethereum-vm",
  solana: "solana-vm",
  bitcoin: "bitcoin-vm",
  hyperliquid: "hyperliquid-vm",
  lighter: "lighter-vm",
  tron: "tron-vm",
} as const;

/** API names of the non-EVM families on which the API makes payments. */
export const NON_EVM_FAMILIES = {
  svm: FAMILY_VM_TYPES.solana,
  bvm: FAMILY_VM_TYPES.bitcoin,
  hypevm: FAMILY_VM_TYPES.hyperliquid,
} as const;

/** API names of all families on which the API makes payments. */
export const API_FAMILIES = { evm: FAMILY_VM_TYPES.evm, ...NON_EVM_FAMILIES } as const;

/** A non-EVM family, by its API name. */
export type NonEvmVmType = keyof typeof NON_EVM_FAMILIES;

export type FamilyId = keyof typeof FAMILY_VM_TYPES;
export type VmType = (typeof FAMILY_VM_TYPES)[FamilyId];

export const FAMILY_IDS = Object.keys(FAMILY_VM_TYPES) as readonly FamilyId[];
export const VM_TYPES: readonly VmType[] = Object.values(FAMILY_VM_TYPES);

/** The family with this name on the wire. */
export function familyIdOf(vm: VmType): FamilyId {
  return IDS[vm];
}

const IDS = Object.fromEntries(FAMILY_IDS.map((id) => [FAMILY_VM_TYPES[id], id])) as Readonly<
  Record<VmType, FamilyId>
>;
