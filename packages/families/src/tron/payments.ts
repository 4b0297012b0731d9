import type { Address, Hex } from "@causeway/domain";
import type { PaymentQuestion } from "../evidence.ts";
import { judgePayments, type PaymentJudgement } from "../evm/payments.ts";
import type { SolidTransaction } from "./agreement.ts";
import { machineAddress } from "./tron-address.ts";

/** What the configuration says about the chain that was paid on; addresses as the machine knows them. */
export interface PaymentRules {
  readonly depositories: readonly Address[];
  readonly fillContracts: readonly Address[];
}

/**
 * What each recipient received, judged as on other chains with this machine, see `judgePayments`.
 *
 * A transaction names one order: by its memo when that is 32 bytes, by the end of its input otherwise. A
 * plain payment has no input: its memo is looked at as if it were one. A memo of any other size, a text that
 * somebody's wallet wrote, names nothing. Pure.
 *
 * @throws RangeError as `judgePayments`; ServiceError INVALID_REQUEST when a recipient or currency is no
 * address of the chain
 */
export function paymentsIn(
  rules: PaymentRules,
  { receipt, block, transaction, memo }: SolidTransaction,
  question: PaymentQuestion,
): PaymentJudgement {
  const receipts = question.receipts.map(({ recipient, currency }) => ({
    recipient: machineAddress(recipient),
    currency: machineAddress(currency),
  }));
  return judgePayments(
    { ...rules, isZksyncStack: false },
    {
      transaction: { ...transaction, input: withMemo(transaction.input, memo) },
      logs: receipt.logs,
      timestamp: block.timestamp,
    },
    { ...question, receipts },
  );
}

/** The input with what names the order at its end. */
function withMemo(input: Hex, memo: Hex): Hex {
  return memo.length === 66 ? `0x${input.slice(2)}${memo.slice(2)}` : input;
}
