import {
  CLOCK_SKEW_SECONDS,
  hasWrongChecksum,
  NATIVE_CURRENCY,
  parseAddress,
  VM_TYPES,
  WRONG_CHECKSUM,
} from "@causeway/domain";
import { z } from "zod";
import { isUrlOf } from "./kinds.ts";
import { placeholderName } from "./placeholder.ts";

// The parts of the chain file and the hub file that an oracle reads. Unknown fields are ignored, because both
// files contain settings for others; known ones are validated strictly.

/** One year, which is longer than any order waits. */
const MAX_LEAD_SECONDS = 31_536_000;

/** The year 2286. Times in milliseconds are above it. */
const MAX_UNIX_SECONDS = 9_999_999_999;

const text = z.string("must be a string").min(1, "must not be empty");
const rpcUrl = text.refine(
  (value) => placeholderName(value) !== undefined || isUrlOf(value, ["http", "https"]),
  "must be an http(s) URL or a $PLACEHOLDER",
);
const rpcUrls = z.union(
  [rpcUrl, z.array(rpcUrl).min(1)],
  "must be an http(s) URL, a list of them, or a $PLACEHOLDER",
);
const evmAddress = text
  .refine(
    (value) =>
      placeholderName(value) !== undefined || (parseAddress(value) ?? NATIVE_CURRENCY) !== NATIVE_CURRENCY,
    "must be a 20-byte address, not zero, or a $PLACEHOLDER",
  )
  .refine((value) => !hasWrongChecksum(value), WRONG_CHECKSUM);
const integerText = z.string().regex(/^(0|[1-9]\d{0,77})$/, "must be a decimal integer in a string");
const numericChainId = z.int("must be an integer").min(1);
const numberOrText = z.union([numericChainId, integerText], "must be an integer");

/** How a chain becomes final, as both files write it; see `finalityOf`. */
export const finalityFields = {
  finalizationBlocks: z.int().min(0).max(1_000_000).optional(),
  finalizationTime: z.int().min(0).max(10_000_000).optional(),
  finalityReason: z.string().min(1).optional(),
};

export const attestationChainEntry = z.object({
  id: z.string().regex(/^[a-z][a-z0-9-]*$/, "must contain only lowercase letters, digits and dashes"),
  vmType: z.enum(VM_TYPES, "must be a chain family supported by this oracle"),
  enabled: z.boolean().default(true),
  required: z.boolean().default(false),
  httpRpcUrl: rpcUrls,
  depository: text.optional(),
  additionalDepositories: z.array(text).default([]),
  chainId: numericChainId.optional(),
  hubChainId: integerText.optional(),
  /** Absent: the family's default. */
  blockTimeSeconds: z.number().positive().max(3600).optional(),
  contracts: z.object({ router: evmAddress.optional(), approvalProxy: evmAddress.optional() }).optional(),
  additionalData: z
    .object({
      ...finalityFields,
      isZksyncStack: z.boolean().default(false),
      fillContracts: z.array(text).optional(),
      /** Tron: sent with every request to a node. */
      rpcApiKey: text.optional(),
      /** Number of endpoints that must agree. Default: more than half of them. 1 accepts the first answer. */
      rpcQuorum: z.int().min(1).optional(),
      /** Bitcoin: base URL of an explorer with Esplora's REST interface. */
      esploraCompatibleApiUrl: rpcUrl.optional(),
      bitcoinNetwork: z
        .enum(
          ["mainnet", "testnet", "testnet4", "signet", "regtest"],
          "must be mainnet, testnet, testnet4, signet or regtest",
        )
        .default("mainnet"),
      /**
       * Hyperliquid: the names in its signing types, its network, and its dollar token (default: that of its
       * main network).
       */
      signingProfile: z.enum(["default", "hyperliquid"], "must be default or hyperliquid").default("default"),
      exchangeNetwork: z.enum(["Mainnet", "Testnet"], "must be Mainnet or Testnet").default("Mainnet"),
      usdcTokenId: z
        .string()
        .regex(/^0x(?!0{32}$)[0-9a-f]{32}$/, "must be 0x and 16 bytes of lowercase hex, not zero")
        .optional(),
      /** Hyperliquid: the weight that the endpoint allows each IP per minute. */
      weightPerMinute: z.int().min(1_200, "must be at least 1200").optional(),
      /** Hyperliquid and Lighter: base URL of the explorer's API. */
      explorerApiUrl: rpcUrl.optional(),
      /** Lighter: the chain id that its users sign. */
      exchangeChainId: numericChainId.optional(),
      /** Lighter: its contract on Ethereum, which identifies the network. */
      exchangeContract: evmAddress.optional(),
      /** Solana: genesis hash of the cluster in base58, which identifies it. */
      genesisHash: z
        .string()
        .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, "must be 32 bytes in base58")
        .optional(),
    })
    .prefault({}),
});

export const hubEntry = z.object({
  id: z.string().regex(/^[a-z][a-z0-9-]*$/, "must contain only lowercase letters, digits and dashes"),
  httpRpcUrl: rpcUrls,
  /** How many of several endpoints must agree in the service; oracles read from the first. */
  rpcQuorum: z.int().min(1).optional(),
  chainId: numberOrText.optional(),
  hubChainId: numberOrText.optional(),
  hubAddress: evmAddress,
  oracleAddress: evmAddress,
  oracleMultisigAddress: evmAddress.optional(),
  allocatorAddress: evmAddress.optional(),
  genericMappingAddress: evmAddress.optional(),
  domain: z.object({ name: text, version: text }).default({ name: "Oracle", version: "1" }),
  settlementKey: z.enum(["payment", "deposits"], "must be payment or deposits").default("payment"),
  fillLeadSeconds: z
    .int("must be a whole number of seconds")
    .min(
      CLOCK_SKEW_SECONDS,
      `must be at least ${CLOCK_SKEW_SECONDS}, the possible clock difference of two chains`,
    )
    .max(MAX_LEAD_SECONDS, `must be at most ${MAX_LEAD_SECONDS}`)
    .default(CLOCK_SKEW_SECONDS),
  // A string if it comes from a variable.
  depositPartsSince: z.preprocess(
    (value) => (typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value),
    z
      .int("must be a time in whole Unix seconds")
      .min(0, "must be a time in whole Unix seconds")
      .max(MAX_UNIX_SECONDS, "must be in Unix seconds, not milliseconds")
      .optional(),
  ),
  ...finalityFields,
});

export type AttestationChainEntry = z.infer<typeof attestationChainEntry>;
