/**
 * Whether `inner` occurs in `outer`. Contracts control both, so the time must be linear in their total length
 * (Knuth, Morris and Pratt 1977).
 */
export function containsBytes(outer: Uint8Array, inner: Uint8Array): boolean {
  if (inner.length === 0) return true;
  if (inner.length > outer.length) return false;
  const borders = bordersOf(inner);
  let matched = 0;
  for (const byte of outer) {
    while (matched > 0 && byte !== inner[matched]) matched = borders[matched - 1] ?? 0;
    if (byte === inner[matched]) matched++;
    if (matched === inner.length) return true;
  }
  return false;
}

/** For each prefix of `bytes`: the length of its longest proper suffix that is also a prefix. */
function bordersOf(bytes: Uint8Array): Uint32Array {
  const borders = new Uint32Array(bytes.length);
  let border = 0;
  for (let index = 1; index < bytes.length; index++) {
    while (border > 0 && bytes[index] !== bytes[border]) border = borders[border - 1] ?? 0;
    if (bytes[index] === bytes[border]) border++;
    borders[index] = border;
  }
  return borders;
}
