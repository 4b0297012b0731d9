import { address, getAddressEncoder } from "@solana/kit";
import { writeFileSync } from "node:fs";
import { depositoryProgram } from "../src/solana/program/artifact.ts";

/**
 * Writes the depository program for one owner, ready to be deployed: the committed one has none, and nobody
 * can initialize it. `node -C source packages/localnet/solana-program/for-owner.ts <owner, base58> <file>`
 */
const [owner, file] = process.argv.slice(2);
if (owner === undefined || file === undefined) {
  console.error("usage: for-owner.ts <owner, base58> <file>");
  process.exit(2);
}
const program = depositoryProgram(Uint8Array.from(getAddressEncoder().encode(address(owner))));
writeFileSync(file, program);
console.log(`${file}: ${program.length} bytes, for ${owner}`);
