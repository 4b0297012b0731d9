import type { Address } from "@causeway/domain";
import { final, paidIn, refuted } from "../answer.ts";
import { depositoriesOf, currentFirst } from "../depositories.ts";
import type { Evidence, PaymentQuestion } from "../evidence.ts";
import type { Family } from "../family.ts";
import type { HyperliquidFacts } from "./facts.ts";
import type { HyperliquidTransaction } from "./answers.ts";
import { depositIn } from "./deposits.ts";
import { RETRY_AFTER_SECONDS } from "./finality.ts";
import type { TransferPurpose } from "./payments/transfer-purpose.ts";
import { judgePayment, timestampOf } from "./payments.ts";
import type { TransferRules } from "./payments/transfers.ts";

export interface HyperliquidRules extends Pick<TransferRules, "network" | "usdcTokenId"> {
  readonly depositories: readonly Address[];
}

export interface ListedTransaction {
  readonly transaction: HyperliquidTransaction;
  readonly decimalsOf: TransferRules["decimalsOf"];
}

export interface MappedTransaction extends ListedTransaction {
  /** From the hub's entry for the nonce that {@link nonceToMap} returns. */
  readonly purpose: TransferPurpose;
}

export const hyperliquid: Family<"hyperliquid", HyperliquidFacts, HyperliquidRules, MappedTransaction> = {
  id: "hyperliquid",
  retryAfterSeconds: () => RETRY_AFTER_SECONDS,
  rules: (chain, { network, usdcTokenId }) => ({
    depositories: depositoriesOf(chain) as readonly Address[],
    network,
    usdcTokenId,
  }),
  deposits: (rules, { transaction, decimalsOf, purpose }) => {
    const timestamp = timestampOf(transaction);
    const deposit = depositIn(transaction, { ...rules, decimalsOf });
    if (deposit === undefined)
      return final({ depository: currentFirst(rules.depositories)[0], deposits: [], timestamp });
    if ("refusal" in deposit) return refuted(deposit.refusal);
    if (purpose.kind === "open") return UNMAPPED;
    const { sender, destination, currency, amount } = deposit;
    const depositor = purpose.kind === "for" ? (purpose.depositor ?? sender) : sender;
    const depositId = purpose.kind === "for" ? purpose.id : undefined;
    return final({
      depository: destination,
      deposits: [{ index: "0", depositor, currency, amount, depositId }],
      timestamp,
    });
  },
  payments: (rules, { transaction, decimalsOf, purpose }, question) => {
    const judgment = judgePayment(transaction, { ...rules, decimalsOf }, question);
    if ("refusal" in judgment) return refuted(judgment.refusal);
    if (purpose.kind === "open") return UNMAPPED;
    if (purpose.kind !== "for" || purpose.id !== question.orderId)
      return refuted("payer's nonce is not mapped to the order");
    return paidIn({ timestamp: timestampOf(transaction) }, judgment);
  },
};

const UNMAPPED: Evidence<never> = {
  kind: "notFinal",
  reason: "transfer's nonce is not mapped to an order yet, but can still be mapped",
  retryAfterSeconds: 15,
};

/** The nonce whose mapping determines what a transaction was for; undefined if no mapping matters. */
export function nonceToMap(
  rules: HyperliquidRules,
  { transaction, decimalsOf }: ListedTransaction,
  question: PaymentQuestion | undefined,
): { readonly wallet: Address; readonly nonce: bigint } | undefined {
  const transferRules = { ...rules, decimalsOf };
  if (question === undefined) {
    const deposit = depositIn(transaction, transferRules);
    if (deposit === undefined || "refusal" in deposit) return undefined;
    return { wallet: deposit.sender, nonce: deposit.nonce };
  }
  const payment = judgePayment(transaction, transferRules, question);
  return "refusal" in payment ? undefined : { wallet: payment.payer, nonce: payment.nonce };
}
