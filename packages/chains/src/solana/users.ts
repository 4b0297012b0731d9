import type { Hex, Hex32 } from "@causeway/domain";
import { decodeAddress, garbage, nativeCurrency } from "@causeway/families";
import { createRpcTransport } from "../nodes/transport.ts";
import {
  associatedTokenAddress,
  depositNativeInstruction,
  depositoryAccounts,
  depositTokenInstruction,
  type PlainInstruction,
} from "@causeway/families/solana";
import type { OpenNonEvmUsers, SolanaDepositData, UsersOptions } from "../non-evm-users.ts";
import { tokenBalance, mintOf, type MintFact } from "./mints.ts";
import {
  createTokenAccountInstruction,
  lamportTransferInstruction,
  tokenTransferInstruction,
} from "./payment-instructions.ts";
import { createReads } from "./reads.ts";
import { createMintCache } from "./mint-cache.ts";
import { swapAndDeposit } from "./swap-deposit.ts";

/** Base58. */
interface UserPayment {
  readonly sender: string;
  readonly mint: string;
  readonly amount: bigint;
}

const NATIVE = nativeCurrency("solana-vm");
const TOKEN_ACCOUNT_BYTES = 165;
/** Lamports for the only signature, which the wallet adds; a priority fee is the wallet's choice. */
const SIGNATURE_FEE = 5_000n;

/**
 * The user's side of a Solana cluster: balances at commitment confirmed, and the instructions for their
 * wallet's transaction. A deposit throws RangeError for an amount that is not a uint64.
 */
export async function connectSolanaUsers({
  chain: { rpcUrl, depository },
}: {
  readonly chain: Pick<UsersOptions["chain"], "rpcUrl" | "depository">;
}): Promise<OpenNonEvmUsers> {
  const pdas = await depositoryAccounts(decodeAddress("solana-vm", depository));
  const transport = createRpcTransport({ url: rpcUrl });
  const reads = createReads(transport);
  /** Program and decimals of a mint never change. */
  const mints = createMintCache<Pick<MintFact, "tokenProgram" | "decimals">>();
  const cacheMint = (mint: string, { tokenProgram, decimals }: MintFact) => {
    mints.set(mint, { tokenProgram, decimals });
    return { tokenProgram, decimals };
  };

  async function programOf(mint: string): Promise<string> {
    const cached = mints.get(mint);
    if (cached !== undefined) return cached.tokenProgram;
    const [account] = await reads.accounts([mint], "confirmed");
    const fact = mintOf(account);
    if (fact === undefined) throw garbage("getMultipleAccounts", "currency is not a mint");
    return cacheMint(mint, fact).tokenProgram;
  }

  async function depositOf({
    mint,
    ...terms
  }: UserPayment & { readonly id: Hex32 }): Promise<PlainInstruction> {
    const order = { pdas, ...terms };
    if (mint === NATIVE) return depositNativeInstruction(order);
    return await depositTokenInstruction({ ...order, mint, tokenProgram: await programOf(mint) });
  }

  /** A plain transfer to a wallet. The user pays for its token account. */
  async function transferTo(
    wallet: string,
    { sender, mint, amount }: UserPayment,
  ): Promise<{ readonly instructions: readonly PlainInstruction[]; readonly rent: bigint }> {
    if (mint === NATIVE)
      return { instructions: [lamportTransferInstruction(sender, wallet, amount)], rent: 0n };
    const [account] = await reads.accounts([mint], "confirmed");
    const fact = mintOf(account);
    if (fact === undefined) throw garbage("getMultipleAccounts", "configured currency is not a mint");
    const { tokenProgram, decimals } = fact;
    const [from, to] = await Promise.all([
      associatedTokenAddress(sender, mint, tokenProgram),
      associatedTokenAddress(wallet, mint, tokenProgram),
    ]);
    return {
      instructions: [
        createTokenAccountInstruction({ payer: sender, tokens: to, wallet, mint, tokenProgram }),
        tokenTransferInstruction({ tokenProgram, mint, decimals, from, to, owner: sender, amount }),
      ],
      rent: await reads.minBalance(TOKEN_ACCOUNT_BYTES),
    };
  }

  return {
    balance: async (user, currency) => {
      const [wallet, token] = [toBase58(user), toBase58(currency)];
      const holdingAccount =
        token === NATIVE ? wallet : await associatedTokenAddress(wallet, token, await programOf(token));
      const [account] = await reads.accounts([holdingAccount], "confirmed");
      return token === NATIVE ? (account?.lamports ?? 0n) : tokenBalance(account);
    },
    mint: async (currency) => {
      const mint = toBase58(currency);
      const cached = mints.get(mint);
      if (cached !== undefined) return cached;
      const fact = mintOf((await reads.accounts([mint], "confirmed"))[0]);
      return fact && cacheMint(mint, fact);
    },
    deposit: async ({ user, currency, amount, orderId: id, to, swap }) => {
      const [sender, mint] = [toBase58(user), toBase58(currency)];
      if (swap !== undefined) {
        if (to !== undefined) throw new Error("invariant violated: swap in a payment to a deposit address");
        const inputMint = toBase58(swap.currency);
        const swapDeposit = await swapAndDeposit(
          { pdas, reads, programOf },
          { user: sender, currency: mint, amount, id, inputMint, swap },
        );
        return {
          data: toData(swapDeposit.instructions, swapDeposit.lookupTables),
          fee: SIGNATURE_FEE + swapDeposit.rent,
        };
      }
      const { instructions, rent } =
        to === undefined
          ? { instructions: [await depositOf({ sender, mint, amount, id })], rent: 0n }
          : await transferTo(toBase58(to), { sender, mint, amount });
      return { data: toData(instructions, []), fee: SIGNATURE_FEE + rent };
    },
    close: () => transport.close(),
  };
}

function toData(
  instructions: readonly PlainInstruction[],
  lookupTables: readonly string[],
): SolanaDepositData {
  return {
    instructions: instructions.map(({ programId, keys, data }) => ({
      programId,
      keys: keys.map((key) => ({ ...key })),
      data: data.slice(2),
    })),
    addressLookupTableAddresses: [...lookupTables],
  };
}

function toBase58(bytes: Hex): string {
  return decodeAddress("solana-vm", bytes);
}
