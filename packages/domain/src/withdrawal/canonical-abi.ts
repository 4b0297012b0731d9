import { decodeAbiParameters, encodeAbiParameters } from "viem";
import type { AbiParameter } from "viem";
import type { Hex } from "../ids/hex.ts";

/**
 * Decodes `encoded` if it is exactly what `encodeAbiParameters` writes for its values, ignoring letter case;
 * otherwise undefined. ABI data allows endless other layouts of the same values (gaps, shared or reordered
 * tails, dirty padding, trailing bytes), but a payload must have only one encoding.
 */
export function decodeCanonicalAbi<const P extends readonly AbiParameter[]>(
  parameters: P,
  encoded: Hex,
): ReturnType<typeof decodeAbiParameters<P>> | undefined {
  try {
    const values = decodeAbiParameters(parameters, encoded);
    const canonical = encodeAbiParameters<readonly AbiParameter[]>(parameters, values as readonly unknown[]);
    return canonical === encoded.toLowerCase() ? values : undefined;
  } catch {
    // The library throws for malformed data, which is an expected result here.
    return undefined;
  }
}
