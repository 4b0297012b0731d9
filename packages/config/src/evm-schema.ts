import { z } from "zod";
import { parseExactDecimal } from "./exact-decimal.ts";
import {
  currencyFields,
  decimalText,
  feeFields,
  profileFields,
  serviceAddress,
  wsUrl,
} from "./profile-fields.ts";

const token = z.strictObject({
  address: serviceAddress,
  ...currencyFields,
  supportsPermit: z.boolean().default(false),
  resetsApproval: z.boolean().default(false),
});

const confirmationTier = z.strictObject({
  belowUsd: decimalText(18).optional(),
  confirmations: z.int().min(1).max(100_000),
});

const confirmationTiers = z
  .array(confirmationTier)
  .min(1)
  .superRefine((tiers, context) => {
    for (const [index, tier] of tiers.entries()) {
      const isLast = index === tiers.length - 1;
      const previous = tiers[index - 1];
      const bound = usdOf(tier.belowUsd);
      const previousBound = usdOf(previous?.belowUsd);
      const problem = (message: string) => context.addIssue({ code: "custom", path: [index], message });
      if (isLast && tier.belowUsd !== undefined)
        problem("the last tier must not set belowUsd, since it applies to all larger deposits");
      if (!isLast && tier.belowUsd === undefined)
        problem("belowUsd is required in every tier except the last");
      if (bound !== undefined && previousBound !== undefined && bound <= previousBound)
        problem("belowUsd must be greater than in the preceding tier");
      if (previous !== undefined && tier.confirmations < previous.confirmations)
        problem("confirmations must not be lower than in the preceding tier");
    }
  });

function usdOf(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : parseExactDecimal(text, 18);
}

const sourceFields = { name: z.string().min(1), factory: serviceAddress };

/** In hundredths of a bp, below 100 percent. */
const feeTiers = z
  .array(z.int().min(1).max(999_999))
  .min(1)
  .refine(
    (tiers) => tiers.every((tier, index) => index === 0 || tier > (tiers[index - 1] ?? 0)),
    "must be in ascending order",
  );

const poolSource = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("uniswap-v3"),
    ...sourceFields,
    router: serviceAddress,
    /** `SwapRouter` takes a deadline in its swaps, `SwapRouter02` does not. */
    routerKind: z.enum(["swap-router", "swap-router-02"]),
    quoter: serviceAddress,
    feeTiers,
  }),
  z.strictObject({
    kind: z.literal("uniswap-v2"),
    ...sourceFields,
    /** `UniswapV2Router02`. Absent: the pairs only provide prices; nothing is swapped in them. */
    router: serviceAddress.optional(),
    /** bps of the input. */
    feeBps: z.int().min(0).max(9_999),
  }),
]);

const liquidity = z.strictObject({
  /** Absent: the native token is not swapped. */
  wrappedNative: serviceAddress.optional(),
  /** Intermediate tokens of swap paths, in order of preference; they need not be in `tokens`. */
  connectors: z.array(serviceAddress).default([]),
  /** Empty: the native token can be wrapped and unwrapped, but nothing is swapped. */
  sources: z.array(poolSource).default([]),
});

/**
 * An EVM chain in `configs/chains.<ENVIRONMENT>.json`. Both services read the same file and ignore each
 * other's fields.
 */
export const chainEntry = z.strictObject({
  ...profileFields,
  vmType: z.literal("ethereum-vm"),
  wsRpcUrl: wsUrl.optional(),
  tokens: z.array(token),
  depository: serviceAddress,
  /** Former depositories: deposits there are still filled and attested. */
  additionalDepositories: z.array(serviceAddress).optional(),
  contracts: z.strictObject({
    router: serviceAddress,
    approvalProxy: serviceAddress,
    serviceReceiver: serviceAddress,
    multicall3: serviceAddress,
    permit2: serviceAddress.optional(),
    depositAddressFactory: serviceAddress.optional(),
    formerContracts: z.array(serviceAddress).optional(),
  }),
  /** Absent: nothing is swapped on this chain. */
  liquidity: liquidity.optional(),
  confirmationTiers,
  maxUnconfirmedUsd: decimalText(18).optional(),
  finalityBlocks: z.int().min(1).max(100_000),
  fees: z.strictObject({
    ...feeFields,
    minPriorityFeeGwei: decimalText(9),
    maxFeePerGasGwei: decimalText(9),
    gasCountsData: z.boolean().default(false),
  }),
  /** For attestations, except for `rpcQuorum`. */
  additionalData: z
    .strictObject({
      finalizationBlocks: z.int().min(0).optional(),
      finalizationTime: z.int().min(0).optional(),
      finalityReason: z.string().min(1).optional(),
      fillContracts: z.array(serviceAddress).optional(),
      isZksyncStack: z.boolean().optional(),
      /**
       * Number of endpoints that must agree on a read that decides about money. Default: more than half of
       * them.
       */
      rpcQuorum: z.int().min(1).optional(),
    })
    .optional(),
});

/** An entry that matches the schema. */
export type ChainEntry = z.infer<typeof chainEntry>;
