import { z } from "zod";
import { message } from "../message.ts";
import { attestedOrder } from "./order.ts";
import { peerOptions, signature65, transactionId } from "./scalars.ts";
import { inputEntries, settlementResult } from "./settled-input.ts";
import { answerExtras, execution, messageSignatures } from "./signatures.ts";

const fillEntry = z.object({ transactionId }, message("must be an object"));
const subject = {
  order: attestedOrder,
  orderSignature: signature65.describe(
    "The solver's EIP-191 signature over the 32 raw bytes of the order id.",
  ),
  inputs: inputEntries,
  fill: fillEntry,
};

/** Body of `POST /attestations/solver-fills/v1`. */
export const fillAttestationRequest = z
  .object({ ...subject, ...peerOptions }, message("must be an object"))
  .meta({ id: "FillAttestationRequest" });

/** The attestation that an order was paid, and the execution that credits its deposits to the solver. */
export const fillAttestationAnswer = z
  .object({
    message: z.object({ data: z.object(subject), result: settlementResult, ...messageSignatures }),
    execution,
    ...answerExtras,
  })
  .meta({ id: "FillAttestationAnswer" });

export type FillAttestationRequest = z.infer<typeof fillAttestationRequest>;
export type FillAttestationAnswer = z.infer<typeof fillAttestationAnswer>;
