import { final, paidIn, refuted } from "../answer.ts";
import { attestedDepository, type DepositoryReading } from "../attested-depository.ts";
import { depositoriesOf, currentFirst } from "../depositories.ts";
import type { Family } from "../family.ts";
import type { SolanaFacts } from "./facts.ts";
import { depositsIn } from "./deposits.ts";
import { depositoryAccounts, type DepositoryAccounts } from "./deposits/depository-accounts.ts";
import type { TransactionFacts } from "./answers/transaction-facts.ts";
import { RETRY_AFTER_SECONDS } from "./finality.ts";
import { judgePayments } from "./payments.ts";
import { vaultAccountsIn } from "./deposits/vault-accounts.ts";

export const solana: Family<"solana", SolanaFacts, readonly DepositoryAccounts[], TransactionFacts> = {
  id: "solana",
  retryAfterSeconds: () => RETRY_AFTER_SECONDS,
  rules: async (chain) => await Promise.all(depositoriesOf(chain).map(depositoryAccounts)),
  deposits: async (depositories, facts) => {
    let logsCut = false;
    const read = async (pdas: DepositoryAccounts): Promise<DepositoryReading> => {
      const reading = depositsIn(pdas, await vaultAccountsIn(pdas, facts), facts);
      if (reading.kind === "logsCut") logsCut = true;
      return { depository: pdas.program, deposits: reading.kind === "read" ? reading.deposits : [] };
    };
    const [present, ...former] = currentFirst(depositories);
    const attested = attestedDepository([await read(present), ...(await Promise.all(former.map(read)))]);
    if (logsCut) return refuted("the endpoint truncates logs", "endpoint");
    return final({ ...attested, timestamp: facts.timestamp });
  },
  payments: (depositories, facts, question) =>
    paidIn({ timestamp: facts.timestamp }, judgePayments(depositories, facts, question)),
};
