import { z } from "zod";
import { message } from "../message.ts";
import { answerHash32 } from "../scalars.ts";
import { address, chainName, hash32, hexData, peerOptions, transactionId } from "./scalars.ts";
import { answerExtras, execution, messageSignatures } from "./signatures.ts";

/** The components of the withdrawal address. */
export const withdrawalAddressRequest = z
  .object(
    {
      chainId: chainName,
      currency: address,
      withdrawer: address,
      withdrawerChainId: chainName,
      recipient: address,
      withdrawalNonce: hash32,
    },
    message("must be an object"),
  )
  .meta({ id: "WithdrawalAddressRequest" });

/** Body of `POST /attestations/depository-withdrawals/v1`. */
export const withdrawalAttestationRequest = z
  .object(
    {
      chainId: chainName,
      withdrawal: hexData
        .max(65_538, "must have at most 32 KiB")
        .describe(
          "The payload that the allocator signed for the depository, in the encoding of its chain family: on EVM chains the ABI-encoded call request.",
        ),
      transactionId: transactionId
        .optional()
        .describe(
          "The transaction that executed the withdrawal, if known: it may be the only way to find it. The id is not signed.",
        ),
      withdrawalAddressRequest,
      ...peerOptions,
    },
    message("must be an object"),
  )
  .meta({ id: "WithdrawalAttestationRequest" });

/** 0 pending, 1 executed, 2 expired. */
export const withdrawalStatus = z.union([z.literal(0), z.literal(1), z.literal(2)]);

/**
 * `execution` burns the amount that was paid out, or returns the amount that can no longer be paid. Absent
 * while the withdrawal is pending.
 */
export const withdrawalAttestationAnswer = z
  .object({
    message: z.object({
      data: z.object({
        chainId: z.string(),
        withdrawal: z.string(),
        withdrawalAddressRequest: z.object({
          chainId: z.string(),
          currency: z.string(),
          withdrawer: z.string(),
          withdrawerChainId: z.string(),
          recipient: z.string(),
          withdrawalNonce: answerHash32,
        }),
      }),
      result: z.object({
        withdrawalId: answerHash32,
        depository: z.string(),
        status: withdrawalStatus.describe("0 pending, 1 executed, 2 expired."),
      }),
      ...messageSignatures,
    }),
    execution: execution.optional(),
    ...answerExtras,
  })
  .meta({ id: "WithdrawalAttestationAnswer" });

export type WithdrawalAddressRequest = z.infer<typeof withdrawalAddressRequest>;
export type WithdrawalAttestationRequest = z.infer<typeof withdrawalAttestationRequest>;
export type WithdrawalAttestationAnswer = z.infer<typeof withdrawalAttestationAnswer>;
