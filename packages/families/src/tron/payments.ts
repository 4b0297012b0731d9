import type { Address, Hex } from "@causeway/domain";
import type { PaymentQuestion } from "../evidence.ts";
import { judgePayments, type PaymentJudgment } from "../evm/payments.ts";
import type { SolidTransaction } from "./finality/agreement.ts";
import { tvmAddress } from "./address-codec/tron-address.ts";

/** Configuration of the chain of the payment; addresses have 20 bytes. */
export interface PaymentRules {
  readonly depositories: readonly Address[];
  readonly fillContracts: readonly Address[];
}

/**
 * What each recipient received, judged as on EVM chains, see `judgePayments`.
 *
 * A transaction names its order in a memo of 32 bytes, otherwise at the end of its input. A plain payment has
 * no input, so such a memo is appended as input. A memo of another size, such as a wallet's text, names no
 * order. Pure.
 *
 * @throws RangeError like `judgePayments`; ServiceError INVALID_REQUEST if a recipient or currency is not an
 * address of the chain
 */
export function paymentsIn(
  rules: PaymentRules,
  { receipt, block, transaction, memo }: SolidTransaction,
  question: PaymentQuestion,
): PaymentJudgment {
  const receipts = question.receipts.map(({ recipient, currency }) => ({
    recipient: tvmAddress(recipient),
    currency: tvmAddress(currency),
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

/** The input, with a memo of 32 bytes appended. */
function withMemo(input: Hex, memo: Hex): Hex {
  return memo.length === 66 ? `0x${input.slice(2)}${memo.slice(2)}` : input;
}
