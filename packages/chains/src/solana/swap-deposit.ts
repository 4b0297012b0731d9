import {
  address,
  appendTransactionMessageInstructions,
  blockhash,
  compileTransaction,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  getTransactionEncoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";
import type { Hex32 } from "@causeway/domain";
import { nativeCurrency } from "@causeway/families";
import {
  associatedTokenAddress,
  depositNativeInstruction,
  depositTokenInstruction,
  judgeSwap,
  readLookupTable,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  WRAPPED_SOL,
  writtenAccounts,
  type AccountFact,
  type DepositoryAccounts,
  type UserToken,
  type PlainInstruction,
} from "@causeway/families/solana";
import { SwapRefused, type OriginSwap } from "../non-evm-users.ts";
import { mintOf } from "./mints.ts";
import {
  closeAccountInstruction,
  computeInstructions,
  createTokenAccountInstruction,
} from "./payment-instructions.ts";
import type { SolanaReads } from "./reads.ts";
import { toKit } from "./sign-payment.ts";

const NATIVE = nativeCurrency("solana-vm");
const TOKEN_ACCOUNT_BYTES = 165;
/** A packet of the network, less the instruction with which wallets set their priority fee. */
const MAX_BYTES = 1_232 - 12;
const MAX_COMPUTE_UNITS = 1_400_000;
/** For the instructions around the swap: they create a token account at each end and deposit. */
const UNITS_AROUND_SWAP = 120_000;

export interface SwapDepositServices {
  readonly pdas: DepositoryAccounts;
  readonly reads: Pick<SolanaReads, "accounts" | "minBalance">;
  /** The token program of a mint. */
  readonly programOf: (mint: string) => Promise<string>;
}

/** A deposit that a swap of the user's other tokens pays for. Keys in base58. */
export interface SwapDeposit {
  readonly user: string;
  /** What is deposited; SOL by its own address. */
  readonly currency: string;
  readonly amount: bigint;
  readonly id: Hex32;
  /** The mint of the user's tokens. */
  readonly inputMint: string;
  readonly swap: OriginSwap;
}

/**
 * The instructions of one transaction: it swaps, then deposits exactly the agreed amount. Any surplus from
 * the swap stays with the user. The swap's own instructions come from the proposal and are validated first.
 * @throws SwapRefused; RpcFault
 */
export async function swapAndDeposit(
  { pdas, reads, programOf }: SwapDepositServices,
  { user, currency, amount, id, inputMint, swap }: SwapDeposit,
): Promise<{
  readonly instructions: readonly PlainInstruction[];
  readonly lookupTables: readonly string[];
  /** Lamports that the wallet needs for a new token account. Where SOL is unwrapped, they return. */
  readonly rent: bigint;
}> {
  const isNative = currency === NATIVE;
  const outputMint = isNative ? WRAPPED_SOL : currency;
  const [input, output] = await Promise.all([
    tokenAccountOf(user, inputMint, await programOf(inputMint)),
    tokenAccountOf(user, outputMint, isNative ? TOKEN_PROGRAM : await programOf(outputMint)),
  ]);
  // A swap may fill the logs, and a deposit of the newer token program cannot be read without them.
  if (output.tokenProgram !== TOKEN_PROGRAM)
    throw new SwapRefused("currency", `it would be swapped for ${outputMint}, a Token-2022 token`);
  const { proposed, programs, maxInput } = swap;
  const addresses = [
    ...new Set([inputMint, output.account, ...proposed.lookupTables, ...writtenAccounts(proposed)]),
  ];
  const accounts = await reads.accounts(addresses, "confirmed");
  const accountsByAddress = new Map(addresses.map((key, index) => [key, accounts[index]] as const));
  const mintRefusal = mintOf(accountsByAddress.get(inputMint))?.refusal;
  if (mintRefusal !== undefined) throw new SwapRefused("currency", mintRefusal);

  const terms = { user, programs, input, output, maxInput, minOutput: amount };
  const judged = judgeSwap(terms, proposed, accountsByAddress);
  if ("refusal" in judged) throw new SwapRefused("aggregator", `it proposed ${judged.refusal}`);
  const units = Math.min(judged.units + UNITS_AROUND_SWAP, MAX_COMPUTE_UNITS);
  const deposit = { pdas, sender: user, amount, id };
  const { mint, tokenProgram, account: tokens } = output;
  const instructions = [
    ...computeInstructions(units),
    createTokenAccountInstruction({ payer: user, tokens, wallet: user, mint, tokenProgram }),
    proposed.swap,
    ...(isNative
      ? [closeAccountInstruction(tokens, user), depositNativeInstruction(deposit)]
      : [await depositTokenInstruction({ ...deposit, mint, tokenProgram })]),
  ];
  const tables = tablesOf(proposed.lookupTables, accountsByAddress);
  const bytes = transactionBytes(user, instructions, tables);
  if (bytes > MAX_BYTES)
    throw new SwapRefused("size", `its transaction needs ${bytes} bytes, at most ${MAX_BYTES} fit`);
  const hasTokenAccount = (accountsByAddress.get(tokens)?.data.length ?? 0) > 0;
  const rent = hasTokenAccount ? 0n : await reads.minBalance(TOKEN_ACCOUNT_BYTES);
  return { instructions, lookupTables: proposed.lookupTables, rent };
}

async function tokenAccountOf(user: string, mint: string, tokenProgram: string): Promise<UserToken> {
  return { mint, tokenProgram, account: await associatedTokenAddress(user, mint, tokenProgram) };
}

function tablesOf(
  lookupTables: readonly string[],
  accountsByAddress: ReadonlyMap<string, AccountFact | undefined>,
): ReadonlyMap<string, readonly string[]> {
  return new Map(
    lookupTables.map((table) => {
      const addresses = readLookupTable(accountsByAddress.get(table));
      if (addresses === undefined)
        throw new SwapRefused("aggregator", `it proposed ${table}, which is not an active lookup table`);
      return [table, addresses];
    }),
  );
}

/** Length of the signed transaction on the network. */
function transactionBytes(
  user: string,
  instructions: readonly PlainInstruction[],
  tables: ReadonlyMap<string, readonly string[]>,
): number {
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (draft) => setTransactionMessageFeePayer(address(user), draft),
    // Any hash has the same length.
    (draft) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: blockhash(SYSTEM_PROGRAM), lastValidBlockHeight: 0n },
        draft,
      ),
    (draft) => appendTransactionMessageInstructions(instructions.map(toKit), draft),
    (draft) =>
      compressTransactionMessageUsingAddressLookupTables(
        draft,
        Object.fromEntries(
          [...tables].map(([table, keys]) => [address(table), keys.map((key) => address(key))]),
        ),
      ),
  );
  return getTransactionEncoder().encode(compileTransaction(message)).length;
}
