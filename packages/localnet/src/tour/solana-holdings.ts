import { address, createSolanaRpc } from "@solana/kit";
import { planLocalPrograms } from "../families/deploy-programs.ts";

/** The vault of the local system's depository program. */
export async function depositoryVault(): Promise<string> {
  const { depository } = await planLocalPrograms();
  return depository.accounts.vault;
}

/** Base units of a token that an account owns, in all its token accounts. */
export async function solanaTokensOf(rpcUrl: string, owner: string, mint: string): Promise<bigint> {
  const { value } = await createSolanaRpc(rpcUrl)
    .getTokenAccountsByOwner(address(owner), { mint: address(mint) }, { encoding: "jsonParsed" })
    .send();
  return value.reduce((sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount), 0n);
}
