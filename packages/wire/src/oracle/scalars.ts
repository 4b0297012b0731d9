import { z } from "zod";
import { message } from "../message.ts";
import { address, flag, hash32, hexData } from "../scalars.ts";

const UINT32_MAX = 0xffff_ffff;
const UINT256_MAX = 2n ** 256n - 1n;
const AMOUNT_FORMAT = "must be a string of decimal digits without leading zeros (base units)";

/** Name of a chain of the oracle's configuration, e.g. `base`; never a number. */
export const chainName = z
  .string(message("must be the name of a chain"))
  .min(1, "must not be empty")
  .max(64, "must have at most 64 characters")
  .describe("Name of a chain, such as `base`; see `GET /chains/v1`.");

/** An amount in its only accepted format: signed data must not depend on how a caller wrote it. */
export const canonicalAmount = z
  .string(message(AMOUNT_FORMAT))
  .regex(/^(0|[1-9]\d{0,77})$/, { error: AMOUNT_FORMAT, abort: true })
  .refine((digits) => digits.length < 78 || BigInt(digits) <= UINT256_MAX, "must be below 2^256");

/** A transaction id in its family's format, which the use case checks. */
export const transactionId = z
  .string(message("must be a string"))
  .min(1, "must not be empty")
  .max(128, "must have at most 128 characters")
  .describe("Transaction id in the format of the chain family (EVM: `0x` and 64 hex digits).");

/** An index or any other uint32. */
export const uint32 = z
  .int(message("must be an integer"))
  .min(0, "must not be negative")
  .max(UINT32_MAX, "must be below 2^32");

export const unixSeconds32 = uint32.describe("Unix seconds.");

/** 65 bytes r, s, v. */
export const signature65 = z
  .string(message("must be 0x followed by 130 hex digits"))
  .regex(/^0x[0-9a-fA-F]{130}$/, "must be 0x followed by 130 hex digits");

export const evmAccount = z
  .string(message("must be 0x followed by 40 hex digits"))
  .regex(/^0x[0-9a-fA-F]{40}$/, "must be 0x followed by 40 hex digits");

/** Options of every attestation request. */
export const peerOptions = {
  requestPeerSignatures: flag
    .optional()
    .describe("Also request signatures from the configured peers and combine them."),
  requireThreshold: flag
    .optional()
    .describe("Return 409 instead of fewer signatures than this oracle's threshold."),
};

export { address, hash32, hexData };
