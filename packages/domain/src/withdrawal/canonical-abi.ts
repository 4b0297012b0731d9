import { decodeAbiParameters, encodeAbiParameters } from "viem";
import type { AbiParameter } from "viem";
import type { Hex } from "../ids/hex.ts";

/**
 * The values that `encoded` holds when it is exactly what `encodeAbiParameters` writes for them, in any case
 * of hex; undefined for everything else. ABI data has endless other layouts of the same values (gaps, shared
 * or reordered tails, dirty padding, bytes after the end): a payload must have one spelling.
 */
export function decodeCanonicalAbi<const P extends readonly AbiParameter[]>(
  parameters: P,
  encoded: Hex,
): ReturnType<typeof decodeAbiParameters<P>> | undefined {
  try {
    const values = decodeAbiParameters(parameters, encoded);
    const again = encodeAbiParameters<readonly AbiParameter[]>(parameters, values as readonly unknown[]);
    return again === encoded.toLowerCase() ? values : undefined;
  } catch {
    // The library throws for words that point nowhere, which here is an answer.
    return undefined;
  }
}
