import { createRail, type PayingRail, type RailOptions } from "@causeway/chains";
import type { Hex, Hex32, VmType } from "@causeway/domain";
import { bitcoinAccount, evmAccount, solanaAccount } from "../../apps/api/src/config/key-accounts.ts";

const accountOf: Readonly<Partial<Record<VmType, (privateKey: string) => Hex>>> = {
  "solana-vm": solanaAccount,
  "bitcoin-vm": bitcoinAccount,
  "hyperliquid-vm": evmAccount,
};

/** An adapter like the worker's: opened for the key's account, then given the key. */
export async function payingRail({
  privateKey,
  ...options
}: Omit<RailOptions, "solver"> & { readonly privateKey: Hex32 }): Promise<PayingRail> {
  const solver = accountOf[options.chain.family]?.(privateKey) ?? "0x";
  const rail = await createRail({ ...options, solver });
  return await rail.withKey(privateKey);
}
