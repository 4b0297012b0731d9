/**
 * Canonical JSON of a plain value: keys in code-unit order, no whitespace, undefined fields omitted. Equal
 * values have equal texts.
 * @throws TypeError for values that JSON cannot represent (bigint, function, a number that is not finite)
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number" && Number.isFinite(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value === "object") {
    const fields = value as Readonly<Record<string, unknown>>;
    const written = Object.keys(fields)
      .sort()
      .filter((name) => fields[name] !== undefined)
      .map((name) => `${JSON.stringify(name)}:${canonicalJson(fields[name])}`);
    return `{${written.join(",")}}`;
  }
  throw new TypeError(`invariant violated: ${typeof value} has no canonical JSON`);
}
