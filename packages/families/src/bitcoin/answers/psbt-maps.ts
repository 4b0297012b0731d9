/**
 * Counts the maps of a PSBT; undefined unless they fill its bytes exactly (BIP 174: after five magic bytes,
 * maps of length-prefixed keys and values, each terminated by a zero byte).
 *
 * Libraries ignore bytes after the last map. Here, such bytes would turn the same transaction into a second
 * payload with its own id.
 */
export function countPsbtMaps(bytes: Uint8Array): number | undefined {
  let offset = MAGIC_BYTES;
  let maps = 0;
  const length = (): number => {
    const first = bytes[offset++] ?? Number.NaN;
    if (first < 0xfd) return first;
    const size = { 0xfd: 2, 0xfe: 4 }[first];
    // No buffer is large enough for a count of eight bytes.
    if (size === undefined) return Number.NaN;
    let value = 0;
    for (let byte = 0; byte < size; byte++) value += (bytes[offset + byte] ?? Number.NaN) * 256 ** byte;
    offset += size;
    return value;
  };
  while (offset < bytes.length) {
    for (let key = length(); key !== 0; key = length()) {
      offset += key;
      const value = length();
      offset += value;
      if (!(offset < bytes.length)) return undefined;
    }
    maps += 1;
  }
  return maps;
}

/** `psbt` and 0xff. */
const MAGIC_BYTES = 5;
