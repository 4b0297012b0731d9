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

const UNKNOWN = "Absent if not known.";
const historyCurrency = z
  .object({
    chainId: z.int(),
    address: z.string(),
    symbol: plainText
      .optional()
      .describe("Absent, like `name` and `decimals`, of a currency that is no longer configured."),
    name: plainText.optional(),
    decimals: z.int().optional(),
    metadata: z.object({ logoURI: plainText, verified: z.boolean(), isNative: z.boolean() }).optional(),
  })
  .meta({ id: "HistoryCurrency" });

const historyAmount = z
  .object({
    currency: historyCurrency,
    amount: signedDigits.optional().describe(`Smallest units. ${UNKNOWN}`),
    amountFormatted: plainText.optional(),
    amountUsd: plainText.optional().describe(`USD when it was quoted. ${UNKNOWN}`),
    minimumAmount: signedDigits.optional(),
  })
  .meta({ id: "HistoryAmount" });

const side = z.object({ inputCurrency: nullable(historyAmount), outputCurrency: nullable(historyAmount) });
const sides = z.object({ origin: side, destination: side, rate: plainText.optional().describe(UNKNOWN) });

const historyCallData = plainText
  .optional()
  .describe(
    "Absent in lists when it has more than 1,024 bytes: a request that is named by `id` or `orderId` shows it whole.",
  );

const transactionFields = {
  fee: digits
    .optional()
    .describe(
      "What it cost the solver, smallest units of the native currency; absent if somebody else paid it.",
    ),
  block: z.int().optional(),
  type: z.literal("onchain"),
  chainId: z.int(),
  timestamp: z.int().optional().describe("When it was seen in a block, Unix seconds."),
  status: z.enum(["success", "failure"]).optional().describe("Absent until it is in a block."),
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

const appFee = z
  .object({
    recipient: plainText
      .optional()
      .describe("Whose app balance it goes to. Shown only to the API key that asked for the quote."),
    bps: digits.describe("Basis points of the input."),
    amount: digits,
    amountFormatted: plainText.optional(),
    amountUsd: plainText.optional().describe(`USD when it was quoted. ${UNKNOWN}`),
  })
  .meta({ id: "HistoryAppFee" });

const sponsorPayment = z
  .object({ amount: digits, address: plainText.describe("Of the currency."), chainId: z.int() })
  .meta({ id: "SponsorPayment" });

const charged = {
  sponsorPayment: sponsorPayment.optional().describe("Absent if it was nothing, or several currencies."),
  sponsorPayments: z.array(sponsorPayment),
};
const usdAmount = z.object({ amountUsd: plainText.describe("USD, six decimals.") });
const sponsoredShare = z.object({
  selected: z.boolean(),
  total: usdAmount,
  sponsored: usdAmount,
  userPays: usdAmount,
});
const sponsorshipOf = <T extends string>(componentNames: readonly [T, ...T[]]) => {
  const quoted = z.object({
    selectedComponents: z.array(z.enum(componentNames)),
    maxSubsidizationAmount: digits.optional(),
    capHit: z.boolean(),
    components: z.record(z.enum(componentNames), sponsoredShare),
    sponsoredTotal: usdAmount,
    userPaysTotal: usdAmount,
  });
  return z.object({
    quoted: quoted.optional().describe("What an app agreed to pay of the quote's fees."),
    actual: quoted
      .extend(charged)
      .optional()
      .describe("What its app balance was charged, once the fill is final."),
    wallet: plainText
      .optional()
      .describe("Whose app balance pays. Shown only to the API key that asked for the quote."),
    costUsd: plainText
      .optional()
      .describe(
        "Set aside for the transaction that the service sends for the user; absent if it sends none.",
      ),
    paidUsd: plainText.optional().describe("Paid for that transaction."),
  });
};
const feeSponsorshipV3 = sponsorshipOf(["execution", "swap", "platform", "app", "rent"]).meta({
  id: "HistoryFeeSponsorship",
});
const feeSponsorshipV2 = sponsorshipOf(["execution", "swap", "relay", "app", "rent"]).meta({
  id: "HistoryFeeSponsorshipV2",
});

const namedFee = z
  .object({
    usd: plainText.optional(),
    amount: signedDigits.optional(),
    amountFormatted: plainText.optional(),
  })
  .meta({ id: "HistoryFee" });
const namedFees = z.object({
  swap: namedFee.optional().describe("What exchanges and rounding cost."),
  execution: namedFee.optional().describe("Flat fee and gas of the fill."),
  platform: namedFee.optional().describe("Fee of the service."),
  app: namedFee.optional(),
  sponsored: namedFee.optional().describe("The part that an app pays."),
});

const failedCall = z.object({ from: plainText, to: plainText, data: historyCallData, value: digits });
const refundAmount = historyAmount.extend({ recipient: plainText }).meta({ id: "HistoryRefund" });

const commonData = {
  slippageTolerance: plainText.describe("bps from the expected output down to the least."),
  failedTxHash: plainText.optional(),
  failedTxBlockNumber: z.int().optional(),
  failedCallData: failedCall.optional().describe("The call that failed in a block."),
  usesExternalLiquidity: z.literal(false),
  triggeredByFastFill: z.boolean(),
  delivered: z
    .object({
      amount: digits.describe("What the recipient got, smallest units."),
      quotedAmount: digits.describe("What was expected."),
      minimumAmount: digits.describe("What was promised."),
      differenceBps: z.number().describe("Above 0: more than was expected."),
    })
    .optional(),
  apiKey: plainText.optional(),
  referrer: nullable(plainText).optional(),
};

const payment = z.object({ chainId: z.int(), transactionId: plainText });

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
      type: z.enum(["open", "strict"]).optional(),
      depositAddressType: z.enum(["open", "strict"]).optional(),
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
    hubType: z.literal("onchain"),
    isWithdrawable: z
      .literal(false)
      .describe("No user has to withdraw anything: what is not filled is refunded to him."),
    solver: z.object({
      address: plainText,
      protocolChainId: plainText.describe("Name of the solver's chain in the order."),
      chainId: z.int().optional(),
    }),
    deposit: z
      .object({
        origin: z.object({
          amount: digits,
          chainId: z.int(),
          currency: plainText,
          depositor: plainText,
          depository: plainText.optional(),
          onchainId: answerHash32.describe("Id of the deposit on its chain: the order id."),
          transactionId: plainText,
        }),
        blockNumber: z.int(),
        confirmed: z.boolean().describe("It has the confirmations that its value asks for."),
      })
      .optional(),
    settlement: z
      .object({
        destination: z.object({
          fills: z.array(payment),
          refunds: z.array(payment),
        }),
        state: plainText.describe(
          "`due`, `attested` or `settled` on the hub; `unrepayable` if no oracle can attest the payment, so that the hub never repays it.",
        ),
        reason: plainText.optional(),
        updatedAt: time,
      })
      .optional(),
  }),
};

export const pastRequest = z
  .object({
    ...commonFields,
    data: z.object({
      ...commonData,
      failReason: nullable(plainText),
      refundFailReason: nullable(plainText),
      timeEstimate: nullable(z.number()).describe(
        "Seconds from deposit to fill, as quoted. Null for requests from before it was stored.",
      ),
      appFees: z
        .object({
          quoted: z.array(appFee),
          actual: z
            .array(appFee)
            .optional()
            .describe("What app balances were credited, once the fill is final."),
          currency: historyCurrency,
        })
        .optional(),
      fees: nullable(
        z.object({
          quoted: namedFees.optional(),
          actual: namedFees
            .optional()
            .describe("USD that an app paid. What the fill cost is the `fee` of its transaction."),
          currency: historyCurrency.describe("Of the quoted amounts."),
        }),
      ),
      feeSponsorship: nullable(feeSponsorshipV3),
      route: z.object({ quoted: sides, actual: nullable(sides) }),
      refundCurrencyData: nullable(refundAmount),
      inTxs: z.array(transaction),
      outTxs: z.array(transaction).describe("Fills, and refunds on the origin chain."),
    }),
  })
  .meta({ id: "PastRequest" });

const quotedFees = z
  .object({ gas: digits, fixed: digits, price: signedDigits, gateway: digits })
  .partial()
  .meta({ id: "HistoryFeesV2" });
const quotedImpact = z.object({ usd: plainText });

export const pastRequestV2 = z
  .object({
    ...commonFields,
    data: z.object({
      ...commonData,
      failReason: plainText.describe("`N/A`: none."),
      refundFailReason: plainText.describe("`N/A`: none."),
      supersededByRequestId: nullable(answerHash32),
      subsidizedRequest: z.boolean().describe("An app pays fees."),
      timeEstimate: z.number().optional().describe("Seconds from deposit to fill, as quoted."),
      fees: quotedFees.describe(
        "As quoted, smallest units of `feeCurrency`: `gas` is the flat fee and gas of the fill, `price` the fee of the service. Empty for requests from before they were stored.",
      ),
      feesUsd: quotedFees.describe("The same, USD with six decimals written as an integer."),
      feeCurrency: plainText.optional().describe("Id of the currency."),
      feeCurrencyObject: historyCurrency,
      appFees: z.array(appFee).describe("As agreed."),
      paidAppFees: z.array(appFee).describe("As credited, once the fill is final."),
      appFeeCurrencyObject: historyCurrency.optional(),
      feeSponsorship: feeSponsorshipV2.optional(),
      expandedPriceImpact: nullable(
        z.object({
          quoted: z.object({
            swap: quotedImpact,
            execution: quotedImpact,
            relay: quotedImpact,
            app: quotedImpact,
            sponsored: quotedImpact,
          }),
        }),
      ),
      currency: plainText.optional().describe("Id of the output currency."),
      currencyObject: historyCurrency,
      price: digits
        .optional()
        .describe("What the recipient got, or was quoted; smallest units of `currency`."),
      refundCurrencyData: refundAmount.optional(),
      inTxs: z.array(transactionV2),
      outTxs: z.array(transactionV2),
      metadata: z.object({
        sender: plainText,
        recipient: plainText,
        currencyIn: historyAmount,
        currencyOut: historyAmount,
        rate: plainText.optional(),
        route: sides.omit({ rate: true }),
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
export type HistoryCurrencyJson = z.infer<typeof historyCurrency>;
export type HistoryAmountJson = z.infer<typeof historyAmount>;
