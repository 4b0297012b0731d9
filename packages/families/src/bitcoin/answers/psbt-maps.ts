/**
 * Counts the maps of a PSBT; undefined unless they fill its bytes exactly (BIP 174: after five magic bytes,
 * maps of length-prefixed keys and values, each terminated by a zero byte).
 *
 * Libraries ignore bytes after the last map. Here, such bytes would turn the same transaction into a second
 * payload with its own id.
 */
export function countPsbtMaps(bytes: Uint8Array): number | undefined {
  let at = MAGIC_BYTES;
  let maps = 0;
  const length = (): number => {
    const first = bytes[at++] ?? Number.NaN;
    if (first < 0xfd) return first;
    const size = { 0xfd: 2, 0xfe: 4 }[first];
    // No buffer is large enough for a count of eight bytes.
    if (size === undefined) return Number.NaN;
    let value = 0;
    for (let byte = 0; byte < size; byte++) value += (bytes[at + byte] ?? Number.NaN) * 256 ** byte;
    at += size;
    return value;
  };
  while (at < bytes.length) {
    for (let key = length(); key !== 0; key = length()) {
      at += key;
      const value = length();
      at += value;
      if (!(at < bytes.length)) return undefined;
    }
    maps += 1;
  }
  return maps;
}

/** `psbt` and 0xff. */
const MAGIC_BYTES = 5;
