import { getBase58Encoder } from "@solana/kit";
import { toHex, type Hex } from "@causeway/domain";
import type { BlockRef } from "@causeway/families/evm";
import { garbage, NodeRefusal } from "@causeway/families";
import { fieldsOf, readContextSlot, wholeNumber } from "@causeway/families/solana";

/** Parses node responses that paying needs, without guessing. Pure. */

/** The recent blockhash and the limits of transactions that use it. */
export interface Lifetime {
  /** base58. */
  readonly blockhash: string;
  /** Height of the last block that can contain them. */
  readonly lastHeight: bigint;
  /** A slot before which no block can contain them. */
  readonly slot: bigint;
}

export function readLifetime(value: unknown): Lifetime {
  const method = "getLatestBlockhash";
  const answer = fieldsOf(value, method);
  const { blockhash, lastValidBlockHeight } = fieldsOf(answer["value"], method);
  if (typeof blockhash !== "string") throw garbage(method, "hash is missing");
  return {
    blockhash,
    lastHeight: wholeNumber(lastValidBlockHeight, method, "lastValidBlockHeight"),
    slot: readContextSlot(answer, method),
  };
}

/** A boolean with its context. */
export function readValidity(value: unknown, method: string): boolean {
  const answer = fieldsOf(value, method)["value"];
  if (typeof answer !== "boolean") throw garbage(method, "value is not a boolean");
  return answer;
}

/** Slot and height of one state. */
export function readHeight(value: unknown): { readonly slot: bigint; readonly height: bigint } {
  const method = "getEpochInfo";
  const { absoluteSlot, blockHeight } = fieldsOf(value, method);
  return {
    slot: wholeNumber(absoluteSlot, method, "absoluteSlot"),
    height: wholeNumber(blockHeight, method, "blockHeight"),
  };
}

export function readBlockRef(value: unknown, slot: bigint): Pick<BlockRef, "number" | "hash" | "timestamp"> {
  const method = "getBlock";
  const { blockhash, blockTime } = fieldsOf(value, method);
  return {
    number: slot,
    hash: hashOf(blockhash, method),
    timestamp: wholeNumber(blockTime, method, "blockTime"),
  };
}

function hashOf(text: unknown, method: string): Hex {
  if (typeof text !== "string" || text.length > 44) throw garbage(method, "hash is missing");
  try {
    return toHex(Uint8Array.from(getBase58Encoder().encode(text)));
  } catch {
    throw garbage(method, "hash is not base58");
  }
}

/** Recent prioritization fees, in millionths of a lamport per compute unit, lowest first. */
export function readComputePrices(value: unknown): readonly bigint[] {
  const method = "getRecentPrioritizationFees";
  if (!Array.isArray(value)) throw garbage(method, "response is not a list");
  return value
    .map((entry: unknown) =>
      wholeNumber(fieldsOf(entry, method)["prioritizationFee"], method, "prioritizationFee"),
    )
    .toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

/**
 * Codes of errors about the bytes, not about the node: a failed preflight, a wrong signature, malformed
 * bytes.
 */
const ABOUT_THE_BYTES: ReadonlySet<number> = new Set([-32002, -32003, -32602]);

/**
 * What a refusal of `sendTransaction` means for the bytes.
 *
 * @throws the refusal itself if it is about the node
 */
export function judgeSendRefusal(refusal: NodeRefusal): "sent" | { readonly refused: string } {
  const { nodeCode, nodeText, nodeData } = refusal;
  const error =
    typeof nodeData === "object" && nodeData !== null && "err" in nodeData ? nodeData.err : undefined;
  if (error === "AlreadyProcessed") return "sent";
  if (!ABOUT_THE_BYTES.has(nodeCode)) throw refusal;
  return { refused: error === undefined ? nodeText : JSON.stringify(error) };
}
