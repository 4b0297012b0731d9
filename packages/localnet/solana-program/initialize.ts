import { address, getProgramDerivedAddress } from "@solana/kit";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { initializeInstruction } from "../src/solana/depository.ts";
import { sendInstructions, solanaKey } from "../src/solana/wallet.ts";

/**
 * Initializes a deployed depository program, once: its owner says whose signature lets money out, and the
 * name of the chain that enters what is signed. `node -C source
 * packages/localnet/solana-program/initialize.ts --rpc <URL> --owner <key file> --program <address>
 * --allocator <address> --chain <id in the chain file>`
 */
const text = { type: "string" } as const;
const { values } = parseArgs({
  options: { rpc: text, owner: text, program: text, allocator: text, chain: text },
});
const { rpc, owner: keyFile, program, allocator, chain } = values;
if (!rpc || !keyFile || !program || !allocator || !chain) {
  console.error("usage: initialize.ts --rpc … --owner … --program … --allocator … --chain …");
  process.exit(2);
}
// The form of Solana's own tools: 64 numbers, the seed first.
const owner = await solanaKey(
  Uint8Array.from(JSON.parse(readFileSync(keyFile, "utf8")) as number[]).subarray(0, 32),
);
const seat = async (seed: string) =>
  (await getProgramDerivedAddress({ programAddress: address(program), seeds: [seed] }))[0];
const [depository, vault] = await Promise.all([seat("depository"), seat("vault")]);
const signature = await sendInstructions(
  rpc,
  [owner],
  [
    initializeInstruction({
      program,
      depository,
      vault,
      owner: owner.address,
      allocator: address(allocator),
      chainName: chain,
    }),
  ],
);
// Sent, and simulated before; a look at the signature tells when it is final.
console.log(
  JSON.stringify({ signature, program, depository, vault, owner: owner.address, allocator, chain }),
);
