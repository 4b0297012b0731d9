/**
 * Caches the hashes of short texts: chain names, currencies and contracts recur in every order and
 * attestation. The cache is bounded because untrusted recipients pass through it too.
 */
export function remembered(hash: (value: string) => Uint8Array): (value: string) => Uint8Array {
  let known = new Map<string, Uint8Array>();
  return (value) => {
    const before = known.get(value);
    if (before !== undefined) return before;
    const fresh = hash(value);
    if (value.length <= 66) {
      if (known.size >= 4096) known = new Map();
      known.set(value, fresh);
    }
    return fresh;
  };
}
