import type { Hex32 } from "@causeway/domain";
import type { TransactionFacts } from "./transaction-facts.ts";
import { MEMO_PROGRAM, MEMO_PROGRAM_V1 } from "./programs.ts";

/** Anything that may be an order id. */
const POSSIBLE_ID = /(?:0x)?[0-9a-f]{64}/i;

/**
 * Whether a transaction is for this order only: exactly one of its memos contains an id, and that memo is the
 * order id and nothing else. Pure.
 */
export function namesOrder(facts: TransactionFacts, orderId: Hex32): boolean {
  const idMemos = memosOf(facts).filter((memo) => POSSIBLE_ID.test(memo));
  return idMemos.length === 1 && idMemos[0] === orderId;
}

/**
 * Texts of all memos, including memos of inner instructions. Bytes that are not text can be ignored: such a
 * memo makes its transaction fail.
 */
function memosOf({ instructions }: TransactionFacts): readonly string[] {
  return instructions
    .filter(({ program }) => program === MEMO_PROGRAM || program === MEMO_PROGRAM_V1)
    .map(({ data }) => new TextDecoder().decode(data));
}
