import type { VmType } from "@causeway/domain";

/** The family of a chain by its name. @throws the caller's error for an unknown chain */
export type FamilyOf = (chain: string) => VmType;
