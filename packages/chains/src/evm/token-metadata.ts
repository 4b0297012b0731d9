import type { Address, Hex } from "@causeway/domain";
import { cleanText } from "@causeway/domain";
import { balanceCall, type SubCall } from "./multicall.ts";

/** What an ERC-20 token reports about itself, sanitized for display. Not verified. */
export interface TokenMetadata {
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
}

/** No real token has more decimals, and amounts with more could not be formatted or valued in USD. */
export const MAX_DECIMALS = 36;
const MAX_SYMBOL_LENGTH = 32;
const MAX_NAME_LENGTH = 128;
const MAX_TEXT_BYTES = 1_024;

const WORD = 32;

/**
 * The calls whose results {@link tokenMetadataOf} reads, in order: `decimals()`, `balanceOf(token)`,
 * `symbol()`, `name()`.
 */
export function tokenMetadataCalls(token: Address): readonly SubCall[] {
  return [
    { target: token, data: "0x313ce567" },
    balanceCall(token, token),
    { target: token, data: "0x95d89b41" },
    { target: token, data: "0x06fdde03" },
  ];
}

/**
 * Reads the results of {@link tokenMetadataCalls}; undefined for a failed call. A contract without balances
 * or plausible decimals is not a token; one without a symbol is named by its address. Pure.
 */
export function tokenMetadataOf(
  token: Address,
  [decimalsAnswer, balanceAnswer, symbolAnswer, nameAnswer]: readonly (Hex | undefined)[],
): TokenMetadata | undefined {
  const decimals = wordIn(decimalsAnswer);
  if (decimals === undefined || decimals > BigInt(MAX_DECIMALS)) return undefined;
  // Price feeds and other contracts have decimals too.
  if (wordIn(balanceAnswer) === undefined) return undefined;
  const symbol = displayText(symbolAnswer, MAX_SYMBOL_LENGTH) || `${token.slice(0, 6)}…${token.slice(-4)}`;
  return {
    symbol,
    name: displayText(nameAnswer, MAX_NAME_LENGTH) || symbol,
    decimals: Number(decimals),
  };
}

/** The first word of the data; undefined if the data is shorter. */
function wordIn(answer: Hex | undefined): bigint | undefined {
  return answer === undefined || answer.length < 2 + 2 * WORD
    ? undefined
    : BigInt(answer.slice(0, 2 + 2 * WORD));
}

/** The data as text, without replacement characters for invalid bytes. */
function displayText(answer: Hex | undefined, maxLength: number): string {
  return cleanText(textIn(answer).replaceAll("\uFFFD", ""), maxLength);
}

/** An ABI string or, from the oldest tokens, 32 bytes padded with zeros; empty if it is neither. */
function textIn(answer: Hex | undefined): string {
  if (answer === undefined) return "";
  const bytes = Buffer.from(answer.slice(2), "hex");
  if (bytes.length === WORD) {
    const end = bytes.indexOf(0);
    return bytes.subarray(0, end === -1 ? WORD : end).toString("utf8");
  }
  const start = offsetIn(bytes, 0);
  const length = start === undefined ? undefined : offsetIn(bytes, start);
  if (start === undefined || length === undefined) return "";
  // A contract may return megabytes; the rest would not be shown anyway.
  return bytes.subarray(start + WORD, start + WORD + Math.min(length, MAX_TEXT_BYTES)).toString("utf8");
}

/** The word at `at` as an offset or length within `bytes`; undefined if it is outside. */
function offsetIn(bytes: Buffer, offset: number): number | undefined {
  if (offset + WORD > bytes.length) return undefined;
  const value = BigInt(`0x${bytes.subarray(offset, offset + WORD).toString("hex")}`);
  return value > BigInt(bytes.length) ? undefined : Number(value);
}
