import { z } from "zod";
import { message } from "../message.ts";
import { hash32, numberOrDigits, text, transactionId } from "../scalars.ts";

const chainIdText = numberOrDigits("a chain id: an integer, or its digits in a string");

/** Body of `POST /transactions/index`. */
export const indexTransactionRequest = z
  .object(
    {
      txHash: transactionId.describe("Hash of the deposit transaction; it need not be mined yet."),
      chainId: chainIdText.describe("Origin chain id: an integer, or its digits in a string."),
      requestId: hash32.optional(),
      referrer: text(512).optional(),
    },
    message("must be a JSON object"),
  )
  .meta({ id: "IndexTransactionRequest" });

/** Body of `POST /transactions/single`. */
export const singleTransactionRequest = z
  .object(
    {
      tx: z
        .string(message("must be a JSON string of the transaction with its txHash"))
        .describe(
          "JSON string of one object: the fields of the step item's `data`, and `txHash`. If the wallet replaced the transaction, `replacementTxHash` names the new one and `txHash` may be omitted.",
        ),
      chainId: chainIdText.describe("Chain id of the transaction: an integer, or its digits in a string."),
      requestId: hash32,
      referrer: text(512).optional(),
    },
    message("must be a JSON object"),
  )
  .meta({ id: "SingleTransactionRequest" });

/** The required contents of `tx` of `POST /transactions/single`, parsed as JSON. */
export const singleTransaction = z.object(
  { txHash: transactionId.optional(), replacementTxHash: transactionId.optional() },
  message("must be a JSON string of an object"),
);

export const messageAnswer = z.object({ message: z.string() }).meta({ id: "MessageAnswer" });

export type MessageAnswer = z.infer<typeof messageAnswer>;
