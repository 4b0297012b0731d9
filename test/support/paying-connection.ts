import { connectNonEvm, type PayingConnection, type NonEvmOptions } from "@causeway/chains";
import type { Hex, Hex32, VmType } from "@causeway/domain";
import { bitcoinAccount, evmAccount, solanaAccount } from "../../apps/api/src/config/key-accounts.ts";

const accountOf: Readonly<Partial<Record<VmType, (privateKey: string) => Hex>>> = {
  "solana-vm": solanaAccount,
  "bitcoin-vm": bitcoinAccount,
  "hyperliquid-vm": evmAccount,
};

/** Opens an adapter as the worker does: first for the account, then with its key. */
export async function payingConnection({
  privateKey,
  ...options
}: Omit<NonEvmOptions, "solver"> & { readonly privateKey: Hex32 }): Promise<PayingConnection> {
  const solver = accountOf[options.chain.family]?.(privateKey) ?? "0x";
  const connection = await connectNonEvm({ ...options, solver });
  return await connection.withKey(privateKey);
}
