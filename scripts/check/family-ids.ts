import { FAMILY_IDS, FAMILY_VM_TYPES, type FamilyId } from "@causeway/domain";

/** The list of chain families: the only file that may name all of them. */
const LIST = "packages/domain/src/chain/family.ts";

/** How often a file names a chain family that it does not belong to, by its path. */
export function familyIdsOutOfPlace(
  files: readonly { readonly path: string; readonly text: string }[],
): Readonly<Record<string, number>> {
  const counts = files.map(({ path, text }) => {
    const foreign = FAMILY_IDS.filter((family) => path !== LIST && !belongsTo(path, family));
    const count = foreign.reduce((sum, family) => sum + timesNamed(text, family), 0);
    return [path, count] as const;
  });
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

/** In the family's folder, or named after it: `bitcoin/connection.ts`, `bitcoin.ts`, `bitcoin-facts.ts`. */
function belongsTo(path: string, family: FamilyId): boolean {
  return path.split("/").some((part) => part.split(/[-.]/)[0] === family);
}

/** Matches the id as a string literal, or its entry in `FAMILY_VM_TYPES`. */
function timesNamed(text: string, family: FamilyId): number {
  const names = [`"${FAMILY_VM_TYPES[family]}"`, `FAMILY_VM_TYPES.${family}`];
  return names.reduce((sum, name) => sum + text.split(name).length - 1, 0);
}
