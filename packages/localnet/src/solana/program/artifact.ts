import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../../paths.ts";

/**
 * Where the depository program lies: its source, what was built of it, and a note of which belongs to which.
 */
export const programDir: string = join(repositoryRoot, "packages", "localnet", "solana-program");

/** Stands in the built program where the key of its owner belongs. */
const NOBODY = Buffer.from("__ownme1__ownme2__ownme3__ownme4", "latin1");

/**
 * The depository program for an owner: the one key that may initialize it. The committed program has none,
 * and can be initialized by nobody.
 * @param owner 32 bytes: the public key
 * @throws Error when the program has not exactly one place for each part of the key
 */
export function depositoryProgram(owner: Uint8Array): Uint8Array {
  return withOwner(readFileSync(join(programDir, "depository.so")), owner);
}

/** A program that calls another one for its caller, see forwarder.c. */
export function forwarderProgram(): Uint8Array {
  return readFileSync(join(programDir, "forwarder.so"));
}

/** Puts the key where the instructions that load 64-bit constants hold the one of nobody. */
export function withOwner(program: Uint8Array, owner: Uint8Array): Uint8Array {
  if (owner.length !== 32) throw new Error("public key must have 32 bytes");
  const patched = Buffer.from(program);
  for (let word = 0; word < 32; word += 8) {
    // Such an instruction has 16 bytes and holds its constant in two halves: bytes 4 to 7, and 12 to 15.
    const places: number[] = [];
    for (let at = 0; at + 16 <= patched.length; at += 8)
      if (
        patched[at] === 0x18 &&
        patched.compare(NOBODY, word, word + 4, at + 4, at + 8) === 0 &&
        patched.compare(NOBODY, word + 4, word + 8, at + 12, at + 16) === 0
      )
        places.push(at);
    const [place] = places;
    if (place === undefined || places.length > 1)
      throw new Error(`the program has ${places.length} places for part ${word / 8} of its owner's key`);
    patched.set(owner.subarray(word, word + 4), place + 4);
    patched.set(owner.subarray(word + 4, word + 8), place + 12);
  }
  return patched;
}
