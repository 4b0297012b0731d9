import { styleText } from "node:util";

type Stream = NodeJS.WritableStream & { readonly isTTY?: boolean };

/**
 * How lines look: bold, dim, color and marks on a terminal; plain text in a file or a pipe. `NO_COLOR` is
 * honored.
 */
export interface TerminalStyle {
  bold(text: string): string;
  dim(text: string): string;
  passed(text: string): string;
  failed(text: string): string;
}

export function terminalStyle(stream: Stream): TerminalStyle {
  const mark = (sign: string): string => (stream.isTTY === true ? `${sign} ` : "");
  return {
    bold: (text) => styleText("bold", text, { stream }),
    dim: (text) => styleText("dim", text, { stream }),
    passed: (text) => styleText(["bold", "green"], `${mark("✓")}${text}`, { stream }),
    failed: (text) => styleText(["bold", "red"], `${mark("✗")}${text}`, { stream }),
  };
}

/** An address or a hash that a reader tells from others and does not copy. */
export function shortHex(hex: string): string {
  return hex.length <= 14 ? hex : `${hex.slice(0, 8)}…${hex.slice(-4)}`;
}
