import { z } from "zod";
import { because } from "../because.ts";
import { address, answerHash32, digits, evmAddress, hash32, numberOrDigits } from "../scalars.ts";

const chainIdText = numberOrDigits("a chain id: an integer, or its digits in a string");

/** Body of `POST /transactions/deposit-address/reindex`. */
export const reindexAddressRequest = z
  .object(
    {
      chainId: chainIdText.describe("Chain on which the address was to be paid."),
      depositAddress: address,
      targetChainId: chainIdText
        .optional()
        .describe("Chain to look on, when the money was sent on another one."),
      currency: address
        .optional()
        .describe(
          "Looks for this token alone, also when it is not listed. Default: the native coin and every listed token.",
        ),
    },
    because("must be a JSON object"),
  )
  .meta({ id: "ReindexDepositAddressRequest" });

/** Answer of `POST /transactions/deposit-address/reindex`. */
export const reindexAddressAnswer = z
  .object({
    message: z.string(),
    triggeredCurrencies: z
      .array(z.object({ currency: evmAddress, symbol: z.string(), balance: digits }))
      .describe("What was found, smallest units, and is being dealt with, or lies there for a reason."),
    checkedCurrencies: z.int().describe("How many currencies were asked for a balance."),
    failedCurrencies: z.int().describe("How many of them did not answer."),
    failedAddresses: z.array(evmAddress).describe("Those that did not answer."),
  })
  .meta({ id: "ReindexDepositAddressAnswer" });

export type ReindexAddressAnswer = z.infer<typeof reindexAddressAnswer>;

/** Query of `GET /deposit-addresses/v1`: one of the two. */
export const depositAddressQuery = z.object({
  address: address.optional(),
  requestId: hash32.optional().describe("Any request whose money comes through the address."),
});

/** Answer of `GET /deposit-addresses/v1`. */
export const depositAddressAnswer = z
  .object({
    depositAddress: evmAddress,
    address: evmAddress.describe("Same as `depositAddress`."),
    type: z.enum(["open", "strict"]),
    depositAddressType: z.enum(["open", "strict"]).describe("Same as `type`."),
    requestId: answerHash32.describe("The request that the address was given out for."),
    supersededByRequestId: answerHash32.nullable(),
    orderId: answerHash32
      .nullable()
      .describe(
        "Null until money was moved from the address, except for the API key that asked for the quote, as are depositor and recoveryAddress. The quote's own answer has them.",
      ),
    depositor: evmAddress.nullable(),
    recoveryAddress: evmAddress.nullable(),
    refundTo: evmAddress.nullable().describe("The zero address: whoever sent it. Null: nobody was named."),
    chainId: z.int().describe("Same as `originChainId`."),
    originChainId: z.int(),
    currency: z
      .string()
      .nullable()
      .describe("Id of the origin currency, such as `usdc`; null if it is not listed."),
    originCurrency: evmAddress,
    destinationChainId: z.int(),
    destinationCurrency: evmAddress,
    recipient: evmAddress,
    chainIds: z.array(z.int()).describe("Chains on which what is sent to the address is found."),
    createdAt: z.iso.datetime(),
    activeAt: z.iso
      .datetime()
      .describe("When it was given out, or last paid: a day later it is looked at less often."),
    funds: z
      .array(
        z.object({
          chainId: z.int(),
          currency: evmAddress,
          amount: digits,
          seenAt: z.iso.datetime(),
          heldReason: z
            .string()
            .nullable()
            .describe(
              "Null: it waits for confirmations, or to be deposited. AMOUNT_TOO_LOW: it would not pay its own way. CURRENCY_NOT_HELD: from the depository nobody could give it back. NO_REFUND_ADDRESS, SENDER_UNKNOWN: there is nobody to give it back to. FAST_FILL_NOT_COVERED: the recipient was paid ahead, and this is not the amount that was agreed.",
            ),
          requestId: answerHash32
            .nullable()
            .describe("The request that it is about to be deposited for; null: that is not decided."),
        }),
      )
      .describe("What lies there."),
    deposits: z
      .array(
        z.object({
          requestId: answerHash32,
          chainId: z.int(),
          currency: evmAddress,
          amount: digits,
          status: z.enum(["planned", "sent", "mined", "final", "void"]),
          depositTxHash: answerHash32.nullable(),
          createdAt: z.iso.datetime(),
        }),
      )
      .describe("What was moved from there into the depository, newest first."),
  })
  .meta({ id: "DepositAddress" });

export type DepositAddressAnswer = z.infer<typeof depositAddressAnswer>;
