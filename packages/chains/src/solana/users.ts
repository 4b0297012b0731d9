import type { Hex } from "@causeway/domain";
import { decodeAddress, garbage, nativeCurrency } from "@causeway/families";
import { createRpcTransport } from "../nodes/transport.ts";
import {
  associatedTokenAddress,
  depositNativeInstruction,
  depositoryAccounts,
  depositTokenInstruction,
} from "@causeway/families/solana";
import type { OpenNonEvmUsers, UsersOptions } from "../non-evm-users.ts";
import { heldIn, mintOf } from "./mints.ts";
import { createReads } from "./reads.ts";

const NATIVE = nativeCurrency("solana-vm");
/** Lamports for the single signature of a wallet, which may offer a priority fee in addition. */
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
  /** The token program of a mint never changes. */
  const programs = new Map<string, string>();

  async function programOf(mint: string): Promise<string> {
    const known = programs.get(mint);
    if (known !== undefined) return known;
    const [account] = await reads.accounts([mint], "confirmed");
    const fact = mintOf(account);
    if (fact === undefined) throw garbage("getMultipleAccounts", "configured currency is not a mint");
    programs.set(mint, fact.tokenProgram);
    return fact.tokenProgram;
  }

  return {
    balance: async (user, currency) => {
      const [wallet, token] = [toBase58(user), toBase58(currency)];
      const place =
        token === NATIVE ? wallet : await associatedTokenAddress(wallet, token, await programOf(token));
      const [account] = await reads.accounts([place], "confirmed");
      return token === NATIVE ? (account?.lamports ?? 0n) : heldIn(account);
    },
    deposit: async ({ user, currency, amount, orderId: id }) => {
      const [sender, mint] = [toBase58(user), toBase58(currency)];
      const order = { pdas, sender, amount, id };
      const { programId, keys, data } =
        mint === NATIVE
          ? depositNativeInstruction(order)
          : await depositTokenInstruction({ ...order, mint, tokenProgram: await programOf(mint) });
      return {
        data: {
          instructions: [{ programId, keys: keys.map((key) => ({ ...key })), data: data.slice(2) }],
          addressLookupTableAddresses: [],
        },
        fee: SIGNATURE_FEE,
      };
    },
    close: () => transport.close(),
  };
}

function toBase58(bytes: Hex): string {
  return decodeAddress("solana-vm", bytes);
}
