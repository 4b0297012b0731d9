import {
  fillActions,
  fillKey,
  messageDigest,
  refundActions,
  refundKey,
  SETTLEMENT_STATUS,
  solverFillId,
  solverRefundId,
} from "@causeway/attest";
import type { Execution } from "@causeway/attest";
import { weightedDifference } from "@causeway/domain";
import type { Hex, Hex32, Order, OrderId } from "@causeway/domain";
import type { FillAttestationAnswer } from "@causeway/wire";
import type { SignedExecution } from "./settlement.port.ts";
import type { AttestedDeposit } from "./judge-deposits.ts";
import type { Judge } from "./hub-facts.ts";
import { verifyExecution } from "./verify-execution.ts";
import type { Verdict } from "./verify-execution.ts";

/**
 * A payment of the solver for an attested deposit. Orders of this service have one input with one refund
 * option.
 */
export interface PaymentClaim {
  readonly kind: "fill" | "refund";
  readonly order: Order;
  readonly orderId: OrderId;
  readonly orderSignature: Hex;
  /** Ids of the deposit's and the payment's transactions, in the oracles' format. */
  readonly depositTransactionId: string;
  readonly deposit: AttestedDeposit;
  readonly paymentTransactionId: string;
}

/** The parts of an answer that matter: signatures and the execution. Fills and refunds have the same form. */
export interface PaymentAnswer {
  readonly message: Pick<FillAttestationAnswer["message"], "signatures">;
  readonly execution: FillAttestationAnswer["execution"];
}

/**
 * Verifies an oracle's answer for a payment: the signatures must match the message and the execution that
 * follow from our own order, deposit and payment. The answer's execution is only compared, never used.
 */
export function judgePayment(
  judge: Judge,
  claim: PaymentClaim,
  answer: PaymentAnswer,
): Verdict<SignedExecution> {
  return verifyExecution(judge, claim.kind, executionOf(judge, claim), answer.execution, [
    {
      digest: messageDigest(messageIdOf(judge, claim)),
      signatures: answer.message.signatures.map(({ signature }) => signature),
    },
  ]);
}

function executionOf({ settlementKey, familyOf }: Judge, claim: PaymentClaim): Execution {
  const { order, deposit, orderId } = claim;
  const chain = claim.kind === "fill" ? order.output.chainId : (order.inputs[0]?.refunds[0]?.chainId ?? "");
  const settlement = {
    orderId,
    onchainIds: [deposit.onchainId],
    payment: { chain, transactionId: claim.paymentTransactionId },
  };
  const credits = [deposit.credit];
  return claim.kind === "fill"
    ? {
        idempotencyKey: fillKey(settlementKey, settlement),
        actions: fillActions(familyOf, order, credits),
      }
    : {
        idempotencyKey: refundKey(settlementKey, settlement, order.inputs.length),
        actions: refundActions(familyOf, order, credits),
      };
}

function messageIdOf({ familyOf }: Judge, claim: PaymentClaim): Hex32 {
  const { order, orderSignature, orderId, paymentTransactionId } = claim;
  const inputs = [
    { transactionId: claim.depositTransactionId, onchainId: claim.deposit.onchainId, inputIndex: 0 },
  ];
  const result = {
    orderId,
    status: SETTLEMENT_STATUS.successful,
    totalWeightedInputPaymentBpsDiff: weightedDifference(order, [claim.deposit.credit.amount]),
  };
  if (claim.kind === "fill")
    return solverFillId(familyOf, {
      data: { order, orderSignature, inputs, fill: { transactionId: paymentTransactionId } },
      result,
    });
  const refunds = [{ transactionId: paymentTransactionId, inputIndex: 0, refundIndex: 0 }];
  return solverRefundId(familyOf, { data: { order, orderSignature, inputs, refunds }, result });
}
