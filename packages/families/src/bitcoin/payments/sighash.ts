import type { BitcoinUnlocking } from "../answers/raw-transaction.ts";
import { decodedScript } from "../address-codec/scripts.ts";

/** Whether the signatures of an input commit to every output of its transaction. Pure. */

const ALL = 0x01;
/** Set if a signature commits only to its own input; says nothing about outputs. */
const ANYONE_CAN_PAY = 0x80;
const ANNEX = 0x50;

/**
 * False if a signature does not cover all outputs (SINGLE, NONE): then someone else may have added outputs,
 * such as an order id, after the owner signed.
 * @param spentScript script of the output that the input spends
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
 * Signatures are all elements of 64 bytes, whose type is ALL, or 65 bytes, whose type is the last byte; the
 * script and its control block, if any, are not signatures.
 */
function taprootTypes(witness: readonly Uint8Array[]): readonly number[] {
  const stack = witness.length > 1 && witness.at(-1)?.[0] === ANNEX ? witness.slice(0, -1) : witness;
  const elements = stack.length > 1 ? stack.slice(0, -2) : stack;
  return elements.flatMap((element) => {
    if (element.length === 64) return [ALL];
    return element.length === 65 ? [element[64] ?? 0] : [];
  });
}

/** Every element that looks like a signature: a DER sequence followed by one byte. */
function ecdsaTypes(scriptSig: string, witness: readonly Uint8Array[]): readonly number[] {
  const pushed = (decodedScript(scriptSig) ?? []).filter((part) => part instanceof Uint8Array);
  return [...pushed, ...witness].flatMap((element) =>
    element.length >= 9 && element.length <= 73 && element[0] === 0x30 && element[1] === element.length - 3
      ? [element.at(-1) ?? 0]
      : [],
  );
}
