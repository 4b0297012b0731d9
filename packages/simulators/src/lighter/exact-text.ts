/** Serializes JSON with bigints as plain numbers with all their digits, like Lighter. */
export function exactText(value: ExactValue): string {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map((item: ExactValue) => exactText(item)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${exactText(item)}`);
    return `{${fields.join(",")}}`;
  }
  return JSON.stringify(value);
}

export type ExactValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly ExactValue[]
  | { readonly [key: string]: ExactValue };

/** Parses JSON with integers as bigints, so that no digit is lost. @throws SyntaxError */
export function readExact(text: string): unknown {
  return JSON.parse(text, (_key: string, value: unknown, context?: { readonly source?: string }) => {
    if (typeof value !== "number" || context?.source === undefined) return value;
    return /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;
  });
}
