import type { AttestationRoute } from "@causeway/attest";
import type { Hex32 } from "@causeway/domain";
import type { Execution, MessageSignature } from "@causeway/wire";
import type { AttestationServices } from "../ports/attestation-services.ts";
import { canonicalJson, canonicalValue } from "./canonical-json.ts";
import {
  executionSignaturesOf,
  executionSlot,
  messageSignaturesOf,
  messageSlot,
  signedPart,
  unsignedExecution,
} from "./message-slots.ts";

/** The common format of the answers about fills and refunds. */
export interface SettlementAnswer<Data> {
  readonly message: {
    readonly data: Data;
    readonly result: { orderId: string; status: 1; totalWeightedInputPaymentBpsDiff: string };
    readonly signature?: MessageSignature | undefined;
    readonly signatures: MessageSignature[];
  };
  readonly execution: Execution;
}

/** The expected answer for a requested fill or refund. */
export interface SettlementSubject<Data> {
  readonly path: string;
  readonly data: Data;
  readonly orderId: Hex32;
  readonly idempotencyKey: Hex32;
  /** Parses JSON with the route's schema. */
  readonly read: (json: unknown) => SettlementAnswer<unknown> | undefined;
  readonly messageId: (difference: bigint) => Hex32;
}

/** How answers about one fill or refund are combined: one message slot, one execution slot. */
export function settlementRoute<Data>(
  { hub, executionDigest }: AttestationServices,
  localSigner: string,
  subject: SettlementSubject<Data>,
): AttestationRoute<SettlementAnswer<Data>> {
  return {
    path: subject.path,
    parse(json) {
      const answer = subject.read(json);
      if (answer === undefined) return undefined;
      const { message, execution } = answer;
      const isThis =
        canonicalJson(message.data) === canonicalJson(subject.data) &&
        message.result.orderId.toLowerCase() === subject.orderId &&
        execution.idempotencyKey.toLowerCase() === subject.idempotencyKey;
      if (!isThis) return undefined;
      const difference = BigInt(message.result.totalWeightedInputPaymentBpsDiff).toString();
      return {
        message: {
          data: subject.data,
          result: { orderId: subject.orderId, status: 1, totalWeightedInputPaymentBpsDiff: difference },
          signatures: message.signatures,
        },
        execution: signedPart(execution),
      };
    },
    unsigned: ({ message, execution }) =>
      canonicalValue({
        message: { data: message.data, result: message.result },
        execution: unsignedExecution(execution),
      }),
    slots: ({ message, execution }) => [
      messageSlot(
        subject.messageId(BigInt(message.result.totalWeightedInputPaymentBpsDiff)),
        message.signatures,
      ),
      executionSlot(hub, executionDigest, execution),
    ],
    withSignatures(answer, slots) {
      const { signature: _, ...message } = answer.message;
      return {
        ...answer,
        message: { ...message, ...messageSignaturesOf(slots[0] ?? [], localSigner) },
        execution: { ...answer.execution, signatures: executionSignaturesOf(slots[1] ?? [], hub) },
      };
    },
  };
}
