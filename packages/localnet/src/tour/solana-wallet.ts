import {
  AccountRole,
  address,
  appendTransactionMessageInstructions,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
  type Instruction,
} from "@solana/kit";
import { setTimeout as sleep } from "node:timers/promises";
import { hexToBytes, type Hex } from "viem";
import { z } from "zod";
import { solanaTokensOf } from "./solana-holdings.ts";
import { BUSY_MACHINE_HINT, PATIENCE_MS } from "@causeway/testkit";

/** The instructions that a step asks a Solana wallet to send in one transaction. */
const solanaItem = z.object({
  instructions: z
    .array(
      z.object({
        programId: z.string(),
        keys: z.array(z.object({ pubkey: z.string(), isSigner: z.boolean(), isWritable: z.boolean() })),
        data: z.string(),
      }),
    )
    .min(1),
});

/** A user's wallet on Solana. */
export interface SolanaWallet {
  readonly address: string;
  /** Base units of a token that the wallet holds; lamports if `mint` is undefined. */
  balanceOf(mint: string | undefined): Promise<bigint>;
  /**
   * Signs and sends the instructions of a step's item, and waits until they are final.
   *
   * @returns the signature
   * @throws Error if the transaction fails
   */
  execute(data: unknown): Promise<string>;
}

/** @param seed ed25519, 32 bytes */
export async function createSolanaWallet(rpcUrl: string, seed: Hex): Promise<SolanaWallet> {
  const rpc = createSolanaRpc(rpcUrl);
  const signer = await createKeyPairSignerFromPrivateKeyBytes(hexToBytes(seed));

  async function waitUntilFinal(signature: ReturnType<typeof getSignatureFromTransaction>): Promise<void> {
    const deadline = AbortSignal.timeout(PATIENCE_MS);
    for (;;) {
      const { value } = await rpc.getSignatureStatuses([signature]).send();
      const status = value[0];
      if (status?.err != null) throw new Error(`transaction ${signature} failed on Solana`);
      if (status?.confirmationStatus === "finalized") return;
      if (deadline.aborted)
        throw new Error(`transaction ${signature} was not final in time; ${BUSY_MACHINE_HINT}`);
      await sleep(100);
    }
  }

  return {
    address: signer.address,
    balanceOf: async (mint) => {
      if (mint === undefined) return (await rpc.getBalance(signer.address).send()).value;
      return await solanaTokensOf(rpcUrl, signer.address, mint);
    },
    execute: async (data) => {
      const { instructions } = solanaItem.parse(data);
      const { value: blockhash } = await rpc.getLatestBlockhash().send();
      const message = pipe(
        createTransactionMessage({ version: 0 }),
        (empty) => setTransactionMessageFeePayerSigner(signer, empty),
        (unpaid) => setTransactionMessageLifetimeUsingBlockhash(blockhash, unpaid),
        (timeless) => appendTransactionMessageInstructions(instructions.map(asInstruction), timeless),
      );
      const signed = await signTransactionMessageWithSigners(message);
      const signature = getSignatureFromTransaction(signed);
      await rpc.sendTransaction(getBase64EncodedWireTransaction(signed), { encoding: "base64" }).send();
      await waitUntilFinal(signature);
      return signature;
    },
  };
}

function asInstruction({
  programId,
  keys,
  data,
}: z.infer<typeof solanaItem>["instructions"][number]): Instruction {
  return {
    programAddress: address(programId),
    accounts: keys.map(({ pubkey, isSigner, isWritable }) => ({
      address: address(pubkey),
      role: roleOf(isSigner, isWritable),
    })),
    data: Buffer.from(data.replace(/^0x/, ""), "hex"),
  };
}

function roleOf(isSigner: boolean, isWritable: boolean): AccountRole {
  if (isSigner) return isWritable ? AccountRole.WRITABLE_SIGNER : AccountRole.READONLY_SIGNER;
  return isWritable ? AccountRole.WRITABLE : AccountRole.READONLY;
}
