import { inconsistent } from "@causeway/families";
import type { DepositFact } from "@causeway/families/evm";
import type { EndpointOrder } from "./nodes/endpoint-order.ts";
import type { NonEvmArrivals, NonEvmConnection } from "./non-evm-connection.ts";
import {
  byTransaction,
  createDepositQuorum,
  LATE_MS,
  QUESTION,
  depositsKey,
  type Verdict,
} from "./non-evm-deposit-quorum.ts";
import type { OutcomeQuorum } from "./non-evm-outcomes.ts";
import { createReach } from "./non-evm-reach.ts";
import { createSecondPass } from "./non-evm-second-pass.ts";

/** Maximum transactions that are confirmed concurrently. */
const MAX_CONCURRENT = 8;

/**
 * Deposits on which a quorum of endpoints agrees. The lead finds them, and each of their transactions is then
 * requested from the other endpoints. The cursor stays until a quorum shows the transaction. A second pass
 * finds deposits that the lead hides.
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

  const connectionAt = (index: number): NonEvmConnection => {
    const connection = connections[index];
    if (connection === undefined) throw new RangeError(`invariant violated: no endpoint ${index}`);
    return connection;
  };

  async function confirmArrivals(
    lead: number,
    cursor: string | undefined,
    arrivals: NonEvmArrivals,
  ): Promise<NonEvmArrivals> {
    const transactions = byTransaction(arrivals.deposits);
    const verdicts: Verdict[] = [];
    for (let start = 0; start < transactions.length; start += MAX_CONCURRENT)
      verdicts.push(
        ...(await Promise.all(
          transactions
            .slice(start, start + MAX_CONCURRENT)
            .map(async (deposits) => await shared.confirm(lead, deposits, arrivals.upTo)),
        )),
      );
    const deposits = verdicts.flatMap((verdict) => ("deposits" in verdict ? verdict.deposits : []));
    const waiting = verdicts.filter((verdict) => "waiting" in verdict);
    if (waiting.length === 0) {
      shared.forgetConfirmed();
      return { ...arrivals, deposits };
    }
    const late = waiting.filter(({ claim }) => now() - claim.sinceMs >= LATE_MS);
    const refuted = late.find(({ claim }) => claim.isRefuted);
    // The fault makes another endpoint the lead, which reads from the same cursor.
    if (refuted !== undefined)
      throw inconsistent(QUESTION, `${nameOf(refuted.waiting)} is not shown by a quorum of other endpoints`);
    const resumeCursor = cursor ?? arrivals.startedAt;
    if (resumeCursor === undefined) throw inconsistent(QUESTION, "a deposit waits for a quorum of endpoints");
    const [first] = late;
    const fault =
      arrivals.fault ??
      (first && inconsistent(QUESTION, `${nameOf(first.waiting)} waits for a quorum of endpoints`));
    return {
      deposits,
      cursor: resumeCursor,
      ...beforeOldest(
        arrivals,
        waiting.flatMap((verdict) => verdict.waiting),
      ),
      ...(fault !== undefined && { fault }),
    };
  }

  const secondPass = createSecondPass(connections, {
    order,
    now,
    epochMs,
    depositsKey,
    confirm: shared.confirm,
    hasReached: reach.hasReached,
    onHidden: (index) => onDisagreement(QUESTION, [index]),
  });

  return {
    arrivals: async (cursor, checked) =>
      await order.run(async (index) => {
        const arrivals = await connectionAt(index).arrivals(cursor);
        if (!isTrusted) {
          const { number, timestamp } = arrivals.upTo;
          const isPlausible = await reach.isPlausible(arrivals.upTo);
          if (isPlausible === undefined && cursor !== undefined) return unknownReach(cursor, arrivals);
          if (isPlausible !== true)
            throw inconsistent(QUESTION, `no quorum of endpoints is near block ${number} at ${timestamp} s`);
        }
        order.noteRead(index, arrivals.upTo.number);
        // The transactions that were read count; the next reading uses another endpoint.
        if (arrivals.fault !== undefined) order.noteFault(index, arrivals.fault);
        if (isTrusted) return arrivals;
        return secondPass.complete(
          index,
          { cursor, checked },
          arrivals.deposits,
          await confirmArrivals(index, cursor, arrivals),
        );
      }),
    arrivalsOf: async (id) => {
      if (isTrusted) return await order.run(async (index) => await connectionAt(index).arrivalsOf(id));
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
