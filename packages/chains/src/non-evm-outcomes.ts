import type { TxHash } from "@causeway/domain";
import { inconsistent, RpcFault } from "@causeway/families";
import { agreedOn, queryAll, type Answer, type Electorate } from "./nodes/query-all.ts";
import type { EndpointOrder } from "./nodes/endpoint-order.ts";
import { createUnconfirmedClaims } from "./nodes/unconfirmed-claims.ts";
import type { NonEvmAttempt, NonEvmConnection, NonEvmOutcome } from "./non-evm-connection.ts";

/** Maximum number of payments whose block is remembered. */
const MAX_BLOCKS = 10_000;
/** Endpoints in these states are waited for once a quorum has answered. */
const ANSWERING: readonly string[] = ["ok", "lagging"];
const QUESTION = "outcome";

/** What a quorum of endpoints reports about payments. */
export interface SharedOutcomes {
  readonly outcome: NonEvmConnection["outcome"];
  /**
   * Checks that an earlier attempt, which does not conflict with a new one, can no longer count.
   *
   * @throws RpcFault if a quorum does not report it as dead
   */
  confirmDead(attempt: NonEvmAttempt): Promise<void>;
}

export interface OutcomeQuorum {
  /** How many endpoints must agree. */
  readonly quorum: number;
  /** Called with the indexes of endpoints that contradict the quorum or, without a quorum, each other. */
  readonly onDisagreement: (question: string, places: readonly number[]) => void;
  /** Monotonic ms. */
  readonly now: () => number;
  /** ms since epoch. Default: the system's clock. */
  readonly epochMs?: () => number;
}

/** `contradiction`: the endpoint contradicts itself. It may know the payment, so it counts as an answer. */
type Report = NonEvmOutcome | { readonly kind: "contradiction"; readonly fault: unknown };
type InBlock = Extract<NonEvmOutcome, { readonly kind: "mined" | "final" }>;
type Verdict =
  | { readonly outcome: NonEvmOutcome }
  /** `isLoneDead`: too few endpoints answer to confirm that the payment is dead. */
  | { readonly fault: unknown; readonly isLoneDead?: true };

/** The endpoints by their indexes in the configuration. */
export function electorateOf(
  connections: readonly unknown[],
  order: EndpointOrder,
  { quorum, onDisagreement }: Pick<OutcomeQuorum, "quorum" | "onDisagreement">,
): Electorate<number> {
  return {
    endpoints: connections.map((_, index) => index),
    quorum,
    isExpected: (index) => ANSWERING.includes(order.statuses()[index]?.state ?? ""),
    onLate: () => {},
    onDisagreement,
  };
}

/** An endpoint that fails counts as one that does not answer. */
export function createSharedOutcomes(
  connections: readonly NonEvmConnection[],
  order: EndpointOrder,
  { quorum, onDisagreement, now }: OutcomeQuorum,
): SharedOutcomes {
  /** The blocks in which a quorum showed payments. */
  const blocks = new Map<TxHash, bigint>();
  const running = new Map<string, Promise<Report>>();
  const claims = createUnconfirmedClaims<number>(now);
  const electorate = electorateOf(connections, order, { quorum, onDisagreement });
  /** A wrong `dead` pays twice, so one endpoint of several never decides it, not even with a quorum of 1. */
  const deadQuorum = Math.min(Math.max(quorum, 2), connections.length);

  const readOutcome = async (index: number, attempt: NonEvmAttempt): Promise<NonEvmOutcome> => {
    const connection = connections[index];
    if (connection === undefined) throw new RangeError(`invariant violated: no endpoint ${index}`);
    return await connection.outcome(attempt);
  };
  const report = async (index: number, attempt: NonEvmAttempt): Promise<Report> => {
    try {
      return await readOutcome(index, attempt);
    } catch (fault) {
      order.noteFault(index, fault);
      if (fault instanceof RpcFault && fault.kind !== "inconsistent") throw fault;
      return { kind: "contradiction", fault };
    }
  };

  /** An endpoint that has not answered yet is not queried again. */
  const reportOnce = async (index: number, attempt: NonEvmAttempt): Promise<Report> => {
    const key = `${index} ${attempt.txId}`;
    const answer = running.get(key) ?? report(index, attempt).finally(() => running.delete(key));
    running.set(key, answer);
    return await answer;
  };

  /** Whether as many endpoints as the quorum have reached the block that a payment was in. */
  const isBlockPassed = ({ txId }: NonEvmAttempt, places: readonly number[]): boolean => {
    const block = blocks.get(txId);
    return (
      block === undefined || places.filter((index) => (order.headOf(index) ?? -1n) >= block).length >= quorum
    );
  };

  const judge = (
    attempt: NonEvmAttempt,
    answers: readonly Answer<number, Report>[],
    isComplete: boolean,
  ): Verdict | undefined => {
    const reports = answers.map(({ value }) => value);
    const inBlock = agreedInBlock(answers, quorum);
    if (inBlock !== undefined) return { outcome: inBlock };
    if (!isComplete) return undefined;
    const contradiction = reports.find((candidate) => candidate.kind === "contradiction");
    if (contradiction !== undefined) return { fault: contradiction.fault };
    const dead = agreedDead(reports, deadQuorum);
    if (dead !== undefined) return { outcome: dead };
    if (reports.length < deadQuorum && reports.some(({ kind }) => kind === "dead"))
      return {
        fault: inconsistent(QUESTION, "only one endpoint answers, and it reports the payment as dead"),
        isLoneDead: true,
      };
    const notInBlock = answers.filter(({ value }) => !isInBlock(value)).map(({ endpoint }) => endpoint);
    if (!isBlockPassed(attempt, notInBlock))
      return {
        fault: inconsistent(
          QUESTION,
          `the payment was in block ${blocks.get(attempt.txId)}, and too few endpoints that reached it answer`,
        ),
      };
    return { outcome: { kind: reports.some(isShown) ? "pending" : "unseen" } };
  };

  function recordBlock({ txId }: NonEvmAttempt, reported: NonEvmOutcome): void {
    blocks.delete(txId);
    if (!isInBlock(reported)) return;
    const [oldest] = blocks.keys();
    if (blocks.size >= MAX_BLOCKS && oldest !== undefined) blocks.delete(oldest);
    blocks.set(txId, reported.block.number);
  }

  /** Reports an endpoint that blocks a payment because it is the only one that shows an earlier attempt. */
  function reportClaims(
    { txId }: NonEvmAttempt,
    answers: readonly Answer<number, Report>[],
    verdict: Verdict,
  ): void {
    const isDead = answers.some(({ value }) => value.kind === "dead");
    const late = claims.unconfirmed(
      txId,
      "outcome" in verdict && isInBlock(verdict.outcome) ? 1 : 0,
      answers.map(({ endpoint, value }) => ({
        endpoint,
        value: isInBlock(value) || (isDead && isShown(value)) ? 1 : 0,
      })),
    );
    if (late.length > 0) onDisagreement(QUESTION, late);
  }

  async function outcome(attempt: NonEvmAttempt): Promise<NonEvmOutcome> {
    if (connections.length === 1) return await order.run(async (index) => await readOutcome(index, attempt));
    const answers: Answer<number, Report>[] = [];
    const pendingReports: Promise<unknown>[] = [];
    let verdict = await queryAll<number, Report, Verdict>(electorate, {
      question: QUESTION,
      read: async (endpoint) => {
        const answer = reportOnce(endpoint, attempt);
        pendingReports.push(answer);
        const value = await answer;
        answers.push({ endpoint, value });
        return value;
      },
      decide: (answersSoFar, isComplete) => {
        const value = judge(attempt, answersSoFar, isComplete);
        return value && { value };
      },
      textOf: settledText,
    });
    if ("outcome" in verdict ? verdict.outcome.kind === "dead" : verdict.isLoneDead === true) {
      // A dead payment is made again, so wait for the slowest endpoint too: it may show the payment.
      await Promise.allSettled(pendingReports);
      verdict = judge(attempt, answers, true) ?? verdict;
    }
    reportClaims(attempt, answers, verdict);
    if ("fault" in verdict) throw verdict.fault;
    recordBlock(attempt, verdict.outcome);
    return verdict.outcome;
  }

  return {
    outcome,
    confirmDead: async (attempt) => {
      if (connections.length === 1 || (await outcome(attempt)).kind === "dead") return;
      throw inconsistent(QUESTION, "too few endpoints report an earlier attempt as dead");
    },
  };
}

function isInBlock(report: Report): report is InBlock {
  return report.kind === "mined" || report.kind === "final";
}

function isShown(report: Report): boolean {
  return report.kind === "pending" || isInBlock(report);
}

/** The block in which a quorum shows the payment; `final` if a quorum shows it as final there. */
function agreedInBlock(answers: readonly Answer<number, Report>[], quorum: number): InBlock | undefined {
  const final = agreedOn(answers, quorum, (report) =>
    report.kind === "final" ? blockText(report) : undefined,
  );
  const shown =
    final ?? agreedOn(answers, quorum, (report) => (isInBlock(report) ? blockText(report) : undefined));
  if (shown === undefined || !isInBlock(shown)) return undefined;
  return { ...shown, kind: final === undefined ? "mined" : "final" };
}

function blockText({ block, txId }: InBlock): string {
  return `${block.number} ${block.hash} ${txId ?? ""}`;
}

/** A payment can be made again if a quorum reports it as dead and no endpoint shows it. */
function agreedDead(reports: readonly Report[], quorum: number): NonEvmOutcome | undefined {
  if (reports.some(isShown)) return undefined;
  const dead = reports.filter((report) => report.kind === "dead");
  return dead.length >= quorum ? dead[0] : undefined;
}

/** Only answers that no longer change contradict each other. */
function settledText(report: Report): string | undefined {
  if (report.kind === "final") return `final ${blockText(report)}`;
  return report.kind === "dead" ? "dead" : undefined;
}
