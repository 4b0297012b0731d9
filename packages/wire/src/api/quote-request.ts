import { permitMethods } from "@causeway/domain";
import { z } from "zod";
import { message } from "../message.ts";
import { address, amount, chainId, count, flag, hexData, numberOrDigits, text, wei } from "../scalars.ts";

const names = z
  .array(text(128), message("must be an array of strings"))
  .max(64, "must have at most 64 entries")
  .optional();
const usdSixDecimals = numberOrDigits("a whole number (USD with 6 decimals, e.g. 2000000 = $2)").optional();
const bps = numberOrDigits("a whole number of bps from 0 to 10000", 10_000).optional();

/** A call on the destination chain after the output arrived there. */
export const destinationCall = z
  .object(
    {
      to: address,
      value: wei,
      data: hexData,
      originalTxValue: wei.optional(),
    },
    message("must be an object"),
  )
  .meta({ id: "DestinationCall" });

/** EIP-7702 authorization. */
export const authorization = z
  .object(
    {
      chainId: z.int(message("must be an integer chain id")).nonnegative("must not be negative"),
      address: z
        .string(message("must be a 20-byte address"))
        .regex(/^0x[a-fA-F0-9]{40}$/, "must be a 20-byte address"),
      nonce: count("transactions"),
      yParity: z.number(message("must be a number")),
      r: text(66),
      s: text(66),
    },
    message("must be an object"),
  )
  .meta({ id: "Authorization" });

/**
 * Body of `POST /quote/v2` and `POST /quote`. Other fields are accepted and ignored, with a warning for a
 * name that is close to a known one.
 */
export const quoteRequest = z
  .object(
    {
      user: address.describe(
        "Sender on the origin chain. It can be a placeholder: it need not hold the funds.",
      ),
      originChainId: chainId.describe("Chain to pay on. `fromChainId` is also accepted."),
      destinationChainId: chainId.describe("Chain to receive on. `toChainId` is also accepted."),
      originCurrency: address.describe("Currency to pay with; the zero address means the native token."),
      destinationCurrency: address.describe("Currency to receive; the zero address means the native token."),
      amount: amount.describe(
        "Base units of the input for `EXACT_INPUT`, of the output for the two other trade types.",
      ),
      tradeType: z
        .enum(
          ["EXACT_INPUT", "EXPECTED_OUTPUT", "EXACT_OUTPUT"],
          message("must be EXACT_INPUT, EXPECTED_OUTPUT or EXACT_OUTPUT"),
        )
        .default("EXACT_INPUT")
        .describe(
          "`EXACT_INPUT`: the user pays `amount`, and the output follows from it. `EXACT_OUTPUT`: the recipient gets exactly `amount`, or the deposit is refunded. `EXPECTED_OUTPUT`: the recipient should get `amount`, and may get less by at most the slippage tolerance.",
        ),
      recipient: address.optional().describe("Receiver on the destination chain; default: `user`."),
      refundTo: address.optional().describe("Receiver of a refund on the origin chain; default: `user`."),
      txs: z
        .array(destinationCall, message("must be an array"))
        .optional()
        .describe(
          "Calls that the fill's router makes with the whole output, in order; all must succeed. Leftover output and native token go to the recipient. To spend a token, include an approval call; `value` requires native output. EVM destinations only.",
        ),
      txsGasLimit: count("gas units")
        .optional()
        .describe(
          "Total gas limit of all destination calls. The quote prices it, and the fill never exceeds it. Absent or 0: the simulated gas.",
        ),
      authorizationList: z
        .array(authorization, message("must be an array"))
        .optional()
        .describe("EIP-7702 authorizations to include in a fill that makes calls."),
      gasLimitForDepositSpecifiedTxs: count("gas units")
        .optional()
        .describe("No effect: the calls are made by the fill, never by the deposit transaction."),
      referrer: text(512)
        .optional()
        .describe("Attribution. `debug-force-refund` forces the request to end in a refund."),
      referrerAddress: text(128).optional().describe("No effect; accepted for older clients."),
      refundOnOrigin: flag.optional().describe("No effect; refunds are always paid on the origin chain."),
      recoveryAddress: address
        .optional()
        .describe(
          "With `useDepositAddress`: account that can withdraw everything from the address with its own transaction. It never receives refunds.",
        ),
      useDepositAddress: flag
        .optional()
        .describe(
          "Pay the quote with one transfer of the quoted amount to `steps[0].depositAddress`, from any account. The address accepts further transfers: each of them, and any other amount, currency or chain, is quoted anew on arrival. If no quote is possible, the funds are refunded to `refundTo`; without `refundTo`, they stay at the address and remain visible. EVM origins, Solana and Bitcoin only; from Solana and Bitcoin, `refundTo` is required.",
        ),
      strict: flag
        .optional()
        .describe(
          "With `useDepositAddress`: the address accepts this quote only. A payment that is too small, in another currency or on another chain is refunded to `refundTo`, which is required; a surplus is refunded too. If `refundTo` is the zero address, the sender gets the refund; `user` must then be a wallet.",
        ),
      explicitDeposit: flag
        .optional()
        .describe(
          "Default true. false: pay an ERC-20 by one direct transfer, with the order id appended to its calldata; no approval needed.",
        ),
      protocolVersion: z
        .union([z.string(), z.number()], message("must be a string"))
        .refine((version) => String(version).length <= 32, "must have at most 32 characters")
        .optional()
        .describe("Must be `v2` for deposits from Hyperliquid; otherwise ignored. Every quote uses `v2`."),
      includeProtocolData: flag
        .optional()
        .describe("Include the order and the solver's signatures in `protocol` of the response."),
      usePermit: flag
        .optional()
        .describe(
          "Pay a token with one signature (EIP-3009, EIP-2612 or Permit2, whichever the token supports). The service submits it and deducts the gas from the output. EVM origins only.",
        ),
      permitKinds: z
        .array(
          z.enum(permitMethods, message(`must be one of ${permitMethods.join(", ")}`)),
          message("must be a list"),
        )
        .min(1, "must name at least one kind")
        .max(permitMethods.length, `must name at most ${permitMethods.length} kinds`)
        .optional()
        .describe(
          "With `usePermit`: the kinds of signatures that the client can make; default: all. Without `eip2612`, a token that supports only EIP-2612 permits is paid through Permit2, which needs a one-time approval.",
        ),
      permitExpiry: count("seconds")
        .optional()
        .describe("Validity of the signature in seconds, 60 to 86400; default 600."),
      useExternalLiquidity: flag
        .optional()
        .describe(
          "Use external liquidity services: `true` in addition to this instance's own pools, `false` never. Default: only where no pool offers a route.",
        ),
      useFallbacks: flag.optional().describe("No effect; accepted for older clients."),
      overridePriceImpact: flag
        .optional()
        .describe("Also quote swaps whose price impact exceeds this instance's limit."),
      disableOriginSwaps: flag
        .optional()
        .describe("Never swap in the user's own transaction. Wrapping and unwrapping are still allowed."),
      disableSwapProviderPreference: flag.optional().describe("No effect; accepted for older clients."),
      slippageTolerance: bps.describe("bps, 0 to 10000; chosen by the service if absent."),
      latePaymentSlippageTolerance: bps.describe(
        "bps, 0 to 10000. No effect: a deposit after `expiresAt` is also filled with at least the guaranteed minimum, or refunded.",
      ),
      enableTrueExactOutput: flag
        .optional()
        .describe(
          "With `EXACT_OUTPUT`, the solver keeps any surplus of the deposit over the expected amount.",
        ),
      appFees: z
        .array(
          z.object(
            { recipient: address, fee: numberOrDigits("a whole number of bps from 0 to 10000", 10_000) },
            message("must be an object"),
          ),
          message("must be an array"),
        )
        .optional()
        .describe(
          "App fees in bps of the deposited amount, credited to the recipients' app balances when the fill is final.",
        ),
      topupGas: flag
        .optional()
        .describe(
          "Also send the recipient of a token some native token for gas, paid from the input. EVM destinations only.",
        ),
      topupGasAmount: usdSixDecimals.describe("A whole number of millionths of a USD; default 2000000 = $2."),
      subsidizeFees: flag
        .optional()
        .describe(
          "The app balance of the API key's wallet pays the destination-side fees. App fees, swap costs and `fixedRate` are paid from its stablecoins only.",
        ),
      maxSubsidizationAmount: usdSixDecimals.describe(
        "Maximum amount that the sponsor pays, a whole number of millionths of a USD (`5000000` = $5); the user pays the rest.",
      ),
      sponsoredFeeComponents: names.describe(
        "Fees that the sponsor pays: `execution` (flat fee and gas of the fill), `swap` (cost of swaps), `relay` (service fee), `app` (app fees) and `rent` (instead of `execution` for a token payment on Solana: its fee is mostly the rent of a new token account, which the recipient gets back by closing it). Never the user's own gas on the origin chain. Default: all except `rent`.",
      ),
      forceSolverExecution: flag
        .optional()
        .describe(
          "For same-chain quotes: the solver pays after a deposit, instead of a swap in the user's transaction.",
        ),
      includedSwapSources: names.describe("Use only these sources from `/swap-sources`."),
      excludedSwapSources: names.describe("Do not use these swap sources."),
      includedOriginSwapSources: names.describe("Replaces `includedSwapSources` on the origin chain."),
      includedDestinationSwapSources: names.describe(
        "Replaces `includedSwapSources` on the destination chain.",
      ),
      additionalData: z
        .unknown()
        .refine(
          (value) => value === undefined || JSON.stringify(value).length <= 4_096,
          "must have at most 4096 characters of JSON; only userPublicKey is read",
        )
        .optional()
        .describe(
          "`userPublicKey`: public key (hex) of `user` on Bitcoin, needed for addresses that do not reveal it. Other fields are ignored.",
        ),
      maxRouteLength: numberOrDigits("a whole number of pools")
        .optional()
        .describe("Maximum number of consecutive pools in a swap; capped at three."),
      originGasOverhead: numberOrDigits("a whole number of gas units")
        .optional()
        .describe("Extra gas units that a smart wallet needs on the origin chain. EVM origins only."),
      fixedRate: z
        .string(message("must be a ratio such as 1:1"))
        .regex(/^\d{1,30}(\.\d{1,30})?:\d{1,30}(\.\d{1,30})?$/, "must be a ratio such as 1:1")
        .optional()
        .describe(
          "Exact rate between two stablecoins, as input:output, for example `1:1`; requires `subsidizeFees`.",
        ),
      ttl: count("seconds")
        .optional()
        .describe(
          "Seconds after the quote within which the fill must happen; otherwise the deposit is refunded.",
        ),
    },
    message("must be a JSON object"),
  )
  .meta({ id: "QuoteRequest" });

/** Fields of {@link quoteRequest} without effect. */
export const quoteFieldsWithoutEffect = [
  "gasLimitForDepositSpecifiedTxs",
  "referrerAddress",
  "refundOnOrigin",
  "useFallbacks",
  "disableSwapProviderPreference",
  "latePaymentSlippageTolerance",
] as const satisfies ReadonlyArray<keyof QuoteInput>;

export type QuoteInput = z.infer<typeof quoteRequest>;
export type DestinationCall = z.infer<typeof destinationCall>;
export type Authorization = z.infer<typeof authorization>;

/** Fields whose invalid values have their own error code; all others return `INVALID_REQUEST`. */
export const quoteFieldErrorCodes = {
  slippageTolerance: "INVALID_SLIPPAGE_TOLERANCE",
  latePaymentSlippageTolerance: "INVALID_SLIPPAGE_TOLERANCE",
  gasLimitForDepositSpecifiedTxs: "INVALID_GAS_LIMIT_FOR_DEPOSIT_SPECIFIED_TXS",
} as const;
