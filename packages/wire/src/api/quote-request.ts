import { permitMethods } from "@causeway/domain";
import { z } from "zod";
import { because } from "../because.ts";
import { address, amount, chainId, count, flag, hexData, numberOrDigits, text, wei } from "../scalars.ts";

const names = z
  .array(text(128), because("must be an array of strings"))
  .max(64, "must have at most 64 entries")
  .optional();
const usdSixDecimals = numberOrDigits("a whole number (USD with 6 decimals, e.g. 2000000 = $2)").optional();
const bps = numberOrDigits("a whole number of bps from 0 to 10000", 10_000).optional();

/** A call that is run on the destination chain after the output arrived there. */
export const destinationCall = z
  .object(
    {
      to: address,
      value: wei,
      data: hexData,
      originalTxValue: wei.optional(),
    },
    because("must be an object"),
  )
  .meta({ id: "DestinationCall" });

/** EIP-7702 authorization. */
export const authorization = z
  .object(
    {
      chainId: z.int(because("must be an integer chain id")).nonnegative("must not be negative"),
      address: z
        .string(because("must be a 20-byte address"))
        .regex(/^0x[a-fA-F0-9]{40}$/, "must be a 20-byte address"),
      nonce: count("transactions"),
      yParity: z.number(because("must be a number")),
      r: text(66),
      s: text(66),
    },
    because("must be an object"),
  )
  .meta({ id: "Authorization" });

/** Body of `POST /quote/v2` and `POST /quote`. Fields not listed are accepted and ignored, with a warning when one is nearly a listed one. */
export const quoteRequest = z
  .object(
    {
      user: address.describe("Sender on the origin chain. May be a placeholder: it need not hold the funds."),
      originChainId: chainId.describe("Chain to pay on. `fromChainId` is accepted as well."),
      destinationChainId: chainId.describe("Chain to receive on. `toChainId` is accepted as well."),
      originCurrency: address.describe("Currency to pay with; the all-zero address is the native one."),
      destinationCurrency: address.describe("Currency to receive; the all-zero address is the native one."),
      amount: amount.describe(
        "Smallest units: of the input for `EXACT_INPUT`, of the output for the two other trade types.",
      ),
      tradeType: z
        .enum(
          ["EXACT_INPUT", "EXPECTED_OUTPUT", "EXACT_OUTPUT"],
          because("must be EXACT_INPUT, EXPECTED_OUTPUT or EXACT_OUTPUT"),
        )
        .default("EXACT_INPUT")
        .describe(
          "`EXACT_INPUT`: `amount` is paid, and what it buys arrives. `EXACT_OUTPUT`: `amount` arrives to the unit, or the deposit is refunded. `EXPECTED_OUTPUT`: `amount` is expected to arrive, and less by at most the slippage tolerance is accepted.",
        ),
      recipient: address.optional().describe("Receiver on the destination chain; default: `user`."),
      refundTo: address.optional().describe("Receiver of a refund on the origin chain; default: `user`."),
      txs: z
        .array(destinationCall, because("must be an array"))
        .optional()
        .describe(
          "Calls that the fill's router makes with the whole output, in order; all must succeed. What they leave of it, and of native coin, goes to the recipient. A token is spent by an approval among them; values only with native output.",
        ),
      txsGasLimit: count("gas units")
        .optional()
        .describe(
          "Gas units of all destination calls together: priced, and never exceeded; absent or 0: what they are seen to need.",
        ),
      authorizationList: z
        .array(authorization, because("must be an array"))
        .optional()
        .describe("Consents (EIP-7702) that travel with a fill that makes calls."),
      gasLimitForDepositSpecifiedTxs: count("gas units")
        .optional()
        .describe("Without effect: calls are made by the fill, never by the deposit transaction."),
      referrer: text(512)
        .optional()
        .describe("Attribution. `debug-force-refund` makes the request end in a refund."),
      referrerAddress: text(128).optional().describe("Without effect; accepted for older clients."),
      refundOnOrigin: flag.optional().describe("Without effect; refunds always go to the origin chain."),
      recoveryAddress: address
        .optional()
        .describe(
          "With `useDepositAddress`: who may take everything out of the address again, by a transaction of his own. Never gets refunds.",
        ),
      useDepositAddress: flag
        .optional()
        .describe(
          "The quote is paid by sending money to `steps[0].depositAddress`, by anybody, in one payment or as often as wanted. Another amount, currency or chain than was quoted gets a quote of its own when it comes, and goes back to `refundTo` when there is none; without `refundTo` it stays at the address, visible.",
        ),
      strict: flag
        .optional()
        .describe(
          "With `useDepositAddress`: the address is bound to this quote. Less, another currency or chain goes back to `refundTo`, which is required; of more the rest goes back. The zero address as `refundTo`: to whoever sent it; `user` must then be a wallet.",
        ),
      explicitDeposit: flag
        .optional()
        .describe(
          "Default true. false: an ERC-20 is paid by one direct transfer with the order id after its calldata, no approval.",
        ),
      protocolVersion: z
        .union([z.string(), z.number()], because("must be a string"))
        .refine((version) => String(version).length <= 32, "must have at most 32 characters")
        .optional()
        .describe("`v2` is what every quote uses."),
      includeProtocolData: flag
        .optional()
        .describe("The answer's `protocol` holds the order and the solver's signatures of it."),
      usePermit: flag
        .optional()
        .describe(
          "A token is paid by one signature (EIP-3009, EIP-2612 or Permit2, whatever it takes) that the service submits; its gas is paid by the output.",
        ),
      permitKinds: z
        .array(
          z.enum(permitMethods, because(`must be any of ${permitMethods.join(", ")}`)),
          because("must be a list"),
        )
        .min(1, "must name at least one kind")
        .max(permitMethods.length, `must name at most ${permitMethods.length} kinds`)
        .optional()
        .describe(
          "With `usePermit`: the kinds of signatures that the client can make; default: all. Without `eip2612` a token that takes only such permits is paid through Permit2, which needs an approval once.",
        ),
      permitExpiry: count("seconds")
        .optional()
        .describe("Seconds for which the signature counts, 60 to 86400; default 600."),
      useExternalLiquidity: flag
        .optional()
        .describe(
          "Services of others: `true` asks them beside this instance's own pools, `false` never; otherwise they are asked where no pool has an answer.",
        ),
      useFallbacks: flag.optional().describe("Without effect; accepted for older clients."),
      overridePriceImpact: flag
        .optional()
        .describe("Quotes too whose swaps cost more than this instance lets pass unasked."),
      disableOriginSwaps: flag
        .optional()
        .describe("Nothing is swapped in the user's own transaction; wrapping and unwrapping is no swap."),
      disableSwapProviderPreference: flag.optional().describe("Without effect; accepted for older clients."),
      slippageTolerance: bps.describe("bps, 0 to 10000; absent = chosen by the service."),
      latePaymentSlippageTolerance: bps.describe(
        "bps, 0 to 10000. Without effect: a late deposit is served by the same promise as one in time.",
      ),
      enableTrueExactOutput: flag
        .optional()
        .describe("What an exact output's deposit brings more than expected stays with the solver."),
      appFees: z
        .array(
          z.object(
            { recipient: address, fee: numberOrDigits("a whole number of bps from 0 to 10000", 10_000) },
            because("must be an object"),
          ),
          because("must be an array"),
        )
        .optional()
        .describe(
          "Fees of apps in bps of what is deposited, credited to the recipients' app balances when the fill is final.",
        ),
      topupGas: flag
        .optional()
        .describe("The recipient of a token gets native coin for gas beside it, out of the input."),
      topupGasAmount: usdSixDecimals.describe("USD with 6 decimals; default 2000000 = $2."),
      subsidizeFees: flag
        .optional()
        .describe(
          "The app balance of the key's wallet pays the fees of the destination side; app fees, swap costs and fixedRate from its stablecoins only.",
        ),
      maxSubsidizationAmount: usdSixDecimals.describe(
        "USD with 6 decimals: the sponsor pays no more, the user the rest.",
      ),
      sponsoredFeeComponents: names.describe(
        "Of `execution`, `swap`, `relay`, `app` and `rent`; all but the last when absent.",
      ),
      forceSolverExecution: flag
        .optional()
        .describe(
          "On one chain the solver pays, after a deposit, instead of a pool in the user's transaction.",
        ),
      includedSwapSources: names.describe("Only these, of `/swap-sources`, are used."),
      excludedSwapSources: names.describe("These are not used."),
      includedOriginSwapSources: names.describe("Instead of `includedSwapSources`, on the origin chain."),
      includedDestinationSwapSources: names.describe(
        "Instead of `includedSwapSources`, on the destination chain.",
      ),
      additionalData: z
        .unknown()
        .refine(
          (given) => given === undefined || JSON.stringify(given).length <= 4_096,
          "must have at most 4096 characters of JSON; only userPublicKey is read",
        )
        .optional()
        .describe(
          "`userPublicKey`: the hex key behind `user` on Bitcoin, which some addresses do not tell. Anything else is ignored.",
        ),
      maxRouteLength: numberOrDigits("a whole number of pools")
        .optional()
        .describe("Pools one after the other in a swap, at most; never more than three."),
      originGasOverhead: numberOrDigits("a whole number of gas units")
        .optional()
        .describe("Extra gas units a smart wallet needs on the origin chain."),
      fixedRate: z
        .string(because("must be a ratio such as 1:1"))
        .regex(/^\d{1,30}(\.\d{1,30})?:\d{1,30}(\.\d{1,30})?$/, "must be a ratio such as 1:1")
        .optional()
        .describe("in:out, kept to the unit between stable currencies; needs `subsidizeFees`."),
      ttl: count("seconds")
        .optional()
        .describe("Seconds; not filled within them after the quote = refunded."),
    },
    because("must be a JSON object"),
  )
  .meta({ id: "QuoteRequest" });

/** Fields of {@link quoteRequest} that change nothing. */
export const quoteFieldsWithoutEffect = [
  "gasLimitForDepositSpecifiedTxs",
  "referrerAddress",
  "refundOnOrigin",
  "useFallbacks",
  "disableSwapProviderPreference",
  "latePaymentSlippageTolerance",
] as const satisfies ReadonlyArray<keyof QuoteInput>;

/** What a route hands to the quote use case. */
export type QuoteInput = z.infer<typeof quoteRequest>;
export type DestinationCall = z.infer<typeof destinationCall>;
export type Authorization = z.infer<typeof authorization>;

/** Codes of fields whose bad values have a code of their own; all others are `INVALID_REQUEST`. */
export const quoteFieldErrorCodes = {
  slippageTolerance: "INVALID_SLIPPAGE_TOLERANCE",
  latePaymentSlippageTolerance: "INVALID_SLIPPAGE_TOLERANCE",
  gasLimitForDepositSpecifiedTxs: "INVALID_GAS_LIMIT_FOR_DEPOSIT_SPECIFIED_TXS",
} as const;
