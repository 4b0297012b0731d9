import type { VmType } from "@causeway/domain";

/** Family of a chain by its name. @throws what the caller wants thrown for a chain that it does not know. */
export type FamilyOf = (chain: string) => VmType;
