import { z } from "zod";
import { accountText, answerHash32, answerHex, digits, evmAddress } from "../scalars.ts";

const typeFields = z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() })));
const status = z.enum(["incomplete", "complete"]);
const check = z.object({ endpoint: z.string(), method: z.literal("GET") });

/** Instructions that a Solana wallet puts into a transaction. */
export const solanaData = z
  .object({
    instructions: z.array(
      z.object({
        keys: z.array(z.object({ pubkey: accountText, isSigner: z.boolean(), isWritable: z.boolean() })),
        programId: accountText,
        data: z
          .string()
          .regex(/^([0-9a-f]{2})*$/)
          .describe("Hex without a prefix."),
      }),
    ),
    addressLookupTableAddresses: z.array(accountText),
  })
  .meta({ id: "SolanaData" });

/** What a Bitcoin wallet signs, and how to pay in any other way. */
export const bitcoinData = z
  .object({
    psbt: z
      .string()
      .optional()
      .describe(
        "Partially signed transaction (PSBT), hex. Absent if the user's balance is too low, or if the address alone does not reveal how to spend from it.",
      ),
    payment: z
      .object({
        address: accountText,
        amount: digits.describe("Satoshis, in a single output."),
        opReturn: answerHash32
          .optional()
          .describe(
            "Exact text of an OP_RETURN output in the same transaction. Absent with useDepositAddress: the address is the order's own.",
          ),
        opReturnHex: answerHex.optional().describe("`opReturn` as hex bytes."),
      })
      .describe(
        "Any transaction with these outputs is a valid deposit. It may have any inputs and any change output.",
      ),
  })
  .meta({ id: "BitcoinData" });

/** An action that is signed and posted to Hyperliquid itself. */
export const exchangeData = z
  .object({
    action: z.object({
      type: z.string(),
      parameters: z
        .record(z.string(), z.union([z.string(), z.number()]))
        .describe("The signer adds `type` and `signatureChainId` (the chain id of the wallet, in hex)."),
    }),
    nonce: z.int().describe("The nonce of the preceding `authorize` step."),
    eip712Types: typeFields.describe("EIP-712 types without `EIP712Domain`."),
    eip712PrimaryType: z.string(),
  })
  .meta({ id: "ExchangeData" });

const stepTexts = {
  action: z.string(),
  description: z.string(),
  requestId: answerHash32,
  depositAddress: z.string().describe("Empty if the quote uses no deposit address."),
};

/** A deposit on a non-EVM chain. */
export const nonEvmStep = z
  .object({
    id: z.literal("deposit"),
    kind: z.literal("transaction"),
    ...stepTexts,
    items: z.array(z.object({ status, data: z.union([solanaData, bitcoinData, exchangeData]), check })),
  })
  .meta({ id: "NonEvmStep" });

/**
 * The mapping that the wallet signs for the nonce of a withdrawal from Hyperliquid. The step is complete once
 * posted: a client need not wait before the next step.
 */
export const authorizeStep = z
  .object({
    id: z.literal("authorize"),
    kind: z.literal("signature"),
    ...stepTexts,
    items: z.array(
      z.object({
        status,
        data: z.object({
          sign: z.object({
            signatureKind: z.literal("eip712"),
            domain: z.object({
              name: z.string(),
              version: z.string().optional(),
              chainId: z.int(),
              verifyingContract: evmAddress,
            }),
            types: typeFields.describe("EIP-712 types without `EIP712Domain`."),
            value: z.record(z.string(), z.unknown()),
            primaryType: z.string(),
          }),
          post: z.object({
            endpoint: z.string().describe("Send the signature as the query parameter `signature`."),
            method: z.literal("POST"),
            body: z.object({
              type: z.literal("nonce-mapping"),
              walletChainId: z.int(),
              wallet: evmAddress,
              depositor: evmAddress,
              nonce: z.int(),
              id: answerHash32,
              signatureChainId: z
                .int()
                .describe(
                  "Chain id of the wallet, as in the domain it signs. It does not affect where funds go.",
                ),
            }),
          }),
        }),
      }),
    ),
  })
  .meta({ id: "AuthorizeStep" });

export type NonEvmStep = z.infer<typeof nonEvmStep>;
export type AuthorizeStep = z.infer<typeof authorizeStep>;
