import type { TxHash } from "@causeway/domain";
import { inconsistent, RpcFault } from "@causeway/families";
import type { DepositFact } from "@causeway/families/evm";
import { agreedOn, askAll, type Answer } from "./nodes/ask-all.ts";
import type { EndpointOrder } from "./nodes/endpoint-order.ts";
import type {
  NonEvmArrivals,
  NonEvmConnection,
  NonEvmTransaction,
  ShownTransaction,
} from "./non-evm-connection.ts";
import { electorateOf, type OutcomeQuorum } from "./non-evm-outcomes.ts";
import { byTransaction, createSecondPass, type TransactionDeposits } from "./non-evm-second-pass.ts";

const QUESTION = "deposits";
/** Transactions that are confirmed at the same time. */
const AT_ONCE = 8;
/** How long a deposit waits before it is a fault, ms. Endpoints lag behind each other for a few seconds. */
const LATE_MS = 30_000;
/** Pauses between two requests about the same waiting deposit, ms. They grow with its wait. */
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 15_000;
/** Maximum number of waiting deposits to remember. */
const MAX_REMEMBERED = 10_000;

/** A transaction that one endpoint shows, and no quorum yet. */
interface Claim {
  readonly sinceMs: number;
  /** When the others are asked again. */
  dueMs: number;
  reportedAtMs: number;
  /** A quorum of other endpoints does not have these deposits. */
  isRefuted: boolean;
}

type Verdict =
  | { readonly deposits: readonly DepositFact[] }
  | { readonly waiting: readonly DepositFact[]; readonly claim: Claim };

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
  const { quorum, onDisagreement, now } = options;
  const isTrusted = connections.length === 1 || quorum === 1;
  const electorate = electorateOf(connections, order, options);
  const claims = new Map<string, Claim>();
  /** What a quorum showed since the cursor, by what the lead shows. */
  const settled = new Map<string, readonly DepositFact[]>();

  const at = (place: number): NonEvmConnection => {
    const one = connections[place];
    if (one === undefined) throw new RangeError(`invariant violated: no endpoint ${place}`);
    return one;
  };

  const transactionAt = async (
    place: number,
    id: TxHash,
    shown?: ShownTransaction,
  ): Promise<NonEvmTransaction> => {
    try {
      return await at(place).arrivalsOf(id, shown);
    } catch (fault) {
      order.noteFault(place, fault);
      throw fault;
    }
  };

  const claimOf = (text: string): Claim => {
    const known = claims.get(text);
    if (known !== undefined) return known;
    const [oldest] = claims.keys();
    if (claims.size >= MAX_REMEMBERED && oldest !== undefined) claims.delete(oldest);
    const claim = {
      sinceMs: now(),
      dueMs: now(),
      reportedAtMs: Number.NEGATIVE_INFINITY,
      isRefuted: false,
    };
    claims.set(text, claim);
    return claim;
  };

  /** @param deposits all of one transaction */
  async function confirm(
    lead: number,
    deposits: TransactionDeposits,
    upTo: NonEvmArrivals["upTo"],
  ): Promise<Verdict> {
    const text = textOf(deposits);
    const known = settled.get(text);
    if (known !== undefined) return { deposits: known };
    const claim = claimOf(text);
    if (now() < claim.dueMs) return { waiting: deposits, claim };
    const [{ txHash, blockNumber: number, timestamp = upTo.timestamp }] = deposits;
    const answers: Answer<number, NonEvmTransaction>[] = [];
    try {
      const agreed = await askAll<number, NonEvmTransaction, readonly DepositFact[]>(electorate, {
        question: QUESTION,
        read: async (endpoint) => {
          const value: NonEvmTransaction =
            endpoint === lead
              ? { kind: "final", deposits, upTo }
              : await transactionAt(endpoint, txHash, { number, timestamp });
          answers.push({ endpoint, value });
          return value;
        },
        decide: (all) => {
          const one = agreedOn(all, quorum, finalText);
          return one?.kind === "final" ? { value: one.deposits } : undefined;
        },
        textOf: finalText,
      });
      claims.delete(text);
      settled.set(text, agreed);
      return { deposits: agreed };
    } catch (fault) {
      if (!(fault instanceof RpcFault)) throw fault;
    }
    note(claim, text, answers);
    return { waiting: deposits, claim };
  }

  function note(claim: Claim, text: string, answers: readonly Answer<number, NonEvmTransaction>[]): void {
    const waitedMs = now() - claim.sinceMs;
    claim.dueMs = now() + Math.min(MAX_RETRY_MS, Math.max(MIN_RETRY_MS, waitedMs / 2));
    const others = answers.filter(({ value }) => finalText(value) !== text);
    claim.isRefuted = others.filter(({ value }) => value.kind !== "notFinal").length >= quorum;
    if (others.length === 0 || waitedMs < LATE_MS || now() - claim.reportedAtMs < LATE_MS) return;
    claim.reportedAtMs = now();
    const showing = answers.filter(({ value }) => finalText(value) === text);
    onDisagreement(
      QUESTION,
      showing.map(({ endpoint }) => endpoint),
    );
  }

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
            .map(async (deposits) => await confirm(lead, deposits, found.upTo)),
        )),
      );
    const deposits = verdicts.flatMap((verdict) => ("deposits" in verdict ? verdict.deposits : []));
    const waiting = verdicts.filter((verdict) => "waiting" in verdict);
    if (waiting.length === 0) {
      settled.clear();
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
    textOf,
    confirm: async (place, deposits, upTo) => {
      const verdict = await confirm(place, deposits, upTo);
      return "deposits" in verdict ? verdict.deposits : undefined;
    },
    onHidden: (place) => onDisagreement(QUESTION, [place]),
  });

  return {
    arrivals: async (cursor) =>
      await order.ask(async (place) => {
        const found = await at(place).arrivals(cursor);
        order.noteRead(place, found.upTo.number);
        // What was read counts; the next reading asks another endpoint.
        if (found.fault !== undefined) order.noteFault(place, found.fault);
        if (isTrusted) return found;
        return await secondPass.complete(place, cursor, await confirmed(place, cursor, found));
      }),
    arrivalsOf: async (id) => {
      if (isTrusted) return await order.ask(async (place) => await at(place).arrivalsOf(id));
      return await askAll<number, NonEvmTransaction, NonEvmTransaction>(electorate, {
        question: QUESTION,
        read: async (place) => await transactionAt(place, id),
        decide: (answers, isComplete) => {
          const agreed = agreedOn(answers, quorum, finalText);
          if (agreed !== undefined) return { value: agreed };
          if (!isComplete) return undefined;
          return { value: { kind: answers.some(({ value }) => isShown(value)) ? "notFinal" : "absent" } };
        },
        textOf: finalText,
      });
    },
  };
}

/** Nothing may count as read from the oldest waiting deposit on. */
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

function isShown({ kind }: NonEvmTransaction): boolean {
  return kind !== "absent";
}

/** Only final transactions contradict each other: any other answer may change. */
function finalText(transaction: NonEvmTransaction): string | undefined {
  return transaction.kind === "final" ? textOf(transaction.deposits) : undefined;
}

/** Equal for equal deposits. With a nonce, the id and the depositor come from the hub. */
function textOf(deposits: readonly DepositFact[]): string {
  return deposits
    .map((one) => {
      const { txHash, ordinal, logIndex, blockNumber, blockHash, timestamp, sender } = one;
      const { currency, amount, depository, nonce, id, depositor } = one;
      const order = nonce === undefined ? [id, depositor] : [nonce];
      const place = [txHash, ordinal, logIndex, blockNumber, blockHash, timestamp];
      return [...place, sender, currency, amount, depository, ...order].join(" ");
    })
    .join("\n");
}

function nameOf([first]: readonly DepositFact[]): string {
  return `the deposit of transaction ${first?.txHash ?? ""}`;
}
