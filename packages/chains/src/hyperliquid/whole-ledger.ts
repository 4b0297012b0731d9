import type { Address } from "@causeway/domain";
import type { LedgerTransfer } from "./answers.ts";
import type { ExchangeRpc } from "./rpc.ts";

/**
 * Entries below which an answer is certain not to have been cut. The exchange documents a bound of 500 entries or blocks for one answer; it does not say which end of
 * the range is left out then, and says nothing in the answer itself.
 */
const CERTAINLY_WHOLE = 300;

/** Most questions for one range. */
const MOST_QUESTIONS = 64;

/**
 * All transfers of an account between two block times (ms, both inside), in no order; undefined when it cannot be shown that these are all. A range with so many entries that
 * its answer may have been cut is asked again in halves.
 * @throws RpcFault
 */
export async function wholeLedger(
  rpc: Pick<ExchangeRpc, "ledger">,
  user: Address,
  from: bigint,
  to: bigint,
): Promise<readonly LedgerTransfer[] | undefined> {
  const transfers: LedgerTransfer[] = [];
  const open = [{ from: from < 0n ? 0n : from, to }];
  for (let asked = 0; open.length > 0; asked++) {
    const range = open.pop();
    if (range === undefined || range.to < range.from) continue;
    if (asked >= MOST_QUESTIONS) return undefined;
    const page = await rpc.ledger(user, range.from, range.to);
    if (page.size < CERTAINLY_WHOLE) {
      // No two ranges overlap; one hash may stand for several entries all the same.
      transfers.push(...page.transfers);
      continue;
    }
    if (range.from === range.to) return undefined;
    const middle = (range.from + range.to) / 2n;
    open.push({ from: range.from, to: middle }, { from: middle + 1n, to: range.to });
  }
  return transfers;
}
