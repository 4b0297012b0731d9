import { z } from "zod";
import { message } from "../message.ts";
import { answerHash32, signedDigits } from "../scalars.ts";
import { hash32, transactionId, uint32 } from "./scalars.ts";

/** The deposit that pays an input of the order. */
export const inputEntry = z
  .object(
    {
      transactionId: transactionId.describe("Transaction of the deposit on the chain of the order's input."),
      onchainId: hash32.describe("Id of the deposit within that transaction."),
      inputIndex: uint32.describe("Index of the input in the order."),
    },
    message("must be an object"),
  )
  .meta({ id: "InputEntry" });

export const inputEntries = z
  .array(inputEntry, message("must be a list"))
  .max(64, "must have at most 64 entries");

/** Result of a fill or refund. Failures are errors, so the status is always 1. */
export const settlementResult = z
  .object({
    orderId: answerHash32,
    status: z.literal(1).describe("1 means successful."),
    totalWeightedInputPaymentBpsDiff: signedDigits.describe(
      "Difference between deposited and requested amount, relative to the requested amount and multiplied by 10^18, truncated toward zero.",
    ),
  })
  .meta({ id: "SettlementResult" });

export type InputEntry = z.infer<typeof inputEntry>;
