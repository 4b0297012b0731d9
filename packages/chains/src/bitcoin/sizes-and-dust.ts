import { isWitnessProgram } from "@causeway/families/bitcoin";

/** Sizes of transactions and their fees. Pure; weight and virtual bytes as in BIP 141. */

/** How one key spends an input. */
export type InputKind = "keyHash" | "nestedKey" | "witnessKey" | "taprootKey";

/** Weight of an input with the longest usual signature. */
const INPUT_WEIGHTS: Readonly<Record<InputKind, bigint>> = {
  keyHash: 4n * 148n + 1n,
  nestedKey: 4n * 64n + 108n,
  witnessKey: 4n * 41n + 108n,
  taprootKey: 4n * 41n + 66n,
};

/** Version, lock time, two counts of at most three bytes, and the witness marker. */
const BASE_WEIGHT = 4n * 14n + 2n;

/** Maximum virtual bytes of a transaction. @param outputs their scripts, hex */
export function vsizeOf(inputs: readonly InputKind[], outputs: readonly string[]): bigint {
  const weight =
    BASE_WEIGHT +
    inputs.reduce((sum, kind) => sum + INPUT_WEIGHTS[kind], 0n) +
    outputs.reduce((sum, script) => sum + 4n * BigInt(8 + 3 + script.length / 2), 0n);
  return (weight + 3n) / 4n;
}

/** How a single key spends a script; undefined if that requires more. */
export function inputKindOf(script: string): InputKind | undefined {
  if (/^0014.{40}$/.test(script)) return "witnessKey";
  if (/^5120.{64}$/.test(script)) return "taprootKey";
  if (/^76a914.{40}88ac$/.test(script)) return "keyHash";
  return /^a914.{40}87$/.test(script) ? "nestedKey" : undefined;
}

/**
 * Dust limit in satoshis, below which nodes do not relay an output: the cost of spending it, at three
 * satoshis per byte.
 */
export function dustLimit(script: string): bigint {
  return 3n * BigInt(8 + 1 + script.length / 2 + (isWitnessProgram(script) ? 67 : 148));
}

/** Fee in satoshis for this many virtual bytes, rounded up. @param rate satoshis per 1000 virtual bytes */
export function feeFor(vsize: bigint, rate: bigint): bigint {
  return (vsize * rate + 999n) / 1_000n;
}
