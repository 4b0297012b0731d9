/** An unknown field of a request whose name resembles that of a known field. */
export interface NearMiss {
  readonly field: string;
  readonly suggestion: string;
}

/** Maximum number of unknown fields to check, so that a hostile body does not cost more than a normal one. */
const MAX_FIELDS = 20;
const MAX_NAME_LENGTH = 40;
const MAX_NEAR_MISSES = 10;

/**
 * Finds unknown fields that may be misspelled known ones.
 * @param fields all known fields, and those whose near misses are reported (`suggested`)
 * @param otherNames names that other APIs use, in lower case without separators, each with its known field
 */
export function nearMissesOf(
  fields: { readonly known: readonly string[]; readonly suggested: readonly string[] },
  otherNames: Readonly<Record<string, string>>,
): (body: unknown) => readonly NearMiss[] {
  const names = new Set(fields.known);
  const suggestedNames = new Map(fields.suggested.map((name) => [plainName(name), name]));
  const foreignNames = new Map(Object.entries(otherNames));
  const nearest = (field: string): string | undefined => {
    const plainField = plainName(field);
    const exact = suggestedNames.get(plainField) ?? foreignNames.get(plainField);
    if (exact !== undefined) return exact;
    let [best, fewest] = [undefined as string | undefined, maxEdits(plainField) + 1];
    for (const [name, meant] of suggestedNames) {
      // The difference in length is a lower bound for the number of edits.
      const edits =
        Math.abs(name.length - plainField.length) < fewest ? editsBetween(plainField, name) : fewest;
      if (edits < fewest) [best, fewest] = [meant, edits];
    }
    return best;
  };
  return (body) => {
    if (typeof body !== "object" || body === null || Array.isArray(body)) return [];
    const found: NearMiss[] = [];
    let checked = 0;
    for (const field in body) {
      if (names.has(field)) continue;
      if (++checked > MAX_FIELDS || found.length === MAX_NEAR_MISSES) break;
      const suggestion = field.length > MAX_NAME_LENGTH ? undefined : nearest(field);
      if (suggestion !== undefined) found.push({ field, suggestion: suggestion });
    }
    return found;
  };
}

/** A name in lower case without separators, so that its variants are equal. */
function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

function maxEdits({ length }: string): number {
  return length < 5 ? 0 : length < 8 ? 1 : 2;
}

/** Insertions, deletions and replacements that turn one text into the other (Levenshtein). */
function editsBetween(before: string, after: string): number {
  let row = Array.from({ length: after.length + 1 }, (_, index) => index);
  for (let y = 1; y <= before.length; y++) {
    const next = [y];
    for (let x = 1; x <= after.length; x++) {
      const replaced = (row[x - 1] ?? 0) + (before[y - 1] === after[x - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[x] ?? 0) + 1, (next[x - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[after.length] ?? 0;
}
