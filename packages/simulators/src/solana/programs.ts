import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "@causeway/testkit";

const folder = join(repositoryRoot, "packages", "contracts", "solana");

/** The compiled depository program. */
export function depositoryProgram(): Uint8Array {
  return readFileSync(join(folder, "depository.so"));
}

/** The program of deposit addresses, ready to be deployed. */
export function depositAddressProgram(): Uint8Array {
  return readFileSync(join(folder, "deposit-address.so"));
}

/** The forwarder test program, which calls another program on behalf of its caller. */
export function forwarderProgram(): Uint8Array {
  return readFileSync(join(folder, "test", "forwarder.so"));
}

/** The pool test program: swap pools behind two instructions of Jupiter's program. */
export function poolProgram(): Uint8Array {
  return readFileSync(join(folder, "test", "pool.so"));
}
