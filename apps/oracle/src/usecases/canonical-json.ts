import { canonicalJson as jsonOf } from "@causeway/attest";

/**
 * A JSON value with hex in lower case and decimal texts without leading zeros, so that two spellings of one
 * payload are one. Other texts (base58, names of chains) mean what they say.
 */
export function canonicalValue(value: unknown): unknown {
  if (typeof value === "string") return canonicalText(value);
  if (Array.isArray(value)) return value.map(canonicalValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, canonicalValue(part)]));
}

function canonicalText(text: string): string {
  if (/^0x[0-9a-fA-F]*$/.test(text)) return text.toLowerCase();
  return /^0\d+$/.test(text) ? text.replace(/^0+(?=\d)/, "") : text;
}

/** One text for one payload: keys sorted, hex and numbers canonical. */
export function canonicalJson(value: unknown): string {
  return jsonOf(canonicalValue(value));
}
