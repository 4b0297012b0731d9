import { NATIVE_CURRENCY, parseAddress } from "@causeway/domain";
import { z } from "zod";
import { parseExactDecimal } from "./exact-decimal.ts";
import { isUrlOf } from "./kinds.ts";
import { placeholderName } from "./placeholder.ts";

// The file's own schema. The same schema reads the text of the file, where a `$PLACEHOLDER` may stand for a
// URL or an address, and the result after replacement, so that a chain that is switched off is checked too.

/** A value of the given form, or a placeholder for one. Messages never quote the value: a URL may hold credentials. */
function orPlaceholder(form: string, isValid: (text: string) => boolean) {
  return z
    .string()
    .refine(
      (text) => placeholderName(text) !== undefined || isValid(text),
      `must be ${form} or a $PLACEHOLDER`,
    );
}

const httpUrl = orPlaceholder("an http(s) URL", (text) => isUrlOf(text, ["http", "https"]));
const httpUrls = z.union(
  [httpUrl, z.array(httpUrl).min(1)],
  "must be an http(s) URL, a list of them, or a $PLACEHOLDER",
);
const wsUrl = orPlaceholder("a ws(s) URL", (text) => isUrlOf(text, ["ws", "wss"]));
const address = orPlaceholder("a 20-byte address", (text) => parseAddress(text) !== undefined);
const serviceAddress = address.refine((text) => text !== NATIVE_CURRENCY, "must not be the zero address");

const name = z.string().regex(/^[a-z][a-z0-9-]*$/, "must be lower-case letters, digits and dashes");
const chainId = z.int().min(1);
const bps = z.int().min(0).max(10_000);
const integerText = z.string().regex(/^\d{1,78}$/, "must be a decimal integer as text");

function decimalText(decimals: number) {
  return z
    .string()
    .refine(
      (text) => parseExactDecimal(text, decimals) !== undefined,
      `must be a decimal number as text, at most ${decimals} digits after the point`,
    );
}

const currencyFields = {
  /** Same for the same asset on every chain. */
  id: name,
  symbol: z.string().min(1),
  name: z.string().min(1),
  decimals: z.int().min(0).max(36),
  class: z.enum(["stable", "major", "minor"]),
  priceId: z.string().min(1),
  supportsBridging: z.boolean().default(true),
  logoUri: z.url().optional(),
  verified: z.boolean().default(true),
  /** Largest amount of one fill, smallest units. */
  maxFillAmount: integerText.optional(),
};

const nativeCurrency = z.strictObject(currencyFields);

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
      const last = index === tiers.length - 1;
      const previous = tiers[index - 1];
      const bound = usdOf(tier.belowUsd);
      const previousBound = usdOf(previous?.belowUsd);
      const problem = (message: string) => context.addIssue({ code: "custom", path: [index], message });
      if (last && tier.belowUsd !== undefined)
        problem("the last tier must have no belowUsd: it is for any value");
      if (!last && tier.belowUsd === undefined) problem("only the last tier may lack belowUsd");
      if (bound !== undefined && previousBound !== undefined && bound <= previousBound)
        problem("tiers must ascend: belowUsd is not above that of the tier before");
      if (previous !== undefined && tier.confirmations < previous.confirmations)
        problem("a larger deposit must not wait for fewer confirmations than a smaller one");
    }
  });

function usdOf(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : parseExactDecimal(text, 18);
}

const sourceFields = { name: z.string().min(1), factory: serviceAddress };

/** Hundredths of a bp; a pool keeps less than all. */
const feeTiers = z
  .array(z.int().min(1).max(999_999))
  .min(1)
  .refine(
    (tiers) => tiers.every((tier, index) => index === 0 || tier > (tiers[index - 1] ?? 0)),
    "must ascend",
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
    /** `UniswapV2Router02`. Absent: the pairs tell prices, but nothing is traded in them. */
    router: serviceAddress.optional(),
    /** bps of the input. */
    feeBps: z.int().min(0).max(9_999),
  }),
]);

const liquidity = z.strictObject({
  /** Absent: native money is not exchanged. */
  wrappedNative: serviceAddress.optional(),
  /** Tokens that paths may lead through, the likeliest first; they need not be in `tokens`. */
  connectors: z.array(serviceAddress).default([]),
  /** None: native money is wrapped and unwrapped, and nothing else. */
  sources: z.array(poolSource).default([]),
});

/** One element of `configs/chains.<ENVIRONMENT>.json`. Both services read the same file; each ignores what is only for the other. */
export const chainEntry = z.strictObject({
  /** Name used in order data and attestations. */
  id: name,
  chainId,
  vmType: z.literal("ethereum-vm"),
  displayName: z.string().min(1),
  /** false: the entry is checked, but not used. */
  enabled: z.boolean().default(true),
  /** true: an unset placeholder stops the start instead of switching the chain off. */
  required: z.boolean().default(false),
  /** Of a list the API uses the first; the oracle asks them all. */
  httpRpcUrl: httpUrls,
  wsRpcUrl: wsUrl.optional(),
  /** Shown to clients, so never one with credentials. */
  publicRpcUrl: httpUrl,
  publicWsRpcUrl: wsUrl.optional(),
  /** Empty: there is none. */
  explorerUrl: z.union([z.literal(""), z.httpUrl()], "must be an http(s) URL or empty"),
  explorerName: z.string(),
  iconUrl: z.union([z.literal(""), z.url()], "must be a URL or empty"),
  baseChainId: chainId.optional(),
  tags: z.array(z.string().min(1)).default([]),
  depositEnabled: z.boolean().default(true),
  /** Set during an incident: no new quotes; requests under way go on. */
  disabled: z.boolean().default(false),
  /** Smallest units of the native currency; "0" = no cap. */
  partialDisableLimit: integerText.default("0"),
  surgeEnabled: z.boolean().default(false),
  native: nativeCurrency,
  tokens: z.array(token),
  depository: serviceAddress,
  contracts: z.strictObject({
    router: serviceAddress,
    approvalProxy: serviceAddress,
    serviceReceiver: serviceAddress,
    multicall3: serviceAddress,
    permit2: serviceAddress.optional(),
    depositAddressFactory: serviceAddress.optional(),
  }),
  /** Absent: nothing is exchanged on this chain. */
  liquidity: liquidity.optional(),
  confirmationTiers,
  maxUnconfirmedUsd: decimalText(18).optional(),
  finalityBlocks: z.int().min(1).max(100_000),
  blockTimeSeconds: z.number().positive().max(3600),
  fees: z.strictObject({
    flatUsd: decimalText(18),
    depositBps: bps,
    withdrawalBps: bps,
    gasMarginBps: bps,
    minPriorityFeeGwei: decimalText(9),
    maxFeePerGasGwei: decimalText(9),
    gasCountsData: z.boolean().default(false),
  }),
  /** For attestations: id of the chain on the hub, when it is not the chain id. */
  hubChainId: integerText.optional(),
  /** For attestations only. */
  additionalData: z
    .strictObject({
      finalizationBlocks: z.int().min(0).optional(),
      finalizationTime: z.int().min(0).optional(),
      finalityReason: z.string().min(1).optional(),
      fillContracts: z.array(serviceAddress).optional(),
      isZksyncStack: z.boolean().optional(),
      rpcQuorum: z.int().min(1).optional(),
    })
    .optional(),
});

/** An entry whose form is right. */
export type ChainEntry = z.infer<typeof chainEntry>;
