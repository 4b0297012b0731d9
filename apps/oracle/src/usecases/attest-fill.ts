import { fillActions, fillKey, solverFillId } from "@causeway/attest";
import type { SolverFillMessage } from "@causeway/attest";
import type { Hex32 } from "@causeway/domain";
import { canonicalTransactionId, decodeAddress } from "@causeway/families";
import { fillAttestationAnswer } from "@causeway/wire";
import type { FillAttestationAnswer, FillAttestationRequest } from "@causeway/wire";
import { rejected } from "../ports/attestation-error.ts";
import type { ParsedRequest } from "../ports/parsed-request.ts";
import type { AttestationServices } from "../ports/attestation-services.ts";
import { finalValue } from "./final-value.ts";
import { allInOrder } from "./all-in-order.ts";
import { evidenceOf, familyOf, requireChain } from "./require-chain.ts";
import { assertFollowsDeposits } from "./paid-in-time.ts";
import { readSignedOrder } from "./read-order.ts";
import { groupReceipts } from "./receipts.ts";
import { creditsOf, readClaimedInputs, settledInputs } from "./settled-inputs.ts";
import { settlementRoute } from "./settlement-route.ts";
import { messageDifference } from "./message-difference.ts";
import { assertDepositedInFull } from "./deposited-in-full.ts";

/**
 * Attests "the solver paid this order, and these final deposits were made for it": credits the deposits to
 * the solver, less the order's fees.
 * @throws ServiceError INVALID_REQUEST and AttestationError for an invalid request
 */
export function attestFill(services: AttestationServices, localSigner: string) {
  const { chains, hub, attestationSigner } = services;
  const family = familyOf(chains);

  return (request: FillAttestationRequest): ParsedRequest<FillAttestationAnswer> => {
    const signed = readSignedOrder(chains, request.order, request.orderSignature);
    const { order, json, orderId, signature } = signed;
    const claimed = readClaimedInputs(chains, signed, request.inputs);
    const outputChain = requireChain(chains, order.output.chainId, "order.output.chainId");
    const vm = outputChain.chain.vmType;
    const transactionId = canonicalTransactionId(vm, request.fill.transactionId, "fill.transactionId");
    const requiredReceipts = groupReceipts(
      order.output.payments.map(({ recipient, currency, minimumAmount }) => ({
        recipient: decodeAddress(vm, recipient),
        currency: decodeAddress(vm, currency),
        minimum: minimumAmount,
      })),
    );
    const claims = { inputs: [...claimed], fill: { transactionId } };
    const messageData: SolverFillMessage["data"] = { order, orderId, orderSignature: signature, ...claims };
    const data: FillAttestationAnswer["message"]["data"] = {
      order: json,
      orderSignature: signature,
      ...claims,
    };
    const idempotencyKey = fillKey(hub.settlementKey, {
      orderId,
      onchainIds: claimed.map(({ onchainId }) => onchainId),
      payment: { chain: order.output.chainId, transactionId },
    });
    const messageId = (difference: bigint): Hex32 =>
      solverFillId(family, {
        data: messageData,
        result: { orderId, status: 1, totalWeightedInputPaymentBpsDiff: difference },
      });

    return {
      family: vm,
      key: `${orderId}:${transactionId}:${signature}:${JSON.stringify(claimed)}`,
      signsNothing: () => false,
      async attest(signal): Promise<FillAttestationAnswer> {
        const [inputs, evidence] = await allInOrder([
          settledInputs(chains, signed, claimed, signal),
          evidenceOf(outputChain, signal).payments(transactionId, {
            orderId,
            solver: order.solver,
            deadline: order.output.deadline,
            extraData: order.output.extraData,
            receipts: requiredReceipts.map(({ recipient, currency }) => ({ recipient, currency })),
            calls: order.output.calls,
          }),
        ]);
        const field = "fill.transactionId";
        const paid = finalValue(evidence, field, `fill ${transactionId} on ${outputChain.chain.name}`);
        assertFollowsDeposits(
          inputs,
          { chain: outputChain.chain, timestamp: paid.timestamp, height: paid.height },
          field,
          hub.fillLeadSeconds,
        );
        for (const [index, { minimum, positions }] of requiredReceipts.entries())
          if ((paid.amounts[index] ?? 0n) < minimum)
            throw rejected(
              field,
              `fill of order output payment ${positions.join(", ")} must be at least ${minimum}, got ${paid.amounts[index] ?? 0n}`,
            );
        const difference = messageDifference(
          order,
          inputs.map(({ deposit }) => deposit.amount),
        );
        if (hub.settlementKey === "payment") assertDepositedInFull(order, inputs);
        signal.throwIfAborted();
        const [messageSignatures, execution] = await Promise.all([
          attestationSigner.signMessage(messageId(difference)),
          attestationSigner.signExecution({
            idempotencyKey,
            actions: fillActions(family, order, creditsOf(signed, inputs)),
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
        path: "/attestations/solver-fills/v1",
        data,
        orderId,
        idempotencyKey,
        messageId,
        read: (answer) => {
          const parsed = fillAttestationAnswer.safeParse(answer);
          return parsed.success ? parsed.data : undefined;
        },
      }),
    };
  };
}
