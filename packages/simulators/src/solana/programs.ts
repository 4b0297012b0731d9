import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "@causeway/testkit";

const folder = join(repositoryRoot, "packages", "contracts", "solana");

/** The compiled depository program. */
export function depositoryProgram(): Uint8Array {
  return readFileSync(join(folder, "depository.so"));
}

/** A test program that forwards calls to another program. */
export function forwarderProgram(): Uint8Array {
  return readFileSync(join(folder, "test", "forwarder.so"));
}
