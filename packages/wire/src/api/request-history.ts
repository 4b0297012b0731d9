import { fundsPlaces, publicStatuses } from "@causeway/domain";
import { z } from "zod";
import { message } from "../message.ts";
import {
  answerHash32,
  digits,
  hash32,
  milliseconds,
  numberOrDigits,
  signedDigits,
  text,
} from "../scalars.ts";

/** Maximum rows per page. */
export const MAX_LISTED_REQUESTS = 50;
/** Requests are counted up to this number: beyond it, `total` is this number and `totalIsCapped` is true. */
export const MAX_COUNTED_REQUESTS = 10_000;

const HIDDEN =
  "Null until funds were moved from the deposit address, except for the API key that requested the quote. The quote response contains it.";

/** One value, several values separated by commas, or an array of values: any of them matches. */
const anyOf = z.union([text(4_000), z.array(text(4_000)).max(50)], message("must be a string")).optional();
const chains = z
  .union(
    [z.number(), text(400), z.array(z.union([z.number(), text(20)])).max(50)],
    message("must be chain ids"),
  )
  .optional();
const oneValue = text(512).optional();
const usd = z.union([z.number(), text(40)], message("must be an amount of USD")).optional();
const seconds = z.union([z.number(), text(20)], message("must be a number of seconds")).optional();
const block = z.union([z.number(), text(20)], message("must be a block number")).optional();
const flag = z.union([z.boolean(), z.enum(["true", "false"])], message("must be true or false")).optional();

const requestsFields = z.object({
  limit: numberOrDigits(`a number up to ${MAX_LISTED_REQUESTS}`, MAX_LISTED_REQUESTS)
    .optional()
    .describe(`Requests per page, at most ${MAX_LISTED_REQUESTS}; default 20.`),
  continuation: text(300)
    .optional()
    .describe("The `continuation` of the previous page, unchanged, with the same query."),
  id: anyOf.describe("Request ids. Only `id` and `orderId` also find unpaid quotes."),
  orderId: anyOf,
  user: anyOf.describe("The `user` of the quote, or the issued deposit address."),
  recipient: anyOf,
  term: oneValue.describe(
    "An address (user, recipient, deposit address), or a hash (request, order, transaction).",
  ),
  hash: anyOf.describe("Any transaction of a request: deposit, fill or refund."),
  depositTxHash: anyOf,
  fillTxHash: anyOf,
  refundTxHash: anyOf,
  depositAddress: anyOf,
  originChainId: chains,
  destinationChainId: chains,
  chainId: chains.describe("Origin or destination chain."),
  status: anyOf.describe(`Any of ${publicStatuses.join(", ")}.`),
  failReason: anyOf,
  refundFailReason: anyOf,
  requestType: anyOf,
  apiKey: anyOf.describe("Id of the calling secret key. A key can list only its own requests."),
  referrer: oneValue.describe("Only together with `apiKey`."),
  currencyInChainId: chains,
  currencyOutChainId: chains,
  currencyInAddress: anyOf,
  currencyOutAddress: anyOf,
  currencyInSymbol: anyOf,
  currencyOutSymbol: anyOf,
  sortBy: z
    .enum(["createdAt", "updatedAt", "amountUsd"], message("must be createdAt, updatedAt or amountUsd"))
    .default("createdAt"),
  sortDirection: z.enum(["asc", "desc"], message("must be asc or desc")).default("desc"),
  startTimestamp: seconds.describe("Quoted at or after this time, Unix seconds."),
  endTimestamp: seconds.describe("Quoted at or before this time, Unix seconds."),
  startBlock: block.describe("Deposited in this block of the origin chain or later."),
  endBlock: block.describe("Deposited in this block of the origin chain or earlier."),
  amountUsdMin: usd.describe("USD value of the input at the time of the quote."),
  amountUsdMax: usd,
  appFeesAmountUsdMin: usd,
  appFeesAmountUsdMax: usd,
  fillTimeMin: seconds.describe("Seconds from the detection of the deposit until the fill was mined."),
  fillTimeMax: seconds,
  features: anyOf.describe(
    "Requests that have all of these: `execution` (or `gasless_execution`), `fast-fill` (or `fast_fill`), `origin-swap`, `destination-swap`, `calls`.",
  ),
  filters: text(8_000)
    .optional()
    .describe(
      'JSON array of groups: a request must match at least one of them. A group is an object whose fields are the parameters above: a request must match all of them. The prefix `not:` excludes a value. `null` matches an unknown value, `not:null` a known one. Example: `[{"status":"failure"},{"status":"success","originChainId":["1","10"],"recipient":"not:null"}]`.',
    ),
  includeTotal: flag.describe(
    `Adds \`total\`, counted up to ${MAX_COUNTED_REQUESTS}; beyond that, \`totalIsCapped\` is true.`,
  ),
  includeChildRequests: flag.describe("No effect: requests have no children here."),
  includeAuthenticatedData: flag.describe(
    "Adds, to requests that were created with the calling secret key, the key's id, the referrer, the recipients of app fees and the sponsor's wallet.",
  ),
  includeOrderData: flag.describe(
    "Ignored: the quote response contains the order as `protocol.v2.orderData`.",
  ),
  privateChainsToInclude: oneValue.describe(
    "No effect: the list always includes every chain of this service.",
  ),
});

/**
 * Query of the three lists of requests; the route parses the values. Unknown parameters are refused: an
 * ignored filter would include the requests of others.
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

const UNKNOWN = "Absent if unknown.";
const historyCurrency = z
  .object({
    chainId: z.int(),
    address: z.string(),
    symbol: plainText
      .optional()
      .describe("Like `name` and `decimals`, absent if the currency is no longer configured."),
    name: plainText.optional(),
    decimals: z.int().optional(),
    metadata: z.object({ logoURI: plainText, verified: z.boolean(), isNative: z.boolean() }).optional(),
  })
  .meta({ id: "HistoryCurrency" });

const historyAmount = z
  .object({
    currency: historyCurrency,
    amount: signedDigits.optional().describe(`Base units. ${UNKNOWN}`),
    amountFormatted: plainText.optional(),
    amountUsd: plainText.optional().describe(`USD value at the time of the quote. ${UNKNOWN}`),
    minimumAmount: signedDigits.optional(),
  })
  .meta({ id: "HistoryAmount" });

const side = z.object({ inputCurrency: nullable(historyAmount), outputCurrency: nullable(historyAmount) });
const sides = z.object({ origin: side, destination: side, rate: plainText.optional().describe(UNKNOWN) });

const historyCallData = plainText
  .optional()
  .describe("Absent if longer than 1,024 bytes, unless the query selects the request by `id` or `orderId`.");

const transactionFields = {
  fee: digits
    .optional()
    .describe("Fee paid by the solver, in base units of the native token; absent if someone else paid it."),
  block: z.int().optional(),
  type: z.literal("onchain"),
  chainId: z.int(),
  timestamp: z.int().optional().describe("Time at which the transaction was seen in a block, Unix seconds."),
  status: z.enum(["success", "failure"]).optional().describe("Absent until the transaction is mined."),
  data: z
    .object({ to: plainText, data: historyCallData, value: digits })
    .optional()
    .describe("The call; present only for transactions sent by the service."),
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
      .describe(
        "Wallet whose app balance is credited. Shown only to the API key that requested the quote, with `includeAuthenticatedData`.",
      ),
    bps: digits.describe("Basis points of the deposited amount."),
    amount: digits,
    amountFormatted: plainText.optional(),
    amountUsd: plainText.optional().describe(`USD value at the time of the quote. ${UNKNOWN}`),
  })
  .meta({ id: "HistoryAppFee" });

const sponsorPayment = z
  .object({ amount: digits, address: plainText.describe("Address of the currency."), chainId: z.int() })
  .meta({ id: "SponsorPayment" });

const charged = {
  sponsorPayment: sponsorPayment
    .optional()
    .describe("Absent if nothing was charged or if several currencies were charged."),
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
    quoted: quoted.optional().describe("Share of the quote's fees that an app agreed to pay."),
    actual: quoted
      .extend(charged)
      .optional()
      .describe("Amount charged to the app balance, once the fill is final."),
    wallet: plainText
      .optional()
      .describe(
        "Wallet whose app balance pays. Shown only to the API key that requested the quote, with `includeAuthenticatedData`.",
      ),
    costUsd: plainText
      .optional()
      .describe("Reserved for the transaction that the service sends for the user; absent if it sends none."),
    paidUsd: plainText.optional().describe("Actual cost of that transaction."),
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
  swap: namedFee.optional().describe("Cost of swaps and rounding."),
  execution: namedFee.optional().describe("Flat fee and fill gas."),
  platform: namedFee.optional().describe("Service fee."),
  app: namedFee.optional(),
  sponsored: namedFee.optional().describe("Share paid by an app."),
});

const failedCall = z.object({ from: plainText, to: plainText, data: historyCallData, value: digits });
const refundAmount = historyAmount.extend({ recipient: plainText }).meta({ id: "HistoryRefund" });

const commonData = {
  slippageTolerance: plainText.describe("Difference between the expected and the minimum output, in bps."),
  failedTxHash: plainText.optional(),
  failedTxBlockNumber: z.int().optional(),
  failedCallData: failedCall.optional().describe("The call of the transaction that failed on chain."),
  usesExternalLiquidity: z.literal(false),
  triggeredByFastFill: z.boolean(),
  delivered: z
    .object({
      amount: digits.describe("Amount received by the recipient, in base units."),
      quotedAmount: digits.describe("Quoted amount."),
      minimumAmount: digits.describe("Guaranteed minimum."),
      differenceBps: z.number().describe("Positive if more than quoted was delivered."),
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
  sender: plainText.describe("Sender of the deposit; before the deposit, the `user` of the quote."),
  refundTo: plainText,
  supersededByRequestId: nullable(answerHash32).describe(
    "Id of the request created for the payment that the deposit address received, if that payment differs from the quote.",
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
  requestType: nullable(plainText).describe("Null for an unpaid quote."),
  features: z
    .array(plainText)
    .describe(
      "`execution`, `fast-fill`, `origin-swap`, `destination-swap`, `calls`; also `gasless_execution`, `gasless_swap`, `fast_fill`, `gas_top_up`, `fixed_rate`, `app_fees`, `deposit_address`, for compatibility with other services.",
    ),
  createdAt: time,
  updatedAt: time,
  protocol: z.object({
    orderId: nullable(answerHash32).describe(
      `${HIDDEN} Always present for requests without a deposit address.`,
    ),
    hubType: z.literal("onchain"),
    isWithdrawable: z
      .literal(false)
      .describe("Always false: users never withdraw, because an unfilled deposit is refunded."),
    solver: z.object({
      address: plainText,
      protocolChainId: plainText.describe("Name of the solver's chain in orders."),
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
          onchainId: answerHash32.describe("On-chain id of the deposit: the order id."),
          transactionId: plainText,
        }),
        blockNumber: z.int(),
        confirmed: z.boolean().describe("Whether the deposit has the confirmations required for its value."),
      })
      .optional(),
    settlement: z
      .object({
        destination: z.object({
          fills: z.array(payment),
          refunds: z.array(payment),
        }),
        state: plainText.describe(
          "State on the hub: `due`, `attested` or `settled`; `unrepayable` if no oracle can attest the payment, so the hub never repays it.",
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
        "Seconds from deposit to fill, as quoted. Null for requests created before this field was stored.",
      ),
      appFees: z
        .object({
          quoted: z.array(appFee),
          actual: z
            .array(appFee)
            .optional()
            .describe("Amounts credited to app balances, once the fill is final."),
          currency: historyCurrency,
        })
        .optional(),
      fees: nullable(
        z.object({
          quoted: namedFees.optional(),
          actual: namedFees
            .optional()
            .describe(
              "Only `sponsored` is set: USD paid by apps. For the cost of the fill, see `fee` of its transaction.",
            ),
          currency: historyCurrency.describe("Currency of the quoted amounts."),
        }),
      ),
      feeSponsorship: nullable(feeSponsorshipV3),
      route: z.object({ quoted: sides, actual: nullable(sides) }),
      refundCurrencyData: nullable(refundAmount),
      inTxs: z.array(transaction),
      outTxs: z.array(transaction).describe("Fill transactions, and refunds on the origin chain."),
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
      failReason: plainText.describe("`N/A` if the request did not fail."),
      refundFailReason: plainText.describe("`N/A` if the request did not fail."),
      supersededByRequestId: nullable(answerHash32),
      subsidizedRequest: z.boolean().describe("Whether an app pays fees."),
      timeEstimate: z.number().optional().describe("Seconds from deposit to fill, as quoted."),
      fees: quotedFees.describe(
        "As quoted, in base units of `feeCurrency`: `gas` is the flat fee and fill gas, `price` the service fee. Empty for requests created before these fields were stored.",
      ),
      feesUsd: quotedFees.describe("The same fees in USD, as integers with six implied decimals."),
      feeCurrency: plainText.optional().describe("Currency id of the fees."),
      feeCurrencyObject: historyCurrency,
      appFees: z.array(appFee).describe("As quoted."),
      paidAppFees: z.array(appFee).describe("Amounts credited, once the fill is final."),
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
      currency: plainText.optional().describe("Currency id of the output."),
      currencyObject: historyCurrency,
      price: digits
        .optional()
        .describe("Amount received by the recipient, or quoted if not filled, in base units of `currency`."),
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
    amount: digits.describe("Base units."),
    state: z
      .enum(["waiting", "refunding", "refunded", "held"])
      .describe(
        "`waiting`: the service returns it to its depositor automatically. `held`: it stays in the depository until the operator returns it.",
      ),
    message: plainText.describe("Where the deposit is."),
  })
  .meta({ id: "UnattributedDeposit" });

const page = {
  continuation: z.string().optional().describe("Pass it to get the next page; absent on the last page."),
  total: z.int().optional(),
  totalIsCapped: z.boolean().optional().describe("Whether there are more requests than `total`."),
  unattributedDeposits: z
    .array(unattributedDeposit)
    .optional()
    .describe(
      "Deposits without a known request, in transactions selected by `hash`, `depositTxHash` or `term`. Absent if there are none, and on later pages.",
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

export const traceParams = z.object({ requestId: hash32.describe("Request id of the quote.") });

export const traceAnswer = z
  .object({
    requestId: answerHash32,
    status: z.enum(publicStatuses),
    fundsAt: z.enum(fundsPlaces),
    summary: z.string().describe("Where the funds are and why, in one sentence."),
    entries: z
      .array(
        z
          .object({
            at: time,
            atMs: milliseconds,
            kind: z
              .string()
              .describe(
                "`quoted`, `deposit`, `event`, `nonce`, `attempt`, `mined`, `settlement`, `execution`, `ledger`, `archived`, …",
              ),
          })
          .catchall(z.unknown()),
      )
      .describe("Everything the service saw, decided, signed and sent, in order."),
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
