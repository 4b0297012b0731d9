import { z } from "zod";
import { message } from "../message.ts";
import { answerHash32, digits } from "../scalars.ts";
import { chainName, peerOptions, transactionId } from "./scalars.ts";
import { answerExtras, execution, messageSignatures } from "./signatures.ts";

/** Body of `POST /attestations/depository-deposits/v1`. */
export const depositAttestationRequest = z
  .object(
    {
      chainId: chainName,
      transactionId,
      mode: z
        .enum(["fast", "slow"], message("must be fast or slow"))
        .optional()
        .describe("`fast` is treated as `slow`: only final deposits are attested."),
      part: z
        .int(message("must be an integer from 0 to 9999"))
        .min(0, message("must be an integer from 0 to 9999"))
        .max(9_999, message("must be an integer from 0 to 9999"))
        .optional()
        .describe(
          "Which part of the transaction's deposits to attest; default 0. A part has at most 64 deposits and an execution of its own. " +
            "Token transfers without an order id form separate parts, after those of all other deposits. A part that does not exist has no messages. " +
            "For a block before the time from which the operator of the oracles uses parts (`depositPartsSince` of the hub file), part 0 has all deposits and any other part is refused. Otherwise ask for parts from 0 upward until one has no messages.",
        ),
      ...peerOptions,
    },
    message("must be an object"),
  )
  .meta({ id: "DepositAttestationRequest" });

/** One deposit, as signed. */
export const depositMessage = z
  .object({
    data: z.object({ chainId: z.string(), transactionId: z.string() }),
    result: z.object({
      onchainId: answerHash32,
      depository: z.string(),
      depositId: answerHash32.describe("Order id; 32 zero bytes if the deposit has none."),
      depositor: z.string(),
      currency: z.string(),
      amount: digits,
    }),
    extraData: z.object({ timestamp: digits.describe("Block timestamp, Unix seconds.") }).optional(),
    ...messageSignatures,
  })
  .meta({ id: "DepositMessage" });

/** One message and one action per deposit, in chain order; neither if the transaction has no deposit. */
export const depositAttestationAnswer = z
  .object({ messages: z.array(depositMessage), execution: execution.optional(), ...answerExtras })
  .meta({ id: "DepositAttestationAnswer" });

export type DepositAttestationRequest = z.infer<typeof depositAttestationRequest>;
export type DepositMessage = z.infer<typeof depositMessage>;
export type DepositAttestationAnswer = z.infer<typeof depositAttestationAnswer>;
