import { styleText } from "node:util";

type Stream = NodeJS.WritableStream & { readonly isTTY?: boolean };

/**
 * Text styles: bold, dim, color and marks on a terminal; plain text in a file or a pipe. Honors `NO_COLOR`.
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

/** Shortens an address or a hash that readers only need to recognize. */
export function shortHex(hex: string): string {
  return hex.length <= 14 ? hex : `${hex.slice(0, 8)}…${hex.slice(-4)}`;
}
