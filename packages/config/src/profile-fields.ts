import { hasWrongChecksum, NATIVE_CURRENCY, parseAddress, WRONG_CHECKSUM } from "@causeway/domain";
import { z } from "zod";
import { parseExactDecimal } from "./exact-decimal.ts";
import { isUrlOf } from "./kinds.ts";
import { placeholderName } from "./placeholder.ts";

// The common fields of all families. The same schema validates the file, in which a `$PLACEHOLDER` may
// replace a URL or an address, and the result after replacement, so that a disabled chain is validated too.

/**
 * A value of the given form, or a placeholder. Messages never quote the value, because a URL may contain
 * credentials.
 */
export function orPlaceholder(form: string, isValid: (text: string) => boolean): z.ZodString {
  return z
    .string()
    .refine(
      (text) => placeholderName(text) !== undefined || isValid(text),
      `must be ${form} or a $PLACEHOLDER`,
    );
}

export const httpUrl = orPlaceholder("an http(s) URL", (text) => isUrlOf(text, ["http", "https"]));
const httpUrls = z.union(
  [httpUrl, z.array(httpUrl).min(1)],
  "must be an http(s) URL, a list of them, or a $PLACEHOLDER",
);
export const wsUrl = orPlaceholder("a ws(s) URL", (text) => isUrlOf(text, ["ws", "wss"]));
const address = orPlaceholder("a 20-byte address", (text) => parseAddress(text) !== undefined);
export const serviceAddress = address
  .refine((text) => text !== NATIVE_CURRENCY, "must not be the zero address")
  .refine((text) => !hasWrongChecksum(text), WRONG_CHECKSUM);

const name = z.string().regex(/^[a-z][a-z0-9-]*$/, "must contain only lowercase letters, digits and dashes");
const chainId = z.int().min(1);
const bps = z.int().min(0).max(10_000);
const integerText = z.string().regex(/^\d{1,78}$/, "must be a decimal integer in a string");

export function decimalText(decimals: number): z.ZodString {
  return z
    .string()
    .refine(
      (text) => parseExactDecimal(text, decimals) !== undefined,
      `must be a decimal number in a string with at most ${decimals} decimal places`,
    );
}

/** Fields of a currency of any family, except its address. */
export const currencyFields = {
  /** Identical for an asset on every chain. */
  id: name,
  symbol: z.string().min(1),
  name: z.string().min(1),
  decimals: z.int().min(0).max(36),
  class: z.enum(["stable", "major", "minor"]),
  priceId: z.string().min(1),
  supportsBridging: z.boolean().default(true),
  logoUri: z.url().optional(),
  verified: z.boolean().default(true),
  /** Maximum amount of one fill, base units. */
  maxFillAmount: integerText.optional(),
};

/** Fees of a chain of any family. */
export const feeFields = {
  flatUsd: decimalText(18),
  depositBps: bps,
  withdrawalBps: bps,
  gasMarginBps: bps,
};

/** Fields of a chain of any family. */
export const profileFields = {
  /** The chain's name in order data and attestations. */
  id: name,
  chainId,
  displayName: z.string().min(1),
  /** false: the entry is validated, but not used. */
  enabled: z.boolean().default(true),
  /** true: an unset placeholder prevents the start instead of disabling the chain. */
  required: z.boolean().default(false),
  /** EVM chains use every URL of a list; for other chains, the API uses the first and the oracle all. */
  httpRpcUrl: httpUrls,
  /** Shown to clients; must not contain credentials. */
  publicRpcUrl: httpUrl,
  publicWsRpcUrl: wsUrl.optional(),
  /** Empty: none. */
  explorerUrl: z.union([z.literal(""), z.httpUrl()], "must be an http(s) URL or empty"),
  explorerName: z.string(),
  iconUrl: z.union([z.literal(""), z.url()], "must be a URL or empty"),
  baseChainId: chainId.optional(),
  tags: z.array(z.string().min(1)).default([]),
  depositEnabled: z.boolean().default(true),
  /** Set during an incident: no new quotes, and requests in progress continue. */
  disabled: z.boolean().default(false),
  /** Base units of the native currency; "0" = no cap. */
  partialDisableLimit: integerText.default("0"),
  surgeEnabled: z.boolean().default(false),
  native: z.strictObject(currencyFields),
  blockTimeSeconds: z.number().positive().max(3600),
  /** For attestations: id of the chain on the hub, if it differs from the chain id. */
  hubChainId: integerText.optional(),
};
