import { z } from "zod";
import { because } from "../because.ts";
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
        .enum(["fast", "slow"], because("must be fast or slow"))
        .optional()
        .describe("`fast` is accepted and treated as `slow`: nothing is attested before it is final."),
      part: z
        .int(because("must be an integer from 0 to 9999"))
        .min(0, because("must be an integer from 0 to 9999"))
        .max(9_999, because("must be an integer from 0 to 9999"))
        .optional()
        .describe(
          "Which part of the transaction's deposits, 0 by default. A part holds at most 64 deposits and is an execution of its own. " +
            "Token transfers that name no order come in parts after those of all other deposits. A part that does not exist has no messages. " +
            "Deposits in blocks before the hub file's `depositPartsSince` are all in part 0.",
        ),
      ...peerOptions,
    },
    because("must be an object"),
  )
  .meta({ id: "DepositAttestationRequest" });

/** One deposit, as signed. */
export const depositMessage = z
  .object({
    data: z.object({ chainId: z.string(), transactionId: z.string() }),
    result: z.object({
      onchainId: answerHash32,
      depository: z.string(),
      depositId: answerHash32.describe("The order's id; 32 zero bytes when the deposit carries none."),
      depositor: z.string(),
      currency: z.string(),
      amount: digits,
    }),
    extraData: z.object({ timestamp: digits.describe("Unix seconds of the block.") }).optional(),
    ...messageSignatures,
  })
  .meta({ id: "DepositMessage" });

/** One message and one action per deposit, in chain order; no message and no execution when the transaction holds no deposit. */
export const depositAttestationAnswer = z
  .object({ messages: z.array(depositMessage), execution: execution.optional(), ...answerExtras })
  .meta({ id: "DepositAttestationAnswer" });

export type DepositAttestationRequest = z.infer<typeof depositAttestationRequest>;
export type DepositMessage = z.infer<typeof depositMessage>;
export type DepositAttestationAnswer = z.infer<typeof depositAttestationAnswer>;
