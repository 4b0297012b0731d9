import { z } from "zod";
import { digits, accountText, hash32 } from "../scalars.ts";

/** Path of `GET /requests/{requestId}/signature` and `…/signature/v2`. */
export const requestSignatureParams = z.object({
  requestId: hash32.describe("The request id of the quote."),
});

const signatureOf = (tuple: string) =>
  z
    .string()
    .regex(/^0x[0-9a-f]{130}$/)
    .describe(
      `By the solver: EIP-191 over the 32 bytes of keccak256(abi.encode(${tuple})); ` +
        "addresses are bytes32(uint256(uint160(address))); of other chains their bytes likewise, or keccak256 of them when they are more than 32.",
    );

export const requestSignatureAnswer = z
  .object({
    requestData: z.object({
      originChainId: z.int(),
      originUser: accountText.describe("The user of the quote."),
      originCurrency: accountText.describe("The zero address is the native currency."),
      originAmount: digits.describe(
        "What is deposited, in base units. After a swap on the origin chain, this is its output, and differs from what the user paid.",
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
        "What the recipient gets. The zero address is the native currency.",
      ),
    }),
    signature: signatureOf(
      "bytes32 requestId, uint256 originChainId, bytes32 originUser, bytes32 originCurrency, " +
        "uint256 destinationChainId, bytes32 destinationUser, bytes32 destinationCurrency",
    ),
  })
  .meta({ id: "RequestSignatureV2" });

export type RequestSignatureAnswer = z.infer<typeof requestSignatureAnswer>;
