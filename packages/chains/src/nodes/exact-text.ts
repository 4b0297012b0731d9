/** A canonical text of a value, independent of the order of fields; equal texts mean equal values. */
export function exactText(value: unknown): string {
  return JSON.stringify(value, sortAndExpand);
}

function sortAndExpand(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
