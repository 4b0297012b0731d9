import { decodeAbiParameters, decodeErrorResult } from "viem";
import type { Hex } from "../ids/hex.ts";
import { cleanHex, cleanText } from "./clean-text.ts";
import type { KnownAbis } from "./known-abis.ts";
import type { KnownError } from "./known-contract.ts";
import { labelOfName, labelOfText, sentenceOfName } from "./labels.ts";
import { panicOf } from "./panics.ts";
import type { FailureRevert } from "./simulation-failure.ts";

const ERROR_STRING = "0x08c379a0";
const PANIC = "0x4e487b71";
/** Maximum length of revert data that is decoded, bytes; longer data is shown truncated. */
const MAX_DECODED_BYTES = 16_384;
const MAX_RAW_BYTES = 4_096;
const MAX_ARGS = 16;

export const EMPTY_REVERT: FailureRevert = {
  type: "empty",
  label: "EMPTY_REVERT",
  message: "Reverted without a reason",
};

/**
 * Decodes revert data. Data that only starts like a known error counts as unknown: contracts may revert with
 * anything.
 */
export function decodeRevert(data: Hex, abis: KnownAbis): FailureRevert {
  if (data === "0x") return EMPTY_REVERT;
  if (data.length < 10) {
    return {
      type: "unknownCustomError",
      label: "UNKNOWN_REVERT_DATA",
      message: "Unknown revert data",
      rawArgsHex: data,
    };
  }
  const selector = data.slice(0, 10).toLowerCase() as Hex;
  if (data.length <= 2 + MAX_DECODED_BYTES * 2) {
    const standard =
      selector === ERROR_STRING ? errorString(data) : selector === PANIC ? panic(data) : undefined;
    if (standard !== undefined) return standard;
    for (const error of abis.errorsOf(selector)) {
      const decoded = customError(error, selector, data);
      if (decoded !== undefined) return decoded;
    }
  }
  return {
    type: "unknownCustomError",
    label: `UNKNOWN_CUSTOM_ERROR_${selector}`,
    message: `Unknown custom error ${selector}`,
    selector,
    ...(data.length > 10 && { rawArgsHex: cleanHex(`0x${data.slice(10)}`, MAX_RAW_BYTES) }),
  };
}

function errorString(data: Hex): FailureRevert | undefined {
  const text = attempt(() => decodeAbiParameters([{ type: "string" }], `0x${data.slice(10)}`)[0]);
  if (text === undefined) return undefined;
  const message = cleanText(text);
  return {
    type: "errorString",
    label: labelOfText(message) ?? "REVERTED",
    message: message === "" ? "Reverted with an empty text" : message,
    selector: ERROR_STRING,
  };
}

function panic(data: Hex): FailureRevert | undefined {
  // The compiler always writes exactly one word.
  if (data.length !== 10 + 64) return undefined;
  const code = BigInt(`0x${data.slice(10)}`);
  if (code > 0xffn) return undefined;
  return {
    type: "panic",
    ...panicOf(code),
    selector: PANIC,
    args: { code: `0x${code.toString(16).padStart(2, "0")}` },
  };
}

function customError(error: KnownError, selector: Hex, data: Hex): FailureRevert | undefined {
  const values = attempt(() => decodeErrorResult({ abi: [error], data }).args ?? []);
  if (values === undefined) return undefined;
  const { name, inputs } = error;
  const args: Record<string, string> = {};
  for (const [index, input] of inputs.slice(0, MAX_ARGS).entries()) {
    args[input.name === undefined || input.name === "" ? `arg${index}` : input.name] = textOf(values[index]);
  }
  const reason = reasonOf(name, args);
  return {
    type: "customError",
    label: (reason === undefined ? undefined : labelOfText(reason)) ?? labelOfName(name) ?? "CUSTOM_ERROR",
    message: reason ?? sentenceOfName(name),
    selector,
    name,
    ...(inputs.length > 0 && { args }),
  };
}

/**
 * The text of an error that only wraps one: the entry point's reason (`AA24 signature error`) says more than
 * its name `FailedOp`.
 */
function reasonOf(name: string, args: Readonly<Record<string, string>>): string | undefined {
  const reason = name === "FailedOp" || name === "FailedOpWithRevert" ? args["reason"] : undefined;
  return reason === "" ? undefined : reason;
}

function textOf(value: unknown): string {
  if (typeof value === "string")
    return value.startsWith("0x") ? cleanHex(value.toLowerCase()) : cleanText(value);
  if (typeof value === "bigint" || typeof value === "number" || typeof value === "boolean")
    return value.toString();
  const json = JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "bigint" ? inner.toString() : inner,
  );
  return cleanText(json, 1_024);
}

/** The result of `decode`; undefined if it throws, as decoders do for malformed bytes. */
function attempt<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
