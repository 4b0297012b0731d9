import { z } from "zod";
import { message } from "../message.ts";
import { amount, chainId, hash32, numberOrDigits } from "../scalars.ts";

const account = z
  .string(message("must be a 20-byte address"))
  .regex(/^0x[a-fA-F0-9]{40}$/, "must be a 20-byte address");

/** Query of `POST /authorize`. */
export const authorizeQuery = z.object({
  signature: z
    .string(message("must be 0x followed by 130 hex digits"))
    .regex(/^0x[0-9a-fA-F]{130}$/, "must be 0x followed by 130 hex digits")
    .describe("The wallet's EIP-712 signature, 65 bytes."),
});

/** Body of `POST /authorize`: the `authorize` step of a quote. Other fields are accepted and ignored. */
export const authorizeRequest = z
  .object(
    {
      type: z.enum(["nonce-mapping"], message("must be nonce-mapping")),
      walletChainId: chainId.describe("Chain on which the wallet makes the transfer."),
      wallet: account.describe("Wallet that makes the transfer and signed this mapping."),
      depositor: account.describe("Account recorded as the depositor: the wallet."),
      nonce: z
        .union([z.int().nonnegative(), amount], message("must be a whole number"))
        .describe("Nonce of the transfer."),
      id: hash32.describe("Id of the order that the transfer pays for, as given in the quote's step."),
      signatureChainId: numberOrDigits("an integer chain id")
        .optional()
        .describe("Chain id of the signed EIP-712 domain; default 1. It does not affect where funds go."),
    },
    message("must be a JSON object"),
  )
  .meta({ id: "AuthorizeRequest" });

export const authorizeAnswer = z
  .object({
    message: z.string(),
    requestId: z.string().describe("Pass it to `GET /intents/status/v3`."),
  })
  .meta({ id: "AuthorizeAnswer" });

export type AuthorizeInput = z.infer<typeof authorizeRequest>;
export type AuthorizeAnswer = z.infer<typeof authorizeAnswer>;
