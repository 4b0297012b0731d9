import { z } from "zod";
import { because } from "../because.ts";
import { amount, chainId, hash32, numberOrDigits } from "../scalars.ts";

const account = z
  .string(because("must be a 20-byte address"))
  .regex(/^0x[a-fA-F0-9]{40}$/, "must be a 20-byte address");

/** Query of `POST /authorize`. */
export const authorizeQuery = z.object({
  signature: z
    .string(because("must be 0x followed by 130 hex digits"))
    .regex(/^0x[0-9a-fA-F]{130}$/, "must be 0x followed by 130 hex digits")
    .describe("EIP-712 signature of the wallet: 65 bytes."),
});

/** Body of `POST /authorize`: what the `authorize` step of a quote gives. Fields not listed are accepted and ignored. */
export const authorizeRequest = z
  .object(
    {
      type: z.enum(["nonce-mapping"], because("must be nonce-mapping")),
      walletChainId: chainId.describe("Chain that the wallet's transfer is made on."),
      wallet: account.describe("Who transfers, and who signed."),
      depositor: account.describe("Who counts as depositor: the wallet."),
      nonce: z
        .union([z.int().nonnegative(), amount], because("must be a whole number"))
        .describe("Nonce that the transfer will carry."),
      id: hash32.describe("What the transfer is for, as the quote says."),
      signatureChainId: numberOrDigits("an integer chain id")
        .optional()
        .describe(
          "Chain in whose domain the wallet signed; 1 when absent. It says nothing about where money goes.",
        ),
    },
    because("must be a JSON object"),
  )
  .meta({ id: "AuthorizeRequest" });

export const authorizeAnswer = z
  .object({
    message: z.string(),
    requestId: z.string().describe("Ask `GET /intents/status/v3` with it."),
  })
  .meta({ id: "AuthorizeAnswer" });

export type AuthorizeInput = z.infer<typeof authorizeRequest>;
export type AuthorizeAnswer = z.infer<typeof authorizeAnswer>;
