import {
  AccountRole,
  address,
  appendTransactionMessageInstruction,
  createKeyPairSignerFromBytes,
  createSolanaRpc,
  createTransactionMessage,
  getAddressEncoder,
  getBase64EncodedWireTransaction,
  getProgramDerivedAddress,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

/**
 * Initializes a deployed depository program, once. `--authority` is the key file of its upgrade authority,
 * which becomes the owner; `--allocator` signs withdrawals; `--chain` is the id in the chain file. `node -C
 * source packages/contracts/solana/initialize.ts --rpc <URL> --authority <key file> --program <address>
 * --allocator <address> --chain <id>`
 */
const text = { type: "string" } as const;
const { values } = parseArgs({
  options: { rpc: text, authority: text, program: text, allocator: text, chain: text },
});
const { rpc: url, authority: keyFile, program: programText, allocator: allocatorText, chain } = values;
if (!url || !keyFile || !programText || !allocatorText || !chain) {
  console.error(
    "usage: initialize.ts --rpc <URL> --authority <key file> --program <address> --allocator <address> --chain <id>",
  );
  process.exit(2);
}

interface Idl {
  readonly instructions: readonly {
    readonly name: string;
    readonly discriminator: readonly number[];
    readonly accounts: readonly {
      readonly name: string;
      readonly writable?: boolean;
      readonly signer?: boolean;
    }[];
  }[];
}
const idl = JSON.parse(readFileSync(join(import.meta.dirname, "idl.json"), "utf8")) as Idl;
const initialize = idl.instructions.find(({ name }) => name === "initialize");
if (initialize === undefined) throw new Error("idl.json has no instruction initialize");

const [program, allocator] = [address(programText), address(allocatorText)];
// The key files of Solana's tools: 64 numbers, the seed and the public key.
const owner = await createKeyPairSignerFromBytes(
  Uint8Array.from(JSON.parse(readFileSync(keyFile, "utf8")) as number[]),
);
const derive = async (programAddress: typeof program, seed: string | ReturnType<typeof encodeAddress>) =>
  (await getProgramDerivedAddress({ programAddress, seeds: [seed] }))[0];
const [depository, vault, programData] = await Promise.all([
  derive(program, "depository"),
  derive(program, "vault"),
  derive(address("BPFLoaderUpgradeab1e11111111111111111111111"), encodeAddress(program)),
]);
const addresses: Readonly<Record<string, typeof program>> = {
  depository,
  vault,
  owner: owner.address,
  allocator,
  program_data: programData,
  system_program: address("11111111111111111111111111111111"),
};
const chainId = Buffer.from(chain, "utf8");
const length = Buffer.alloc(4);
length.writeUInt32LE(chainId.length);

const rpc = createSolanaRpc(url);
const { value: blockhash } = await rpc.getLatestBlockhash().send();
const message = pipe(
  createTransactionMessage({ version: 0 }),
  (one) => setTransactionMessageFeePayerSigner(owner, one),
  (one) => setTransactionMessageLifetimeUsingBlockhash(blockhash, one),
  (one) =>
    appendTransactionMessageInstruction(
      {
        programAddress: program,
        accounts: initialize.accounts.map(({ name, writable, signer }) => {
          const found = addresses[name];
          if (found === undefined) throw new Error(`unknown account in idl.json: ${name}`);
          if (signer === true) return { address: found, role: AccountRole.WRITABLE_SIGNER, signer: owner };
          return { address: found, role: writable === true ? AccountRole.WRITABLE : AccountRole.READONLY };
        }),
        data: Buffer.concat([Uint8Array.from(initialize.discriminator), length, chainId]),
      },
      one,
    ),
);
const transaction = await signTransactionMessageWithSigners(message);
// The node simulates before it sends, so a wrong key or a second initialization is an error here.
const signature = await rpc
  .sendTransaction(getBase64EncodedWireTransaction(transaction), { encoding: "base64" })
  .send();
console.log(
  JSON.stringify({ signature, program, depository, vault, owner: owner.address, allocator, chain }),
);

function encodeAddress(of: typeof program) {
  return getAddressEncoder().encode(of);
}
