import { z } from "zod";
import { message } from "../message.ts";
import {
  accountText,
  address,
  answerHash32,
  digits,
  evmAddress,
  hash32,
  numberOrDigits,
} from "../scalars.ts";

const chainIdText = numberOrDigits("a chain id: an integer, or its digits in a string");

/** Body of `POST /transactions/deposit-address/reindex`. */
export const reindexAddressRequest = z
  .object(
    {
      chainId: chainIdText.describe("Origin chain of the quote for which the address was issued."),
      depositAddress: address,
      targetChainId: chainIdText
        .optional()
        .describe("Chain to check, if the funds were sent on a different chain."),
      currency: address
        .optional()
        .describe(
          "Check only this token, even if it is not listed. Default: the native token and every listed token.",
        ),
    },
    message("must be a JSON object"),
  )
  .meta({ id: "ReindexDepositAddressRequest" });

/** Answer of `POST /transactions/deposit-address/reindex`. */
export const reindexAddressAnswer = z
  .object({
    message: z.string(),
    triggeredCurrencies: z
      .array(z.object({ currency: accountText, symbol: z.string(), balance: digits }))
      .describe(
        "Balances found, in base units. They are being processed, or are held (see `heldReason` in `GET /deposit-addresses/v1`).",
      ),
    checkedCurrencies: z.int().describe("Number of currencies whose balance was checked."),
    failedCurrencies: z.int().describe("Number of currencies whose balance could not be read."),
    failedAddresses: z.array(accountText).describe("Currencies whose balance could not be read."),
  })
  .meta({ id: "ReindexDepositAddressAnswer" });

export type ReindexAddressAnswer = z.infer<typeof reindexAddressAnswer>;

/** Query of `GET /deposit-addresses/v1`: exactly one of the two. */
export const depositAddressQuery = z.object({
  address: address.optional(),
  requestId: hash32.optional().describe("Any request paid through the address."),
});

/** Answer of `GET /deposit-addresses/v1`. */
export const depositAddressAnswer = z
  .object({
    depositAddress: accountText,
    address: accountText.describe("Same as `depositAddress`."),
    type: z.enum(["open", "strict"]),
    depositAddressType: z.enum(["open", "strict"]).describe("Same as `type`."),
    requestId: answerHash32.describe("Request for which the address was issued."),
    supersededByRequestId: answerHash32.nullable(),
    orderId: answerHash32
      .nullable()
      .describe(
        "Like `depositor` and `recoveryAddress`, null until funds were moved from the address. The API key that requested the quote always sees all three. The quote response also contains them.",
      ),
    depositor: accountText.nullable(),
    recoveryAddress: evmAddress.nullable(),
    refundTo: accountText
      .nullable()
      .describe("The zero address means the sender of the payment. Null if the quote named none."),
    chainId: z.int().describe("Same as `originChainId`."),
    originChainId: z.int(),
    currency: z
      .string()
      .nullable()
      .describe("Id of the origin currency, such as `usdc`; null if it is not listed."),
    originCurrency: accountText,
    destinationChainId: z.int(),
    destinationCurrency: accountText,
    recipient: accountText,
    chainIds: z.array(z.int()).describe("Chains on which the service detects payments to the address."),
    createdAt: z.iso.datetime(),
    activeAt: z.iso
      .datetime()
      .describe("Time at which the address was issued or last paid. A day later, it is scanned less often."),
    funds: z
      .array(
        z.object({
          chainId: z.int(),
          currency: accountText,
          amount: digits,
          seenAt: z.iso.datetime(),
          heldReason: z
            .string()
            .nullable()
            .describe(
              "Why the funds stay at the address. Null: they wait for confirmations or to be deposited into the depository. AMOUNT_TOO_LOW: they do not cover the cost of moving them. CURRENCY_NOT_HELD: the solver does not hold this currency, so it could not refund it. NO_REFUND_ADDRESS, SENDER_UNKNOWN: there is no address to refund to. FAST_FILL_NOT_COVERED: the recipient was already paid by a fast fill, and this is not the agreed amount.",
            ),
          requestId: answerHash32
            .nullable()
            .describe("Request for which the funds will be deposited; null if not decided yet."),
        }),
      )
      .describe("Funds currently at the address."),
    deposits: z
      .array(
        z.object({
          requestId: answerHash32,
          chainId: z.int(),
          currency: accountText,
          amount: digits,
          status: z.enum(["planned", "sent", "mined", "final", "void"]),
          depositTxHash: z.string().nullable().describe("In the format of its chain."),
          createdAt: z.iso.datetime(),
        }),
      )
      .describe("Deposits made from the address into the depository, newest first."),
  })
  .meta({ id: "DepositAddress" });

export type DepositAddressAnswer = z.infer<typeof depositAddressAnswer>;
