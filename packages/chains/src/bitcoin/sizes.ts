import { isWitnessProgram } from "@causeway/families/bitcoin";

/**
 * How large transactions become, and what that costs. Pure; weights and virtual bytes as BIP 141 counts them.
 */

/** How an input is spent with one key. */
export type InputKind = "keyHash" | "nestedKey" | "witnessKey" | "taprootKey";

/** Weight of an input with the longest signature that is usual. */
const INPUT_WEIGHTS: Readonly<Record<InputKind, bigint>> = {
  keyHash: 4n * 148n + 1n,
  nestedKey: 4n * 64n + 108n,
  witnessKey: 4n * 41n + 108n,
  taprootKey: 4n * 41n + 66n,
};

/** Version, lock time, two counts of three bytes at most, and the mark of witnesses. */
const BASE_WEIGHT = 4n * 14n + 2n;

/** Virtual bytes of a transaction, at most. @param outputs their scripts, hex */
export function vsizeOf(inputs: readonly InputKind[], outputs: readonly string[]): bigint {
  const weight =
    BASE_WEIGHT +
    inputs.reduce((sum, kind) => sum + INPUT_WEIGHTS[kind], 0n) +
    outputs.reduce((sum, script) => sum + 4n * BigInt(8 + 3 + script.length / 2), 0n);
  return (weight + 3n) / 4n;
}

/** How the owner of a single key spends a script; undefined where more is required. */
export function inputKindOf(script: string): InputKind | undefined {
  if (/^0014.{40}$/.test(script)) return "witnessKey";
  if (/^5120.{64}$/.test(script)) return "taprootKey";
  if (/^76a914.{40}88ac$/.test(script)) return "keyHash";
  return /^a914.{40}87$/.test(script) ? "nestedKey" : undefined;
}

/** Satoshis below which nodes do not relay an output: what it costs to spend it, at three per byte. */
export function dustLimit(script: string): bigint {
  return 3n * BigInt(8 + 1 + script.length / 2 + (isWitnessProgram(script) ? 67 : 148));
}

/** Satoshis for so many virtual bytes, rounded up. @param rate satoshis per 1 000 virtual bytes */
export function feeFor(vsize: bigint, rate: bigint): bigint {
  return (vsize * rate + 999n) / 1_000n;
}
