/** Longest text taken over from a contract. */
export const MAX_TEXT = 256;

/**
 * A text of a contract, fit to be shown and logged: one line, printable, at most `most` UTF-16 units.
 *
 * Control characters would forge lines of a log, and formatting characters (right-to-left marks, zero widths)
 * disguise what is said.
 */
export function cleanText(text: string, most = MAX_TEXT): string {
  // Bounded first: a contract may answer with megabytes, and only the beginning is kept anyway.
  const printable = text
    .slice(0, most * 2)
    .replaceAll(/[\s\p{C}\p{Zl}\p{Zp}]+/gu, " ")
    .trim();
  if (printable.length <= most) return printable;
  // Never half of a character that takes two units.
  return `${printable.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Bytes as text, cut to `most` bytes with a mark. */
export function cleanHex(hex: string, most = MAX_TEXT): string {
  const digits = 2 + most * 2;
  return hex.length > digits ? `${hex.slice(0, digits)}…` : hex;
}
