import type { BitcoinUnlocking } from "../answers/raw-transaction.ts";
import { decodedScript } from "../codec/scripts.ts";

/** Whether the signatures of an input commit to every output of its transaction. Pure. */

const ALL = 0x01;
/** Set when a signature commits to its own input only; it says nothing about outputs. */
const ANYONE_CAN_PAY = 0x80;
const ANNEX = 0x50;

/**
 * False when a signature leaves outputs out (SINGLE, NONE): then others may have added outputs, an order's id
 * among them, to what its owner signed.
 * @param spentScript what the input spends
 */
export function signsAllOutputs({ scriptSig, witness }: BitcoinUnlocking, spentScript: string): boolean {
  return (isTaproot(spentScript) ? taprootTypes(witness) : ecdsaTypes(scriptSig, witness)).every(
    (type) => (type & ~ANYONE_CAN_PAY) === ALL,
  );
}

function isTaproot(script: string): boolean {
  return script.length === 68 && script.startsWith("5120");
}

/**
 * Signatures are all elements of 64 bytes, which stand for ALL, and of 65: but for the script and its control
 * block, when a script was used.
 */
function taprootTypes(witness: readonly Uint8Array[]): readonly number[] {
  const stack = witness.length > 1 && witness.at(-1)?.[0] === ANNEX ? witness.slice(0, -1) : witness;
  const elements = stack.length > 1 ? stack.slice(0, -2) : stack;
  return elements.flatMap((one) => {
    if (one.length === 64) return [ALL];
    return one.length === 65 ? [one[64] ?? 0] : [];
  });
}

/** Every element that has the form of a signature: a DER sequence, and one byte behind it. */
function ecdsaTypes(scriptSig: string, witness: readonly Uint8Array[]): readonly number[] {
  const pushed = (decodedScript(scriptSig) ?? []).filter((part) => part instanceof Uint8Array);
  return [...pushed, ...witness].flatMap((one) =>
    one.length >= 9 && one.length <= 73 && one[0] === 0x30 && one[1] === one.length - 3
      ? [one.at(-1) ?? 0]
      : [],
  );
}
