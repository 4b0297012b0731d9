import { z } from "zod";
import { message } from "../message.ts";
import { attestedOrder } from "./order.ts";
import { peerOptions, signature65, transactionId, uint32 } from "./scalars.ts";
import { inputEntries, settlementResult } from "./settled-input.ts";
import { answerExtras, execution, messageSignatures } from "./signatures.ts";

/** The transaction that refunded an input, and the refund option it used. */
export const refundEntry = z
  .object(
    {
      transactionId,
      inputIndex: uint32.describe("Index of the input in the order."),
      refundIndex: uint32.describe("Index of the refund option in the input."),
    },
    message("must be an object"),
  )
  .meta({ id: "RefundEntry" });

const subject = {
  order: attestedOrder,
  orderSignature: signature65.describe(
    "The solver's EIP-191 signature over the 32 raw bytes of the order id.",
  ),
  inputs: inputEntries,
  refunds: z.array(refundEntry, message("must be a list")).max(64, "must have at most 64 entries"),
};

/** Body of `POST /attestations/solver-refunds/v1`. */
export const refundAttestationRequest = z
  .object({ ...subject, ...peerOptions }, message("must be an object"))
  .meta({ id: "RefundAttestationRequest" });

/**
 * The attestation that an order's deposits were refunded, and the execution that credits them to the solver.
 */
export const refundAttestationAnswer = z
  .object({
    message: z.object({ data: z.object(subject), result: settlementResult, ...messageSignatures }),
    execution,
    ...answerExtras,
  })
  .meta({ id: "RefundAttestationAnswer" });

export type RefundEntry = z.infer<typeof refundEntry>;
export type RefundAttestationRequest = z.infer<typeof refundAttestationRequest>;
export type RefundAttestationAnswer = z.infer<typeof refundAttestationAnswer>;
