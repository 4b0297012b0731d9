import { fundsPlaces, publicStatuses } from "@causeway/domain";
import { z } from "zod";
import { because } from "../because.ts";
import {
  answerHash32,
  digits,
  hash32,
  milliseconds,
  numberOrDigits,
  signedDigits,
  text,
} from "../scalars.ts";
import { feeSponsorship } from "./quote-answer.ts";

/** Rows of one page at most. */
export const MOST_LISTED_REQUESTS = 50;
/** Requests are counted up to here: beyond, `total` is this number and `totalIsCapped` is true. */
export const MOST_COUNTED_REQUESTS = 10_000;

/** One value, several in one text with commas between them, or several texts: any of them is meant. */
const HIDDEN =
  "Null until money was moved from the deposit address, except for the API key that asked for the quote. The quote's own answer has it.";

const anyOf = z.union([text(4_000), z.array(text(4_000)).max(50)], because("must be a text")).optional();
const chains = z
  .union(
    [z.number(), text(400), z.array(z.union([z.number(), text(20)])).max(50)],
    because("must be chain ids"),
  )
  .optional();
const word = text(512).optional();
const usd = z.union([z.number(), text(40)], because("must be an amount of USD")).optional();
const seconds = z.union([z.number(), text(20)], because("must be a number of seconds")).optional();
const block = z.union([z.number(), text(20)], because("must be a block number")).optional();
const flag = z.union([z.boolean(), z.enum(["true", "false"])], because("must be true or false")).optional();

const requestsFields = z.object({
  limit: numberOrDigits(`a number up to ${MOST_LISTED_REQUESTS}`, MOST_LISTED_REQUESTS)
    .optional()
    .describe(`Requests of the page, at most ${MOST_LISTED_REQUESTS}; default 20.`),
  continuation: text(300).optional().describe("Of the page before, as it came, with the same question."),
  id: anyOf.describe(
    "Request ids. The only question that also finds quotes that nobody has paid, as does `orderId`.",
  ),
  orderId: anyOf,
  user: anyOf.describe("Who quoted, or the deposit address that was given out."),
  recipient: anyOf,
  term: word.describe(
    "An address (user, recipient, deposit address), or a hash (request, order, transaction).",
  ),
  hash: anyOf.describe("Any transaction of a request: its deposit, fill or refund."),
  depositTxHash: anyOf,
  fillTxHash: anyOf,
  refundTxHash: anyOf,
  depositAddress: anyOf,
  originChainId: chains,
  destinationChainId: chains,
  chainId: chains.describe("Origin or destination."),
  status: anyOf.describe(`Any of ${publicStatuses.join(", ")}.`),
  failReason: anyOf,
  refundFailReason: anyOf,
  requestType: anyOf,
  apiKey: anyOf.describe("Id of the secret key that asks: it sees its own requests by it, and no others."),
  referrer: word.describe("Only together with `apiKey`."),
  currencyInChainId: chains,
  currencyOutChainId: chains,
  currencyInAddress: anyOf,
  currencyOutAddress: anyOf,
  currencyInSymbol: anyOf,
  currencyOutSymbol: anyOf,
  sortBy: z
    .enum(["createdAt", "updatedAt", "amountUsd"], because("must be createdAt, updatedAt or amountUsd"))
    .default("createdAt"),
  sortDirection: z.enum(["asc", "desc"], because("must be asc or desc")).default("desc"),
  startTimestamp: seconds.describe("Quoted then or later, Unix seconds."),
  endTimestamp: seconds.describe("Quoted then or earlier, Unix seconds."),
  startBlock: block.describe("Deposited in that block of its origin chain or a later one."),
  endBlock: block.describe("Deposited in that block of its origin chain or an earlier one."),
  amountUsdMin: usd.describe("What the input was worth when it was quoted, USD."),
  amountUsdMax: usd,
  appFeesAmountUsdMin: usd,
  appFeesAmountUsdMax: usd,
  fillTimeMin: seconds.describe("Seconds from the deposit being seen until the fill was in a block."),
  fillTimeMax: seconds,
  features: anyOf.describe(
    "Requests that have all of these: `execution` (or `gasless_execution`), `fast-fill` (or `fast_fill`), `origin-swap`, `destination-swap`, `calls`.",
  ),
  filters: text(8_000)
    .optional()
    .describe(
      'JSON: an array of groups, of which at least one must hold; a group is an object of parameters above with their values, which must all hold. A value that begins with `not:` must not be the case; `null` and `not:null` ask whether it is known. Example: `[{"status":"failure"},{"status":"success","originChainId":["1","10"],"recipient":"not:null"}]`.',
    ),
  includeTotal: flag.describe(
    `Adds \`total\`, counted up to ${MOST_COUNTED_REQUESTS}; beyond that \`totalIsCapped\` says so.`,
  ),
  includeChildRequests: flag.describe("Taken and without effect: no request here has children."),
  includeAuthenticatedData: flag.describe(
    "Adds its id and referrer to requests of the secret key that asks.",
  ),
  includeOrderData: flag.describe(
    "Ignored: the answer of the quote has the order, as `protocol.v2.orderData`.",
  ),
  privateChainsToInclude: word.describe("Accepted without effect: every chain of this service is listed."),
});

/**
 * Query of the three lists of requests. Values are read by the route: here is what they look like. Other parameters are refused: a filter
 * that is ignored would widen the answer to the requests of others.
 */
export const requestsQuery = requestsFields.loose().superRefine((query, context) => {
  for (const name of Object.keys(query))
    if (!Object.hasOwn(requestsFields.shape, name))
      context.addIssue({
        code: "custom",
        path: [name.slice(0, 64)],
        message: "is not a supported parameter; see /documentation for the list",
      });
});

const nullable = <T extends z.ZodType>(type: T): z.ZodUnion<[T, z.ZodNull]> => z.union([type, z.null()]);
const time = z.iso.datetime();
const plainText = z.string();

const historyCurrency = z
  .object({
    chainId: z.int(),
    address: z.string(),
    symbol: nullable(plainText),
    name: nullable(plainText),
    decimals: nullable(z.int()),
  })
  .meta({ id: "HistoryCurrency" });

const historyAmount = z
  .object({
    currency: historyCurrency,
    amount: nullable(signedDigits).describe("Smallest units; null: not known."),
    amountFormatted: nullable(plainText),
    amountUsd: nullable(plainText).describe("USD when it was quoted; null: not known."),
    minimumAmount: nullable(signedDigits),
  })
  .meta({ id: "HistoryAmount" });

const side = z.object({ inputCurrency: nullable(historyAmount), outputCurrency: nullable(historyAmount) });
const sides = z.object({ origin: side, destination: side, rate: nullable(plainText) });

const historyCallData = plainText
  .optional()
  .describe(
    "Absent in lists when it has more than 1,024 bytes: a request that is named by `id` or `orderId` shows it whole.",
  );

const transactionFields = {
  fee: nullable(digits).describe("Wei that it cost us; null: somebody else paid it."),
  feeUsd: nullable(plainText),
  block: nullable(z.int()),
  type: z.literal("onchain"),
  chainId: z.int(),
  timestamp: nullable(z.int()).describe("When we saw it in a block, Unix seconds."),
  status: z.enum(["pending", "success", "failure"]),
  data: z
    .object({ to: plainText, data: historyCallData, value: digits })
    .optional()
    .describe("The call, of transactions that we sent."),
  stateChanges: z
    .array(
      z.object({
        address: plainText,
        change: z.object({ kind: z.literal("token"), currency: plainText, balanceDiff: signedDigits }),
      }),
    )
    .optional(),
};
const transaction = z.object({ txHash: plainText, ...transactionFields }).meta({ id: "HistoryTransaction" });
const transactionV2 = z
  .object({ hash: plainText, ...transactionFields })
  .meta({ id: "HistoryTransactionV2" });

const paidAppFees = z
  .object({
    amount: digits.describe("All of them, smallest units of `currency`."),
    amountFormatted: nullable(plainText),
    amountUsd: nullable(plainText).describe("USD when it was quoted; null: not known."),
    recipients: z.array(
      z.object({
        recipient: nullable(plainText).describe("Whose app balance it goes to. Told as `apiKey` is."),
        bps: z.int().describe("Of the input."),
        amount: digits,
      }),
    ),
  })
  .meta({ id: "HistoryAppFees" });

const sponsorPayment = z
  .object({ amount: digits, address: plainText.describe("Of the currency."), chainId: z.int() })
  .meta({ id: "SponsorPayment" });

/** What the sponsor's app balance was charged, once the fill is final. */
const chargedSponsorship = feeSponsorship
  .extend({
    // Null: in several currencies, or nothing.
    sponsorPayment: nullable(sponsorPayment),
    sponsorPayments: z.array(sponsorPayment),
  })
  .meta({ id: "ChargedFeeSponsorship" });

const requestFees = {
  swap: z.null(),
  execution: nullable(plainText).describe("Wei of the fill, in coin of its chain; null of what was quoted."),
  platform: z.null(),
  app: nullable(digits).describe("Smallest units of `appFees.currency`."),
  sponsored: nullable(plainText).describe("USD that an app pays."),
};

const commonData = {
  slippageTolerance: plainText.describe("bps from the expected output down to the least."),
  failedTxHash: nullable(plainText),
  failedTxBlockNumber: nullable(z.int()),
  failedCallData: nullable(
    z.object({ from: plainText, to: plainText, data: historyCallData, value: digits }),
  ).describe("The call that failed in a block."),
  timeEstimate: nullable(z.number()).describe(
    "Seconds from deposit to fill, as quoted. Null for requests from before it was stored.",
  ),
  triggeredByFastFill: z.boolean(),
  appFees: nullable(
    z.object({
      quoted: paidAppFees,
      // What app balances were credited, once the fill is final.
      actual: nullable(paidAppFees),
      currency: historyCurrency,
    }),
  ),
  fees: z.object({
    quoted: nullable(z.object(requestFees)),
    actual: nullable(z.object(requestFees)),
    currency: nullable(plainText),
  }),
  // `quoted`: what an app agreed to pay of the quote's fees. `actual`: what its app balance was charged, once the fill is final.
  feeSponsorship: nullable(
    z.object({
      quoted: nullable(feeSponsorship),
      actual: nullable(chargedSponsorship),
      wallet: nullable(plainText).describe("Whose app balance pays. Told as `apiKey` is."),
      costUsd: nullable(plainText).describe(
        "Set aside for the transaction that the service sends for the user; null: it sends none.",
      ),
      paidUsd: nullable(plainText).describe("Paid for that transaction."),
    }),
  ),
  route: z.object({ quoted: sides, actual: nullable(sides) }),
  delivered: nullable(
    z.object({
      amount: digits.describe("What the recipient got, smallest units."),
      quotedAmount: digits.describe("What was expected."),
      minimumAmount: digits.describe("What was promised."),
      differenceBps: z.number().describe("Above 0: more than was expected."),
    }),
  ),
  refundCurrencyData: nullable(
    z.object({
      currency: historyCurrency,
      amount: nullable(digits),
      amountFormatted: nullable(plainText),
      recipient: plainText,
    }),
  ),
  apiKey: plainText.optional(),
  referrer: nullable(plainText).optional(),
};

const commonFields = {
  id: answerHash32,
  status: z.enum(publicStatuses),
  user: plainText,
  recipient: plainText,
  sender: plainText.describe("Who sent the deposit; before that, who quoted."),
  refundTo: plainText,
  supersededByRequestId: nullable(answerHash32).describe(
    "The request that was made in its place, when another sum came to its deposit address.",
  ),
  depositAddress: nullable(
    z.object({
      address: plainText,
      type: nullable(plainText),
      depositor: nullable(plainText),
      depositTxHash: nullable(plainText),
      recoveryAddress: nullable(plainText).describe(HIDDEN),
    }),
  ),
  requestType: nullable(plainText).describe("Null: a quote that nobody has paid."),
  features: z
    .array(plainText)
    .describe(
      "`execution`, `fast-fill`, `origin-swap`, `destination-swap`, `calls`; and `gasless_execution`, `gasless_swap`, `fast_fill`, `gas_top_up`, `fixed_rate`, `app_fees`, `deposit_address`, as other services name them.",
    ),
  createdAt: time,
  updatedAt: time,
  protocol: z.object({
    orderId: nullable(answerHash32).describe(`${HIDDEN} Requests without a deposit address always have it.`),
    solver: plainText,
    deposit: nullable(
      z.object({
        chainId: z.int(),
        txHash: plainText,
        blockNumber: z.int(),
        depositor: plainText,
        currency: plainText,
        amount: digits,
        confirmed: z.boolean().describe("It has the confirmations that its value asks for."),
      }),
    ),
    settlement: nullable(
      z.object({
        state: plainText.describe(
          "`due`, `attested` or `settled` on the hub; `unrepayable` if no oracle can attest the payment, so that the hub never repays it.",
        ),
        reason: nullable(plainText),
        updatedAt: time,
      }),
    ),
  }),
};

export const pastRequest = z
  .object({
    ...commonFields,
    data: z.object({
      ...commonData,
      failReason: nullable(plainText),
      refundFailReason: nullable(plainText),
      inTxs: z.array(transaction),
      outTxs: z.array(transaction).describe("Fills, and refunds on the origin chain."),
    }),
  })
  .meta({ id: "PastRequest" });

export const pastRequestV2 = z
  .object({
    ...commonFields,
    data: z.object({
      ...commonData,
      failReason: plainText.describe("`N/A`: none."),
      refundFailReason: plainText.describe("`N/A`: none."),
      inTxs: z.array(transactionV2),
      outTxs: z.array(transactionV2),
      metadata: z.object({
        sender: plainText,
        recipient: plainText,
        currencyIn: historyAmount,
        currencyOut: historyAmount,
        rate: nullable(plainText),
      }),
    }),
  })
  .meta({ id: "PastRequestV2" });

const unattributedDeposit = z
  .object({
    chainId: z.int(),
    txHash: plainText,
    depositor: plainText,
    currency: plainText,
    amount: digits.describe("Smallest units."),
    state: z
      .enum(["waiting", "refunding", "refunded", "held"])
      .describe(
        "`waiting`: it goes back to its depositor by itself. `held`: it stays in the depository until the operator returns it.",
      ),
    message: plainText.describe("Where it is."),
  })
  .meta({ id: "UnattributedDeposit" });

const page = {
  continuation: z.string().optional().describe("Gives the next page; absent on the last one."),
  total: z.int().optional(),
  totalIsCapped: z.boolean().optional().describe("There are more than `total`."),
  unattributedDeposits: z
    .array(unattributedDeposit)
    .optional()
    .describe(
      "Deposits that belong to no known request, in the transactions that `hash`, `depositTxHash` or `term` names. Absent when there are none, and on later pages.",
    ),
};

export const requestsAnswer = z
  .object({ requests: z.array(pastRequest), ...page })
  .meta({ id: "PastRequests" });
export const requestsAnswerV2 = z
  .object({
    requests: z.array(pastRequestV2),
    ...page,
    deprecation: z.object({ successor: plainText, sunset: time }),
  })
  .meta({ id: "PastRequestsV2" });

export const traceParams = z.object({ requestId: hash32.describe("Of the quote.") });

export const traceAnswer = z
  .object({
    requestId: answerHash32,
    status: z.enum(publicStatuses),
    fundsAt: z.enum(fundsPlaces),
    summary: z.string().describe("Where the money is, and why, in one sentence."),
    entries: z
      .array(
        z
          .object({
            at: time,
            atMs: milliseconds,
            kind: z
              .string()
              .describe(
                "`quoted`, `deposit`, `event`, `nonce`, `attempt`, `mined`, `settlement`, `execution`, `ledger`, …",
              ),
          })
          .catchall(z.unknown()),
      )
      .describe("Everything seen, decided, signed and sent, in order."),
  })
  .meta({ id: "RequestTrace" });

export type RequestsQuery = z.infer<typeof requestsFields>;
export type PastRequestJson = z.infer<typeof pastRequest>;
export type PastRequestV2Json = z.infer<typeof pastRequestV2>;
export type UnattributedDepositJson = z.infer<typeof unattributedDeposit>;
export type RequestsAnswer = z.infer<typeof requestsAnswer>;
export type RequestsAnswerV2 = z.infer<typeof requestsAnswerV2>;
export type TraceAnswer = z.infer<typeof traceAnswer>;
export type HistoryAmountJson = z.infer<typeof historyAmount>;
