import { createSHA256 } from "hash-wasm";

/** One hasher for the whole process: hashing is synchronous, so no two uses overlap. */
const hasher = await createSHA256();

/** sha256 of raw bytes, as 32 raw bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return hasher.init().update(bytes).digest("binary");
}

const utf8 = new TextEncoder();

/** sha256 of a text in UTF-8, as 32 raw bytes. */
export function sha256Text(text: string): Uint8Array {
  return sha256(utf8.encode(text));
}
