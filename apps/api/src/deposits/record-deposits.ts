import type { DepositFact } from "@causeway/chains";
import { judgeDeposit } from "@causeway/domain";
import type { RequestRecord } from "../db/records.port.ts";
import type { Tx } from "../db/unit-of-work.port.ts";
import { type Move, transitionAll } from "../requests/index.ts";
import { lockCurrent, findMove, type RecordingServices } from "./apply-deposit.ts";
import { type MovedDeposit, type Reading, recordOf, type Records } from "./deposit-reading.ts";
import { serviceTransactions } from "./judge-recorded.ts";
import { nextDeposits } from "./keep-too-small.ts";
import { lockRequests, storeDeposits } from "./store-deposits.ts";

/**
 * Stores deposits read from canonical blocks and applies each to the request that it names. Idempotent: a
 * deposit that is already stored in the same block changes nothing.
 */
export async function recordDeposits(
  services: RecordingServices,
  tx: Tx,
  reading: Reading,
  facts: readonly DepositFact[],
): Promise<void> {
  await actOnDeposits(services, tx, reading, await storeDeposits(tx, reading, facts));
}

/**
 * The second half of recording, after `storeDeposits`: applies each deposit to its request. In between, a
 * watcher removes orphaned deposits, so that an old deposit does not block a new one.
 *
 * Requests are independent of each other, so the first deposit of each goes in the same few statements, then
 * the second of each, and so on.
 * @param locked the requests, if they are locked and unchanged since
 */
export async function actOnDeposits(
  services: RecordingServices,
  tx: Tx,
  reading: Reading,
  moved: readonly MovedDeposit[],
  locked?: Records,
): Promise<void> {
  const facts = moved.map(({ fact }) => fact);
  const records = new Map(locked ?? (await lockRequests(tx, facts)));
  const sent = await serviceTransactions(tx, reading, moved, records);
  for (let remaining = moved; remaining.length > 0;) {
    const { tooSmall, now, later } = nextDeposits(reading, remaining, records, sent);
    // Before the transitions, which may read the deposits of their request.
    if (tooSmall.length > 0) await tx.deposits.keepTooSmall(tooSmall);
    const rows = { sent, current: await lockCurrent(tx, now, records) };
    const moves: Move[] = [];
    for (const movedDeposit of now) {
      const move = await findMove(services, tx, reading, movedDeposit, recordOf(records, movedDeposit), rows);
      if (move !== undefined) moves.push(move);
    }
    const transitions = await transitionAll(services, tx, moves);
    for (const { record } of transitions) records.set(record.terms.orderId, record);
    for (const movedDeposit of now) {
      const record = recordOf(records, movedDeposit);
      if (record?.state.name === "fillable") services.planAhead?.(record, movedDeposit.deposit);
    }
    remaining = later;
  }
}

/**
 * Replaces the orphaned deposit of a request by another matching deposit that is due for refund, if any.
 * Refunds wait for confirmations, so there usually is time.
 */
export async function replaceOrphaned(
  services: RecordingServices,
  tx: Tx,
  reading: Reading,
  record: RequestRecord,
): Promise<void> {
  const { chain } = reading;
  for (const deposit of await tx.deposits.refundsDue(record.terms.requestId, chain.id)) {
    const fact = { ...deposit, id: deposit.orderId };
    if (judgeDeposit(record.terms, { ...fact, chainId: chain.id }).kind !== "match") continue;
    const moved = { fact, deposit };
    const records = new Map([[record.terms.orderId, record]]);
    const move = await findMove(services, tx, reading, moved, record, {
      sent: await serviceTransactions(tx, reading, [moved], records),
      current: await lockCurrent(tx, [moved], records),
    });
    if (move !== undefined) await transitionAll(services, tx, [move]);
    return;
  }
}
