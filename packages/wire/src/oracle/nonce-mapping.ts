import { z } from "zod";
import { message } from "../message.ts";
import { answerHash32, answerHex, digits, evmAddress } from "../scalars.ts";
import { canonicalAmount, chainName, evmAccount, hash32, peerOptions, signature65 } from "./scalars.ts";
import { answerExtras } from "./signatures.ts";

/** Body of `POST /attestations/signatures/nonce-mapping/v2`. */
export const nonceMappingRequest = z
  .object(
    {
      walletChainId: chainName.describe("Name of the chain on which the wallet makes the transfer."),
      wallet: evmAccount.describe("Wallet that makes the transfer and signed this mapping."),
      nonce: canonicalAmount.describe("Nonce of the transfer."),
      id: hash32.describe("Id of the order that the transfer pays for."),
      depositor: evmAccount.describe("Account to record as the depositor."),
      signatureChainId: z
        .int(message("must be an integer"))
        .min(1, "must be positive")
        .describe("Chain id of the signed EIP-712 domain."),
      signature: signature65.describe("The wallet's EIP-712 signature over its `NonceMapping`."),
      ...peerOptions,
    },
    message("must be an object"),
  )
  .meta({ id: "NonceMappingRequest" });

/** An oracle's EIP-712 signature of an entry for the hub's mapping contract. */
export const mappingSignature = z
  .object({
    mappingChainId: digits.describe("Chain id of the hub."),
    mappingContract: evmAddress.describe("`verifyingContract` of the signed domain."),
    oracleSigner: evmAddress,
    signature: answerHex,
  })
  .meta({ id: "MappingSignature" });

/** The entry that the hub's `GenericMapping` accepts with enough of these signatures. */
export const nonceMappingAnswer = z
  .object({
    genericMapping: z.object({
      user: evmAddress.describe("The wallet's account on the hub."),
      id: answerHash32.describe(
        "sha256 of the text `NONCE_MAPPING:` followed by the `nonce` of the request in decimal digits.",
      ),
      data: answerHex.describe("The order id, followed by the 20 bytes of the depositor."),
      nonce: answerHash32.describe(
        "sha256 of the text `<user>:<nonce>`: the account in EIP-55 and the nonce of the request in decimal digits.",
      ),
      signatures: z.array(mappingSignature).min(1).describe("Sorted by signer, ascending."),
    }),
    ...answerExtras,
  })
  .meta({ id: "NonceMappingAnswer" });

export type NonceMappingRequest = z.infer<typeof nonceMappingRequest>;
export type MappingSignature = z.infer<typeof mappingSignature>;
export type NonceMappingAnswer = z.infer<typeof nonceMappingAnswer>;
