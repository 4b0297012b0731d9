import { z } from "zod";
import { message } from "./message.ts";

const UINT256_MAX = 2n ** 256n - 1n;
const MAX_ADDRESS_LENGTH = 128;
const HASH_PATTERN = /^0x[0-9a-fA-F]{64}$/;

/** Any text, up to `max` characters. Postgres accepts neither NUL nor unpaired surrogates. */
export const text = (max: number): z.ZodString =>
  z
    .string(message("must be a string"))
    .max(max, `must have at most ${max} characters`)
    .refine(
      (value) => value.isWellFormed() && !value.includes("\0"),
      "must be valid Unicode without the NUL character",
    );

/**
 * An account, contract or currency of any chain family: the valid formats depend on the chain, so the use
 * case checks them.
 */
export const address = z
  .string(message("must be a string"))
  .min(1, "must not be empty")
  .max(MAX_ADDRESS_LENGTH, `must have at most ${MAX_ADDRESS_LENGTH} characters`);

/** Amount in base units: decimal digits in a string, below 2^256. */
export const amount = z
  .string(message("must be a string of decimal digits (base units)"))
  .regex(/^\d+$/, { error: "must be a string of decimal digits (base units)", abort: true })
  .refine(
    (digits) => digits.length < 78 || (digits.length === 78 && BigInt(digits) <= UINT256_MAX),
    "must be below 2^256",
  );

const WEI = "must be a whole number of wei: decimal digits, or 0x and hex digits";

/**
 * Wei in any format that clients use: decimal text, hex, or a number. The schema does not convert it;
 * `BigInt` reads each of them.
 */
export const wei = z
  .union([z.string(), z.number()], message(WEI))
  .refine(
    (value) =>
      typeof value === "number"
        ? Number.isSafeInteger(value) && value >= 0
        : /^(\d{1,78}|0x[0-9a-fA-F]{1,64})$/.test(value) && BigInt(value) <= UINT256_MAX,
    WEI,
  );

/** 32 bytes: `0x` and 64 hex digits, any case. */
export const hash32 = z
  .string(message("must be 0x followed by 64 hex digits"))
  .regex(HASH_PATTERN, "must be 0x followed by 64 hex digits");

/**
 * A transaction id of any chain family: `0x` and 64 hex digits, 64 digits without prefix (Bitcoin), or base58
 * of 64 bytes (Solana).
 */
export const transactionId = z
  .string(message("must be 0x followed by 64 hex digits"))
  .regex(
    /^((0x)?[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/,
    "must be a transaction id of its chain: 0x followed by 64 hex digits, 64 hex digits, or base58",
  );

export const hexData = z
  .string(message("must be 0x followed by an even number of hex digits"))
  .regex(/^0x([0-9a-fA-F]{2})*$/, "must be 0x followed by an even number of hex digits");

export const flag = z.boolean(message("must be true or false"));

export const chainId = z
  .int(message("must be an integer chain id"))
  .min(1, "must be a positive integer chain id");

export const count = (expected: string): z.ZodInt =>
  z.int(message(`must be a whole number of ${expected}`)).nonnegative("must not be negative");

/**
 * A whole number that clients send as a number or as digits. `what` completes "must be …". The schema does
 * not convert it; {@link wholeNumber} does.
 */
export const numberOrDigits = (expected: string, max = Number.MAX_SAFE_INTEGER): z.ZodType<number | string> =>
  z.union([z.number(), z.string()], message(`must be ${expected}`)).refine((value) => {
    const whole = wholeNumber(value);
    return whole !== undefined && whole <= max;
  }, `must be ${expected}`);

/** `value` as a non-negative safe integer; undefined if it is not one. */
export function wholeNumber(value: number | string): number | undefined {
  if (typeof value === "string" && !/^\d{1,16}$/.test(value)) return undefined;
  const whole = Number(value);
  return Number.isSafeInteger(whole) && whole >= 0 ? whole : undefined;
}

// The following scalars occur only in our own answers, so they need no error texts: a mismatch is our bug.
export const digits = z.string().regex(/^\d+$/);
export const signedDigits = z.string().regex(/^-?\d+$/);
export const decimal = z.string().regex(/^-?\d+(\.\d+)?$/);
export const evmAddress = z.string().regex(/^0x[0-9a-fA-F]{40}$/);
/**
 * An account in the format of its chain: hex on EVM chains and Hyperliquid, base58 on Solana, bech32 or
 * base58 on Bitcoin.
 */
export const accountText = z
  .string()
  .regex(/^(0x([0-9a-fA-F]{2})+|(?:bc|tb|bcrt)1[02-9ac-hj-np-z]{6,87}|[1-9A-HJ-NP-Za-km-z]{25,44})$/);
export const answerHash32 = z.string().regex(HASH_PATTERN);
export const answerHex = z.string().regex(/^0x([0-9a-fA-F]{2})*$/);
export const milliseconds = z.int().nonnegative();
