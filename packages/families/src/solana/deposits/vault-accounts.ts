import { neededTokenAccounts, vaultKey } from "../deposits.ts";
import { associatedTokenAddress, type DepositoryAccounts } from "./depository-accounts.ts";
import type { TransactionFacts } from "../answers/transaction-facts.ts";

/** The vault's token accounts of every mint that the transaction may have moved to it. */
export async function vaultAccountsIn(
  pdas: DepositoryAccounts,
  facts: TransactionFacts,
): Promise<ReadonlyMap<string, string>> {
  const mints = neededTokenAccounts(pdas, facts);
  return new Map(
    await Promise.all(
      mints.map(
        async ({ mint, tokenProgram }) =>
          [
            vaultKey(mint, tokenProgram),
            await associatedTokenAddress(pdas.vault, mint, tokenProgram),
          ] as const,
      ),
    ),
  );
}
