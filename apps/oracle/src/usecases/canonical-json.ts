import { canonicalJson as jsonOf } from "@causeway/attest";

/**
 * Normalizes a JSON value: hex in lower case, decimals without leading zeros, so that equal payloads are
 * equal texts. Other texts (base58, chain names) are case-sensitive and unchanged.
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

/** One text per payload: sorted keys, canonical hex and numbers. */
export function canonicalJson(value: unknown): string {
  return jsonOf(canonicalValue(value));
}
