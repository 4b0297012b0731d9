import { inconsistent } from "@causeway/families";
import type { DepositFact } from "@causeway/families/evm";
import type { EndpointOrder } from "./nodes/endpoint-order.ts";
import type { NonEvmArrivals, NonEvmConnection } from "./non-evm-connection.ts";
import {
  byTransaction,
  createDepositQuorum,
  LATE_MS,
  QUESTION,
  textOf,
  type Verdict,
} from "./non-evm-deposit-quorum.ts";
import type { OutcomeQuorum } from "./non-evm-outcomes.ts";
import { createReach } from "./non-evm-reach.ts";
import { createSecondPass } from "./non-evm-second-pass.ts";

/** Transactions that are confirmed at the same time. */
const AT_ONCE = 8;

/**
 * Deposits on which a quorum of endpoints agrees. The lead finds them; each of its transactions is then
 * requested from the others. Until a quorum shows it, the cursor stays. A second pass finds what the lead
 * hides.
 */
export function createSharedArrivals(
  connections: readonly NonEvmConnection[],
  order: EndpointOrder,
  options: OutcomeQuorum,
): Pick<NonEvmConnection, "arrivals" | "arrivalsOf"> {
  const { quorum, onDisagreement, now, epochMs = Date.now } = options;
  const isTrusted = connections.length === 1 || quorum === 1;
  const shared = createDepositQuorum(connections, order, options);
  const reach = createReach(connections, order, quorum);

  const at = (place: number): NonEvmConnection => {
    const one = connections[place];
    if (one === undefined) throw new RangeError(`invariant violated: no endpoint ${place}`);
    return one;
  };

  async function confirmed(
    lead: number,
    cursor: string | undefined,
    found: NonEvmArrivals,
  ): Promise<NonEvmArrivals> {
    const transactions = byTransaction(found.deposits);
    const verdicts: Verdict[] = [];
    for (let from = 0; from < transactions.length; from += AT_ONCE)
      verdicts.push(
        ...(await Promise.all(
          transactions
            .slice(from, from + AT_ONCE)
            .map(async (deposits) => await shared.confirm(lead, deposits, found.upTo)),
        )),
      );
    const deposits = verdicts.flatMap((verdict) => ("deposits" in verdict ? verdict.deposits : []));
    const waiting = verdicts.filter((verdict) => "waiting" in verdict);
    if (waiting.length === 0) {
      shared.forgetConfirmed();
      return { ...found, deposits };
    }
    const late = waiting.filter(({ claim }) => now() - claim.sinceMs >= LATE_MS);
    const refuted = late.find(({ claim }) => claim.isRefuted);
    // Another endpoint leads, and reads from the same cursor.
    if (refuted !== undefined)
      throw inconsistent(QUESTION, `${nameOf(refuted.waiting)} is not shown by a quorum of other endpoints`);
    const held = cursor ?? found.startedAt;
    if (held === undefined) throw inconsistent(QUESTION, "a deposit waits for a quorum of endpoints");
    const [first] = late;
    const fault =
      found.fault ??
      (first && inconsistent(QUESTION, `${nameOf(first.waiting)} waits for a quorum of endpoints`));
    return {
      deposits,
      cursor: held,
      ...beforeOldest(
        found,
        waiting.flatMap((one) => one.waiting),
      ),
      ...(fault !== undefined && { fault }),
    };
  }

  const secondPass = createSecondPass(connections, {
    order,
    now,
    epochMs,
    textOf,
    confirm: shared.confirm,
    hasReached: reach.hasReached,
    onHidden: (place) => onDisagreement(QUESTION, [place]),
  });

  return {
    arrivals: async (cursor, checked) =>
      await order.ask(async (place) => {
        const found = await at(place).arrivals(cursor);
        if (!isTrusted) {
          const { number, timestamp } = found.upTo;
          const isPlausible = await reach.isPlausible(found.upTo);
          if (isPlausible === undefined && cursor !== undefined && found.cursor !== cursor)
            return unknownReach(cursor, found);
          if (isPlausible === false || (isPlausible === undefined && cursor === undefined))
            throw inconsistent(QUESTION, `no quorum of endpoints is near block ${number} at ${timestamp} s`);
        }
        order.noteRead(place, found.upTo.number);
        // The transactions that were read count; the next reading uses another endpoint.
        if (found.fault !== undefined) order.noteFault(place, found.fault);
        if (isTrusted) return found;
        return secondPass.complete(
          place,
          { cursor, checked },
          found.deposits,
          await confirmed(place, cursor, found),
        );
      }),
    arrivalsOf: async (id) => {
      if (isTrusted) return await order.ask(async (place) => await at(place).arrivalsOf(id));
      return await shared.transaction(id);
    },
  };
}

/**
 * Returns nothing as read, because it is unknown whether the cursor is past the chain's newest block. Such a
 * cursor would skip deposits.
 */
function unknownReach(cursor: string, { upTo }: NonEvmArrivals): NonEvmArrivals {
  const fault = inconsistent(QUESTION, "fewer endpoints than the quorum show how far the chain is");
  return { deposits: [], cursor, upTo, fault };
}

/** Limits what counts as read to the time before the oldest waiting deposit. */
function beforeOldest(
  { upTo, unreadSince }: NonEvmArrivals,
  waiting: readonly DepositFact[],
): Pick<NonEvmArrivals, "upTo" | "unreadSince"> {
  const since = waiting.reduce(
    (min, { timestamp = 1n }) => (timestamp < min ? timestamp : min),
    upTo.timestamp,
  );
  const first = waiting.reduce(
    (min, { blockNumber }) => (blockNumber < min ? blockNumber : min),
    upTo.number,
  );
  return {
    upTo: { ...upTo, number: first > 0n ? first - 1n : 0n, timestamp: since > 0n ? since - 1n : 0n },
    unreadSince: unreadSince === undefined || since < unreadSince ? since : unreadSince,
  };
}

function nameOf([first]: readonly DepositFact[]): string {
  return `the deposit of transaction ${first?.txHash ?? ""}`;
}
