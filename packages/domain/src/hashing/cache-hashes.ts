/**
 * Returns `hash` with a cache for short texts: chain names, currencies and contracts recur in every order and
 * attestation. The cache is bounded because untrusted recipients pass through it too.
 */
export function cacheHashes(hash: (value: string) => Uint8Array): (value: string) => Uint8Array {
  let cache = new Map<string, Uint8Array>();
  return (value) => {
    const cached = cache.get(value);
    if (cached !== undefined) return cached;
    const fresh = hash(value);
    if (value.length <= 66) {
      if (cache.size >= 4096) cache = new Map();
      cache.set(value, fresh);
    }
    return fresh;
  };
}
