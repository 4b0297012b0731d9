import { z } from "zod";
import { answerHash32, answerHex, decimal, digits, evmAddress, milliseconds } from "../scalars.ts";
import { amountObject } from "./currency.ts";
import { protocolV2 } from "./order.ts";
import { authorizeStep, nonEvmStep } from "./non-evm-steps.ts";

/** A transaction for the user's wallet. */
export const transactionData = z
  .object({
    from: evmAddress,
    to: evmAddress,
    data: answerHex,
    value: digits.describe("Wei."),
    chainId: z.int(),
    gas: digits
      .optional()
      .describe("Gas units; absent if they cannot be estimated before an earlier step is done."),
    maxFeePerGas: digits.optional().describe("Wei per gas."),
    maxPriorityFeePerGas: digits.optional().describe("Wei per gas."),
  })
  .meta({ id: "TransactionData" });

const status = z.enum(["incomplete", "complete"]);
const check = z.object({ endpoint: z.string(), method: z.literal("GET") });

export const stepItem = z
  .object({
    status,
    data: transactionData,
    check: check
      .optional()
      .describe("Where to follow the request once the item is done. Absent for approvals."),
  })
  .meta({ id: "StepItem" });

/** The data that a wallet signs, and where to post the signature. */
export const signatureData = z
  .object({
    sign: z.object({
      signatureKind: z.literal("eip712"),
      domain: z.object({
        name: z.string(),
        version: z.string().optional(),
        chainId: z.int(),
        verifyingContract: evmAddress,
      }),
      types: z
        .record(z.string(), z.array(z.object({ name: z.string(), type: z.string() })))
        .describe("EIP-712 types without `EIP712Domain`."),
      value: z.record(z.string(), z.unknown()).describe("Numbers are decimal strings."),
      primaryType: z.string(),
    }),
    post: z.object({
      endpoint: z.string().describe("Send the signature as the query parameter `signature`."),
      method: z.literal("POST"),
      body: z.object({
        kind: z.string().describe("eip3009, eip2612 or permit2."),
        requestId: answerHash32,
        api: z.enum(["bridge", "swap"]),
      }),
    }),
  })
  .meta({ id: "SignatureData" });

export const signatureItem = z.object({ status, data: signatureData, check }).meta({ id: "SignatureItem" });

const stepTexts = {
  action: z.string(),
  description: z.string(),
  requestId: answerHash32,
  depositAddress: z.string().describe("Empty if the quote uses no deposit address."),
};

export const transactionStep = z
  .object({
    id: z.enum(["approve", "deposit", "swap", "send"]),
    kind: z.literal("transaction"),
    ...stepTexts,
    items: z.array(stepItem),
  })
  .meta({ id: "TransactionStep" });

/** Data that the user signs instead of sending a transaction; the service sends the transaction. */
export const signatureStep = z
  .object({
    id: z.enum(["authorize1", "authorize2"]),
    kind: z.literal("signature"),
    ...stepTexts,
    items: z.array(signatureItem),
  })
  .meta({ id: "SignatureStep" });

export const step = z.union([transactionStep, signatureStep, nonEvmStep, authorizeStep]).meta({ id: "Step" });

const usd = decimal.describe("USD, six decimals; a cost is negative.");
const usdOnly = z.object({ usd });
const impact = z.object({ usd, percent: z.string().describe("Percent; a cost is negative.") });
const slippage = z.object({ usd: decimal, value: digits, percent: z.string() });

const routeSide = z.object({
  inputCurrency: amountObject,
  outputCurrency: amountObject,
  router: z.string(),
  includedSwapSources: z.array(z.string()).optional(),
});

export const quoteFees = z
  .object({
    gas: amountObject.describe("Gas the user pays on the origin chain."),
    relayer: amountObject.describe("relayerGas + relayerService."),
    relayerGas: amountObject.describe("Flat fee, fill gas, and the fee of a gas top-up."),
    relayerService: amountObject.describe("Service fee; may be negative."),
    app: amountObject,
    subsidized: amountObject,
  })
  .meta({ id: "QuoteFees" });

export const quoteDetails = z
  .object({
    operation: z.enum(["send", "swap", "wrap", "unwrap", "bridge"]),
    sender: z.string(),
    recipient: z.string(),
    currencyIn: amountObject,
    currencyOut: amountObject,
    refundCurrency: amountObject.describe(
      "The deposited currency and amount. `minimumAmount` is the least that a refund of the agreed deposit returns; 0 if the gas of a refund may cost as much as the deposit is worth.",
    ),
    currencyGasTopup: amountObject.optional(),
    totalImpact: impact,
    swapImpact: impact,
    expandedPriceImpact: z.object({
      swap: usdOnly,
      execution: usdOnly,
      service: usdOnly,
      relay: usdOnly.describe("Same as `service`, for compatibility with other clients."),
      app: usdOnly,
      sponsored: usdOnly.optional(),
    }),
    rate: z.string().describe("Output per unit of input, in whole units."),
    slippageTolerance: z.object({
      origin: slippage,
      destination: slippage,
      total: z.string().optional().describe("bps."),
    }),
    timeEstimate: z.number().describe("Seconds from deposit to fill."),
    userBalance: digits.describe("The user's balance of the input currency, in base units."),
    isFixedRate: z.boolean(),
    fallbackType: z.string().optional(),
    fixedRateFee: z.object({ usd: decimal }).optional(),
    route: z.object({ origin: routeSide, destination: routeSide }),
  })
  .meta({ id: "QuoteDetails" });

const usdAmount = z.object({ usd: decimal.describe("USD, six decimals.") });
const feeShare = z.object({
  selected: z.boolean().describe("Whether the sponsor was asked to pay this component."),
  total: usdAmount,
  sponsored: usdAmount,
  userPays: usdAmount,
});

/** Who pays which of the fees on the destination side. */
export const feeSponsorship = z
  .object({
    selectedComponents: z.array(z.enum(["execution", "swap", "relay", "app", "rent"])),
    maxSubsidizationAmount: digits.optional().describe("Millionths of a USD."),
    capHit: z.boolean().describe("Whether the sponsored fees exceeded `maxSubsidizationAmount`."),
    components: z.object({
      execution: feeShare,
      swap: feeShare,
      relay: feeShare,
      app: feeShare,
      rent: feeShare,
    }),
    sponsoredTotal: usdAmount,
    userPaysTotal: usdAmount,
  })
  .meta({ id: "FeeSponsorship" });

const quoteWarning = z
  .object({
    code: z
      .enum(["UNKNOWN_FIELD", "NO_REFUND_MINIMUM"])
      .describe(
        "`UNKNOWN_FIELD`: an ignored field has nearly the name of a known one. `NO_REFUND_MINIMUM`: a refund may cost as much as the deposit is worth.",
      ),
    field: z.string().describe("Field of the request or of this response."),
    message: z.string(),
  })
  .meta({ id: "QuoteWarning" });

/** Answer of `POST /quote/v2`. */
export const quoteAnswer = z
  .object({
    requestId: answerHash32.describe("Identifies the intent throughout this API."),
    steps: z.array(step).describe("Steps for the user, in order."),
    fees: quoteFees,
    feeSponsorship: z.object({ quoted: feeSponsorship }).optional(),
    details: quoteDetails,
    expiresAt: milliseconds
      .optional()
      .describe(
        "ms since epoch. A deposit seen by then gets the quoted output even if prices move, up to a limit set by the operator. Beyond that limit, the output is repriced but never below its minimum, or the deposit is refunded.",
      ),
    fillDeadline: milliseconds
      .optional()
      .describe(
        "ms since epoch. A deposit not filled by then is refunded. Funds that arrive later at a deposit address are quoted anew or, if the address is strict, refunded.",
      ),
    protocol: z.object({ v2: protocolV2 }),
    warnings: z
      .array(quoteWarning)
      .optional()
      .describe("Unexpected properties of the quote. Absent if there are none."),
  })
  .meta({ id: "QuoteAnswer" });

export type QuoteWarning = z.infer<typeof quoteWarning>;
export type QuoteAnswer = z.infer<typeof quoteAnswer>;
export type QuoteStep = z.infer<typeof step>;
export type TransactionStep = z.infer<typeof transactionStep>;
export type SignatureStep = z.infer<typeof signatureStep>;
export type QuoteStepItem = z.infer<typeof stepItem>;
export type QuoteFees = z.infer<typeof quoteFees>;
export type QuoteDetails = z.infer<typeof quoteDetails>;
export type TransactionData = z.infer<typeof transactionData>;

/** The transactions that steps request from an EVM wallet, in order, without signatures. */
export function transactionsOf(steps: readonly QuoteStep[]): TransactionData[] {
  return steps.flatMap((quoteStep) => (isEvmStep(quoteStep) ? quoteStep.items.map(({ data }) => data) : []));
}

/** Whether a step is a transaction on an EVM chain. */
export function isEvmStep(candidate: QuoteStep): candidate is TransactionStep {
  return candidate.kind === "transaction" && candidate.items.every(({ data }) => "to" in data);
}
