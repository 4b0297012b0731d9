import type { Hex32 } from "@causeway/domain";
import type { TransactionFacts } from "./transaction-facts.ts";
import { MEMO_PROGRAM, MEMO_PROGRAM_V1 } from "./programs.ts";

/** Anything that may be read as the text of an order's id. */
const LIKE_AN_ID = /(?:0x)?[0-9a-f]{64}/i;

/**
 * Whether a transaction is for one order and for no other: of all its memos exactly one holds an id, and it
 * is that text and nothing else. Pure.
 */
export function namesOrder(facts: TransactionFacts, orderId: Hex32): boolean {
  const named = memosOf(facts).filter((memo) => LIKE_AN_ID.test(memo));
  return named.length === 1 && named[0] === orderId;
}

/**
 * Texts of all memos, also of those that other programs wrote. What is no text names nothing: a memo of such
 * bytes fails, and its transaction with it.
 */
function memosOf({ instructions }: TransactionFacts): readonly string[] {
  return instructions
    .filter(({ program }) => program === MEMO_PROGRAM || program === MEMO_PROGRAM_V1)
    .map(({ data }) => new TextDecoder().decode(data));
}
