import { refundActions, refundKey, solverRefundId } from "@causeway/attest";
import type { SolverRefundMessage } from "@causeway/attest";
import type { Hex32 } from "@causeway/domain";
import { refundAttestationAnswer } from "@causeway/wire";
import type { RefundAttestationAnswer, RefundAttestationRequest } from "@causeway/wire";
import { invalid, rejected } from "../ports/attestation-error.ts";
import type { ParsedRequest } from "../ports/parsed-request.ts";
import type { AttestationServices } from "../ports/attestation-services.ts";
import { finalValue } from "./final-value.ts";
import { allInOrder } from "./all-in-order.ts";
import { evidenceOf, familyOf } from "./require-chain.ts";
import { assertFollowsDeposits } from "./paid-in-time.ts";
import { readSignedOrder } from "./read-order.ts";
import type { SignedOrder } from "./read-order.ts";
import { readClaimedRefunds, refundPayments } from "./refund-plan.ts";
import type { RefundPayment } from "./refund-plan.ts";
import { creditsOf, readClaimedInputs, settledInputs } from "./settled-inputs.ts";
import type { SettledInput } from "./settled-inputs.ts";
import { settlementRoute } from "./settlement-route.ts";
import { messageDifference } from "./message-difference.ts";
import { assertRefundsWithinDeposits } from "./deposited-in-full.ts";

/**
 * Attests "the solver refunded the deposits of this order": credits the deposits to the solver, who repaid
 * the depositors on chain.
 * @throws ServiceError INVALID_REQUEST and AttestationError for an invalid request
 */
export function attestRefund(services: AttestationServices, localSigner: string) {
  const { chains, hub, attestationSigner } = services;
  const family = familyOf(chains);

  return (request: RefundAttestationRequest): ParsedRequest<RefundAttestationAnswer> => {
    const signed = readSignedOrder(chains, request.order, request.orderSignature);
    const { order, json, orderId, signature } = signed;
    const claimed = readClaimedInputs(chains, signed, request.inputs);
    const refunds = readClaimedRefunds(chains, signed, request.refunds);
    const first = refunds[0];
    if (first === undefined) throw invalid("refunds", "refunds must not be empty");
    const claims = {
      inputs: [...claimed],
      refunds: refunds.map(({ transactionId, inputIndex, refundIndex }) => ({
        transactionId,
        inputIndex,
        refundIndex,
      })),
    };
    const messageData: SolverRefundMessage["data"] = {
      order,
      orderId,
      orderSignature: signature,
      ...claims,
    };
    const data: RefundAttestationAnswer["message"]["data"] = {
      order: json,
      orderSignature: signature,
      ...claims,
    };
    const idempotencyKey = refundKey(
      hub.settlementKey,
      {
        orderId,
        onchainIds: claimed.map(({ onchainId }) => onchainId),
        payment: { chain: first.attestedChain.chain.name, transactionId: first.transactionId },
      },
      order.inputs.length,
    );
    const messageId = (difference: bigint): Hex32 =>
      solverRefundId(family, {
        data: messageData,
        result: { orderId, status: 1, totalWeightedInputPaymentBpsDiff: difference },
      });

    return {
      family: first.attestedChain.chain.vmType,
      key: `${orderId}:${signature}:${JSON.stringify(claims)}`,
      signsNothing: () => false,
      async attest(signal): Promise<RefundAttestationAnswer> {
        const inputs = await settledInputs(chains, signed, claimed, signal);
        const difference = messageDifference(
          order,
          inputs.map(({ deposit }) => deposit.amount),
        );
        const payments = refundPayments(refunds, inputs, difference);
        if (hub.settlementKey === "payment" && order.inputs.length > 1) assertNotFills(signed, payments);
        const paid = await allInOrder(
          payments.map(async (payment) => await readPaidAmounts(signed, payment, inputs, signal)),
        );
        if (hub.settlementKey === "payment")
          assertRefundsWithinDeposits(order, refunds, payments, paid, inputs);
        signal.throwIfAborted();
        const [messageSignatures, execution] = await Promise.all([
          attestationSigner.signMessage(messageId(difference)),
          attestationSigner.signExecution({
            idempotencyKey,
            actions: refundActions(family, order, creditsOf(signed, inputs)),
          }),
        ]);
        return {
          message: {
            data,
            result: { orderId, status: 1, totalWeightedInputPaymentBpsDiff: difference.toString() },
            ...messageSignatures,
          },
          execution,
        };
      },
      route: settlementRoute(services, localSigner, {
        path: "/attestations/solver-refunds/v1",
        data,
        orderId,
        idempotencyKey,
        messageId,
        read: (answer) => {
          const parsed = refundAttestationAnswer.safeParse(answer);
          return parsed.success ? parsed.data : undefined;
        },
      }),
    };
  };
}

/**
 * The refund of an order with several inputs has its own idempotency key, so none of its payments may also
 * count toward the order's fill.
 */
function assertNotFills({ json }: SignedOrder, payments: readonly RefundPayment[]): void {
  const { output } = json;
  for (const { attestedChain, receipts } of payments)
    for (const { recipient, currency } of receipts)
      if (
        attestedChain.chain.name === output.chainId &&
        output.payments.some((payment) => payment.recipient === recipient && payment.currency === currency)
      )
        throw rejected(
          "refunds",
          "refunds must not pay an output recipient in the output currency: it could also count as the fill",
        );
}

/**
 * The amounts that a refund transaction paid, in base units, by index of the payment's receipts.
 * @throws AttestationError if it is not final, precedes its deposits, or paid less than a receipt's minimum
 */
async function readPaidAmounts(
  { orderId, order }: SignedOrder,
  { attestedChain, transactionId, deadline, extraData, receipts, inputIndexes }: RefundPayment,
  inputs: readonly SettledInput[],
  signal: AbortSignal,
): Promise<readonly bigint[]> {
  const field = "refunds";
  const evidence = await evidenceOf(attestedChain, signal).payments(transactionId, {
    orderId,
    solver: order.solver,
    deadline,
    extraData,
    receipts: receipts.map(({ recipient, currency }) => ({ recipient, currency })),
    calls: [],
  });
  const paid = finalValue(evidence, field, `refund ${transactionId} on ${attestedChain.chain.name}`);
  const refunded = inputIndexes.flatMap((index) => inputs[index] ?? []);
  assertFollowsDeposits(
    refunded,
    { chain: attestedChain.chain, timestamp: paid.timestamp, height: paid.height },
    field,
  );
  for (const [index, { minimum }] of receipts.entries())
    if ((paid.amounts[index] ?? 0n) < minimum)
      throw rejected(
        field,
        `refund for order input ${inputIndexes.join(", ")} must be at least ${minimum}, got ${paid.amounts[index] ?? 0n}`,
      );
  return paid.amounts;
}
