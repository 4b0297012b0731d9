import { z } from "zod";
import { digits, accountText, hash32 } from "../scalars.ts";

/** Path of `GET /requests/{requestId}/signature` and `…/signature/v2`. */
export const requestSignatureParams = z.object({
  requestId: hash32.describe("Request id of the quote."),
});

const signatureOf = (tuple: string) =>
  z
    .string()
    .regex(/^0x[0-9a-f]{130}$/)
    .describe(
      `The solver's EIP-191 signature over the 32 bytes of keccak256(abi.encode(${tuple})). ` +
        "EVM addresses are bytes32(uint256(uint160(address))). An address of a non-EVM chain is decoded to bytes (Solana: the public key), which are left-padded to 32 bytes likewise, or hashed with keccak256 if they are longer.",
    );

export const requestSignatureAnswer = z
  .object({
    requestData: z.object({
      originChainId: z.int(),
      originUser: accountText.describe("The user of the quote."),
      originCurrency: accountText.describe("The zero address means the native token."),
      originAmount: digits.describe(
        "Deposited amount in base units. After a swap on the origin chain, this is the swap's output, not the amount the user paid.",
      ),
      destinationChainId: z.int(),
      destinationUser: accountText.describe("The recipient of the quote."),
    }),
    signature: signatureOf(
      "bytes32 requestId, uint256 originChainId, bytes32 originUser, bytes32 originCurrency, uint256 originAmount, " +
        "uint256 destinationChainId, bytes32 destinationUser",
    ),
  })
  .meta({ id: "RequestSignature" });

export const requestSignatureV2Answer = z
  .object({
    requestData: requestSignatureAnswer.shape.requestData.omit({ originAmount: true }).extend({
      destinationCurrency: accountText.describe(
        "Currency that the recipient receives. The zero address means the native token.",
      ),
    }),
    signature: signatureOf(
      "bytes32 requestId, uint256 originChainId, bytes32 originUser, bytes32 originCurrency, " +
        "uint256 destinationChainId, bytes32 destinationUser, bytes32 destinationCurrency",
    ),
  })
  .meta({ id: "RequestSignatureV2" });

export type RequestSignatureAnswer = z.infer<typeof requestSignatureAnswer>;
