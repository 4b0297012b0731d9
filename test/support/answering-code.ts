import type { Hex } from "@causeway/domain";

/**
 * Code of a contract that returns these bytes for these selectors (four bytes each) and reverts for all
 * others. For answers that no compiled contract would give.
 */
export function answeringCode(answers: Readonly<Record<Hex, Hex>>): Hex {
  const entries = Object.entries(answers);
  // Puts the selector of the call on the stack, and jumps to the matching answer.
  const headBytes = 6 + entries.length * 11 + 5;
  let bodies = "";
  let jumps = "";
  for (const [selector, answer] of entries) {
    const at = headBytes + bodies.length / 2;
    jumps += `8063${selector.slice(2)}1461${hex(at, 2)}57`;
    bodies += `5b${storeCode(answer.slice(2))}61${hex((answer.length - 2) / 2, 2)}5ff3`;
  }
  return `0x5f3560e01c${"5b"}${jumps}5f5ffd${"5b5b"}${bodies}`;
}

/** Code that stores bytes from the start of memory on, word by word. */
function storeCode(bytes: string): string {
  let code = "";
  for (let at = 0; at < bytes.length; at += 64)
    code += `7f${bytes.slice(at, at + 64).padEnd(64, "0")}61${hex(at / 2, 2)}52`;
  return code;
}

const hex = (value: number, bytes: number): string => value.toString(16).padStart(2 * bytes, "0");

/** Code that runs until it is out of gas, for any call. */
export const endlessCode: Hex = "0x5b5f56";

/** Code that returns a quarter of a megabyte of zeros for any call. */
export const longWindedCode: Hex = "0x620400005ff3";
