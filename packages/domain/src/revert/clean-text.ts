/** Maximum length of a text from a contract. */
export const MAX_TEXT = 256;

/**
 * Makes a contract's text safe to show and log: one line, printable, at most `max` UTF-16 units. Control
 * characters could forge log lines, and formatting characters (right-to-left marks, zero-width characters)
 * could disguise the text.
 */
export function cleanText(text: string, max = MAX_TEXT): string {
  // Truncate first: a contract may answer with megabytes.
  const printable = text
    .slice(0, max * 2)
    .replaceAll(/[\s\p{C}\p{Zl}\p{Zp}]+/gu, " ")
    .trim();
  if (printable.length <= max) return printable;
  // Never split a surrogate pair.
  return `${printable.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Bytes as text, truncated to `max` bytes with a mark. */
export function cleanHex(hex: string, max = MAX_TEXT): string {
  const digits = 2 + max * 2;
  return hex.length > digits ? `${hex.slice(0, digits)}…` : hex;
}
