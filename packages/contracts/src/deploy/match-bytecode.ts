import { pad, size, slice, type Hex } from "viem";
import type { Build } from "./builds.ts";

/** How deployed bytecode differs from a build. */
export type BytecodeMismatch =
  | { readonly kind: "length"; readonly found: number; readonly expected: number }
  | { readonly kind: "byte"; readonly at: number; readonly found: Hex; readonly expected: Hex }
  | { readonly kind: "immutable"; readonly name: string; readonly found: Hex; readonly expected: Hex };

/**
 * The first difference between `code` and the build with these immutables (each padded to 32 bytes), or
 * undefined if there is none.
 *
 * @throws RangeError if the value of an immutable is missing: it would not be checked
 */
export function matchBytecode(
  build: Build,
  immutables: Readonly<Record<string, Hex>>,
  code: Hex,
): BytecodeMismatch | undefined {
  const expected = build.deployedBytecode;
  if (size(code) !== size(expected)) return { kind: "length", found: size(code), expected: size(expected) };
  const unused = new Set(Object.keys(immutables));
  let masked = code.toLowerCase();
  for (const [name, places] of Object.entries(build.immutables)) {
    const value = immutables[name];
    if (value === undefined)
      throw new RangeError(`invariant violated: no value for immutable ${name} of ${build.path}`);
    unused.delete(name);
    for (const { start, length } of places) {
      const actual = slice(code, start, start + length);
      const expectedBytes = pad(value, { size: length });
      if (actual.toLowerCase() !== expectedBytes.toLowerCase())
        return { kind: "immutable", name, found: actual, expected: expectedBytes };
      // The build has zeros there.
      const from = 2 + 2 * start;
      masked = masked.slice(0, from) + "0".repeat(2 * length) + masked.slice(from + 2 * length);
    }
  }
  if (unused.size > 0)
    throw new RangeError(`invariant violated: ${build.path} has no immutable ${[...unused].join(", ")}`);
  for (let offset = 0; offset < size(expected); offset++) {
    const [found, expectedBytes] = [masked, expected].map((text) =>
      text.slice(2 + 2 * offset, 4 + 2 * offset),
    );
    if (found !== expectedBytes)
      return { kind: "byte", at: offset, found: `0x${found}`, expected: `0x${expectedBytes}` };
  }
  return undefined;
}
