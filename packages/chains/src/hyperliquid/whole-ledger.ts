import type { Address } from "@causeway/domain";
import type { RememberedFacts } from "../evm/remembered-facts.ts";
import type { LedgerPage } from "./answers.ts";
import type { ExchangeRpc } from "./rpc.ts";

/**
 * Entries below which an answer is certain not to have been cut. The exchange documents a bound of 500 entries or blocks for one answer; it does not say which end of
 * the range is left out then, and says nothing in the answer itself.
 */
const CERTAINLY_WHOLE = 300;

/** Most questions in one go. */
const MOST_QUESTIONS = 64;

/**
 * All transfers of an account between two block times (ms, both inside), and what may be transfers, in no order; undefined when it cannot be shown that these are all. A range with so many entries that
 * its answer may have been cut is asked again in halves.
 *
 * @param told what was told before, by range, of times to which nothing is added any more: so a ledger for which one go does not suffice is read in several
 * @throws RpcFault
 */
export async function wholeLedger(
  rpc: Pick<ExchangeRpc, "ledger">,
  user: Address,
  from: bigint,
  to: bigint,
  told?: RememberedFacts<LedgerPage>,
): Promise<Omit<LedgerPage, "size"> | undefined> {
  const transfers: LedgerPage["transfers"][number][] = [];
  const unknown: LedgerPage["unknown"][number][] = [];
  const open = [{ from: from < 0n ? 0n : from, to }];
  let asked = 0;
  while (open.length > 0) {
    const range = open.pop();
    if (range === undefined || range.to < range.from) continue;
    const key = `${user} ${range.from} ${range.to}`;
    const known = told?.get(key);
    if (known === undefined && asked++ >= MOST_QUESTIONS) return undefined;
    const page = known ?? (await rpc.ledger(user, range.from, range.to));
    if (known === undefined) told?.set(key, page);
    if (page.size < CERTAINLY_WHOLE) {
      // No two ranges overlap; one hash may stand for several entries all the same.
      transfers.push(...page.transfers);
      unknown.push(...page.unknown);
      continue;
    }
    if (range.from === range.to) return undefined;
    const middle = (range.from + range.to) / 2n;
    open.push({ from: range.from, to: middle }, { from: middle + 1n, to: range.to });
  }
  return { transfers, unknown };
}
