import { address, getProgramDerivedAddress, type Address } from "@solana/kit";
import { associatedTokenAccount } from "./depository.ts";
import { poolProgram } from "./programs.ts";
import type { RunningSolana } from "./start-solana.ts";
import { createTokenAccountInstruction, mintTo, type LocalMint } from "./tokens.ts";
import { amountOf } from "./transaction-record.ts";
import { sendInstructions, type PlainInstruction, type SolanaKey } from "./wallet.ts";

/** Address of Jupiter's program on public clusters, and of the local swap program on local ones. */
export const JUPITER_PROGRAM: Address = address("JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4");

const TOKEN = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const SYSTEM = "11111111111111111111111111111111";
const WRAPPED_SOL = address("So11111111111111111111111111111111111111112");
const [BPS, AFTER_FEE] = [10_000n, 9_970n];

/** Token accounts of one program that swaps each for any other, with a constant product. */
export interface LocalPools {
  /** The owner of the accounts. */
  readonly authority: Address;
  /** Accounts by mint. */
  readonly vaults: ReadonlyMap<string, Address>;
  /** The balance of the pool's account for a mint. */
  reserve(mint: string): bigint;
  /** Undefined if a pool is missing or has insufficient liquidity. */
  quote(question: PoolQuestion): { readonly in: bigint; readonly out: bigint } | undefined;
  /** The swap for a user, with the slippage that the program enforces. */
  swap(
    user: string,
    question: PoolQuestion & { readonly quoted: bigint; readonly slippageBps: number },
  ): Promise<PlainInstruction>;
}

export interface PoolQuestion {
  readonly inputMint: string;
  readonly outputMint: string;
  readonly mode: "ExactIn" | "ExactOut";
  /** Base units of the input or the output, depending on `mode`. */
  readonly amount: bigint;
}

/** Deploys the program and funds it with these amounts and wrapped SOL. */
export async function createPools(
  node: Pick<RunningSolana, "url" | "controls">,
  reserves: readonly { readonly of: LocalMint; readonly amount: bigint }[],
  sol?: { readonly from: SolanaKey; readonly lamports: bigint },
): Promise<LocalPools> {
  node.controls.addProgram(JUPITER_PROGRAM, poolProgram());
  const [authority] = await getProgramDerivedAddress({ programAddress: JUPITER_PROGRAM, seeds: ["pool"] });
  const vaults = new Map<string, Address>();
  for (const { of: mint, amount } of reserves) {
    await mintTo(node.url, mint, authority, amount);
    vaults.set(mint.mint, await associatedTokenAccount(authority, mint.mint));
  }
  if (sol !== undefined) {
    const vault = await associatedTokenAccount(authority, WRAPPED_SOL);
    await sendInstructions(
      node.url,
      [sol.from],
      wrapInstructions(sol.from.address, authority, vault, sol.lamports),
    );
    vaults.set(WRAPPED_SOL, vault);
  }
  const vaultOf = (mint: string): Address => {
    const vault = vaults.get(mint);
    if (vault === undefined) throw new Error(`no pool holds ${mint}`);
    return vault;
  };
  const reserve = (mint: string): bigint => {
    const account = node.controls.account(vaultOf(mint));
    return account === undefined ? 0n : amountOf(account.data);
  };
  return {
    authority,
    vaults,
    reserve,
    quote: ({ inputMint, outputMint, mode, amount }) => {
      if (!vaults.has(inputMint) || !vaults.has(outputMint) || inputMint === outputMint) return undefined;
      const [reserveIn, reserveOut] = [reserve(inputMint), reserve(outputMint)];
      if (mode === "ExactIn") {
        const afterFee = (amount * AFTER_FEE) / BPS;
        return { in: amount, out: (reserveOut * afterFee) / (reserveIn + afterFee) };
      }
      if (amount >= reserveOut) return undefined;
      const afterFee = (reserveIn * amount) / (reserveOut - amount) + 1n;
      return { in: (afterFee * BPS) / AFTER_FEE + 1n, out: amount };
    },
    swap: async (user, { inputMint, outputMint, mode, amount, quoted, slippageBps }) => {
      const isExactIn = mode === "ExactIn";
      const [source, destination] = await Promise.all([
        associatedTokenAccount(user, inputMint),
        associatedTokenAccount(user, outputMint),
      ]);
      const program = readonly(JUPITER_PROGRAM);
      return {
        programId: JUPITER_PROGRAM,
        keys: [
          readonly(TOKEN),
          { pubkey: user, isSigner: true, isWritable: false },
          writable(source),
          writable(destination),
          // No separate destination account.
          program,
          ...(isExactIn ? [] : [readonly(inputMint)]),
          readonly(outputMint),
          // No fee account and no second token program.
          program,
          ...(isExactIn ? [] : [program]),
          // The event authority, and the program itself.
          program,
          program,
          writable(vaultOf(inputMint)),
          writable(vaultOf(outputMint)),
          readonly(authority),
        ],
        data: swapData(isExactIn, amount, quoted, slippageBps),
      };
    },
  };
}

/** Creates and funds an account of wrapped SOL. */
function wrapInstructions(
  from: string,
  owner: string,
  vault: string,
  lamports: bigint,
): readonly PlainInstruction[] {
  const transfer = Buffer.alloc(12);
  transfer.writeUInt32LE(2, 0);
  transfer.writeBigUInt64LE(lamports, 4);
  return [
    createTokenAccountInstruction(from, vault, owner, { mint: WRAPPED_SOL, tokenProgram: TOKEN }),
    {
      programId: SYSTEM,
      keys: [{ pubkey: from, isSigner: true, isWritable: true }, writable(vault)],
      data: transfer,
    },
    // SyncNative.
    { programId: TOKEN, keys: [writable(vault)], data: Uint8Array.of(17) },
  ];
}

/** A plan with one step: the whole input through a pool of Raydium. */
function swapData(isExactIn: boolean, fixed: bigint, quoted: bigint, slippageBps: number): Uint8Array {
  const data = Buffer.alloc(8 + 4 + 4 + 19);
  data.set(isExactIn ? [229, 23, 203, 151, 122, 227, 173, 42] : [208, 51, 239, 151, 123, 43, 237, 92]);
  data.set([1, 0, 0, 0, 7, 100, 0, 1], 8);
  data.writeBigUInt64LE(fixed, 16);
  data.writeBigUInt64LE(quoted, 24);
  data.writeUInt16LE(slippageBps, 32);
  return data;
}

function readonly(pubkey: string): PlainInstruction["keys"][number] {
  return { pubkey, isSigner: false, isWritable: false };
}

function writable(pubkey: string): PlainInstruction["keys"][number] {
  return { pubkey, isSigner: false, isWritable: true };
}
