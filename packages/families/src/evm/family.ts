import type { Address } from "@causeway/domain";
import { blockRetrySeconds, final, paidIn } from "../answer.ts";
import { attestedDepository, type DepositoryReading } from "../attested-depository.ts";
import { depositoriesOf, currentFirst } from "../depositories.ts";
import type { Family } from "../family.ts";
import type { EvmFacts } from "./facts.ts";
import { depositEvidenceIn, needsCalldata } from "./deposits/deposit-evidence.ts";
import { judgePayments } from "./payments.ts";
import type { BlockRef, ReceiptFact, TransactionFact } from "./port.ts";

export interface EvmRules extends Pick<EvmFacts, "fillContracts" | "isZksyncStack"> {
  readonly depositories: readonly Address[];
}

export interface EvmTransaction {
  readonly receipt: ReceiptFact;
  readonly block: Pick<BlockRef, "timestamp">;
  /** Undefined if the deposits can be judged without it; see {@link needsTransaction}. */
  readonly transaction: TransactionFact | undefined;
}

export const evm: Family<"evm", EvmFacts, EvmRules, EvmTransaction> = {
  id: "evm",
  retryAfterSeconds: blockRetrySeconds,
  rules: (chain, { fillContracts, isZksyncStack }) => ({
    depositories: depositoriesOf(chain) as readonly Address[],
    fillContracts,
    isZksyncStack,
  }),
  deposits: ({ depositories, isZksyncStack }, { receipt, block, transaction }) => {
    const read = (depository: Address): DepositoryReading => ({
      depository,
      deposits: depositEvidenceIn({ depository, isZksyncStack }, receipt, transaction),
    });
    const [present, ...former] = currentFirst(depositories);
    const attested = attestedDepository([read(present), ...former.map(read)]);
    return final({ ...attested, timestamp: block.timestamp });
  },
  payments: (rules, { receipt, block, transaction }, question) => {
    if (transaction === undefined)
      throw new TypeError("invariant violated: a payment without its transaction");
    const { timestamp } = block;
    return paidIn(
      { timestamp },
      judgePayments(rules, { transaction, logs: receipt.logs, timestamp }, question),
    );
  },
};

/** Whether judging the deposits requires the transaction itself. */
export function needsTransaction({ depositories, isZksyncStack }: EvmRules, receipt: ReceiptFact): boolean {
  return depositories.some((depository) => needsCalldata({ depository, isZksyncStack }, receipt));
}
