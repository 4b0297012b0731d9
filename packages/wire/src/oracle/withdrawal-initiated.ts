import { z } from "zod";
import { message } from "../message.ts";
import { answerHash32, answerHex, digits, evmAddress } from "../scalars.ts";
import { peerOptions } from "./scalars.ts";
import { answerExtras, payloadSignature } from "./signatures.ts";
import { hubWithdrawal, hubWithdrawalEcho } from "./withdrawal-initiation.ts";

/** Body of `POST /attestations/withdrawal-initiated/v1`. */
export const withdrawalInitiatedRequest = z
  .object({ ...hubWithdrawal, ...peerOptions }, message("must be an object"))
  .meta({ id: "WithdrawalInitiatedRequest" });

/** The payout that the allocator signs, with the signatures that attest the hub balance. */
export const payloadParams = z
  .object({
    chainId: digits.describe("Chain to withdraw to, by its number on the hub."),
    depository: z.string(),
    currency: z.string(),
    amount: digits,
    spender: evmAddress.describe(
      "The withdrawal address: the hub account that holds the amount reserved for this withdrawal.",
    ),
    recipient: z.string(),
    nonce: answerHash32,
    data: answerHex,
    signatures: z.array(payloadSignature).min(1).describe("Sorted by signer, ascending."),
  })
  .meta({ id: "PayloadParams" });

/**
 * The attestation that the withdrawal address holds the amount. `payloadParams` is signed; absent if this hub
 * has no allocator.
 */
export const withdrawalInitiatedAnswer = z
  .object({
    message: z.object({
      data: hubWithdrawalEcho,
      result: z.object({
        proofOfWithdrawalAddressBalance: answerHex.describe(
          "Packed withdrawal address, amount and nonce; not signed.",
        ),
        withdrawalAddress: evmAddress,
      }),
    }),
    payloadParams: payloadParams.optional(),
    ...answerExtras,
  })
  .meta({ id: "WithdrawalInitiatedAnswer" });

export type WithdrawalInitiatedRequest = z.infer<typeof withdrawalInitiatedRequest>;
export type WithdrawalInitiatedAnswer = z.infer<typeof withdrawalInitiatedAnswer>;
export type PayloadParams = z.infer<typeof payloadParams>;
