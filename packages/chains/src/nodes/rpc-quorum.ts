import {
  RpcFault,
  type ConfiguredChain,
  type Evidence,
  type EvidenceSource,
  type FinalHead,
} from "@causeway/families";
import { exactText } from "./exact-text.ts";

/** Endpoints contradicted each other about something that each of them considers settled. */
export interface Disagreement {
  readonly chain: string;
  readonly question: "deposits" | "payments" | "withdrawal";
  /** The settled answers by endpoint, in configuration order; undefined if there is none. */
  readonly answers: readonly (string | undefined)[];
}

export interface QuorumOptions {
  /** How many endpoints must agree. */
  readonly quorum: number;
  /** When to retry while endpoints lag behind each other. */
  readonly retryAfterSeconds: number;
  readonly onDisagreement: (disagreement: Disagreement) => void;
}

/**
 * Combines several endpoints into one source: a settled answer counts only if enough of them return it, byte
 * for byte. All are queried concurrently, and the answer is returned as soon as enough agree, so a slow or
 * dead endpoint costs nothing while others suffice. Settled answers that contradict each other before that
 * are a fault and reported, since it is unknown which of them is wrong. Answers that only lag (unknown, not
 * final, a withdrawal still pending) contradict nothing.
 *
 * @throws RangeError if there are fewer sources than must agree
 */
export function quorumEvidence(
  chain: ConfiguredChain,
  sources: readonly EvidenceSource[],
  options: QuorumOptions,
): EvidenceSource {
  const { quorum } = options;
  if (!Number.isInteger(quorum) || quorum < 1 || quorum > sources.length) {
    throw new RangeError(
      `chain ${chain.name}: quorum of ${quorum} is impossible with ${sources.length} endpoints`,
    );
  }
  const [only] = sources;
  if (sources.length === 1 && only !== undefined) return only;

  const query = async <T>(
    question: Disagreement["question"],
    read: (source: EvidenceSource) => Promise<Evidence<T>>,
  ): Promise<Evidence<T>> =>
    await new Promise<Evidence<T>>((resolve, reject) => {
      const poll = createPoll<T>(sources.length, options);
      const settled = sources.map((): string | undefined => undefined);
      let isReported = false;
      const record = (index: number, outcome: Outcome<T>): void => {
        const text = "evidence" in outcome ? settledText(outcome.evidence) : undefined;
        settled[index] = text;
        const distinctAnswers = new Set(settled.filter((answer) => answer !== undefined));
        // Also checked for endpoints that answer after the others agreed, so that a liar is reported.
        if (distinctAnswers.size > 1 && !isReported) {
          isReported = true;
          options.onDisagreement({ chain: chain.name, question, answers: [...settled] });
        }
        const verdict = poll.add(outcome, text);
        if (verdict === undefined) return;
        if ("evidence" in verdict) resolve(verdict.evidence);
        else reject(verdict.fault);
      };
      sources.forEach((source, index) => {
        read(source).then(
          (evidence) => record(index, { evidence }),
          (fault: unknown) => record(index, { fault }),
        );
      });
    });

  return {
    chain,
    deposits: async (transactionId) => await query("deposits", (source) => source.deposits(transactionId)),
    payments: async (transactionId, question) =>
      await query("payments", (source) => source.payments(transactionId, question)),
    withdrawal: async (payload, transactionId) =>
      await query("withdrawal", (source) => source.withdrawal(payload, transactionId)),
    newestFinal: sources.every(({ newestFinal }) => newestFinal !== undefined)
      ? async () => await sharedHead(sources, quorum)
      : undefined,
    close: async () => {
      await Promise.all(sources.map((source) => source.close()));
    },
  };
}

/** The height that enough endpoints have reached. @throws the first fault if too few answer */
async function sharedHead(
  sources: readonly EvidenceSource[],
  quorum: number,
): Promise<FinalHead | undefined> {
  const answers = await Promise.allSettled(sources.map(async (source) => await source.newestFinal?.()));
  const heads = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  const fault = answers.find((answer) => answer.status === "rejected");
  if (heads.length < quorum) throw fault?.reason;
  const reached = heads
    .filter((head) => head !== undefined)
    .toSorted((a, b) => (a.height < b.height ? 1 : a.height > b.height ? -1 : 0));
  return reached[quorum - 1];
}

type Outcome<T> = { readonly evidence: Evidence<T> } | { readonly fault: unknown };

/** Counts answers; returns the verdict once, as soon as no outstanding answer can improve it. */
function createPoll<T>(
  size: number,
  { quorum, retryAfterSeconds }: QuorumOptions,
): { add(outcome: Outcome<T>, settled: string | undefined): Outcome<T> | undefined } {
  const votes = new Map<string, number>();
  const lagging: Evidence<T>[] = [];
  let faults: unknown[] = [];
  let answeredCount = 0;

  const summarizeLag = (): Evidence<T> => {
    const kinds = new Set(lagging.map(({ kind }) => kind));
    const [first] = lagging;
    // Only if all of them report the same kind: otherwise one that is further ahead may already know more.
    if (first !== undefined && votes.size === 0 && kinds.size === 1 && first.kind !== "notFinal")
      return first;
    const waits = lagging.map((evidence) =>
      evidence.kind === "notFinal" ? evidence.retryAfterSeconds : retryAfterSeconds,
    );
    const reason =
      lagging.find((evidence) => evidence.kind === "notFinal")?.reason ??
      "endpoints have not reached the same block yet";
    return { kind: "notFinal", reason, retryAfterSeconds: Math.max(retryAfterSeconds, ...waits) };
  };

  return {
    add: (outcome, settled) => {
      answeredCount += 1;
      if ("fault" in outcome) faults = [...faults, outcome.fault];
      else if (settled === undefined) lagging.push(outcome.evidence);
      else votes.set(settled, (votes.get(settled) ?? 0) + 1);

      if (votes.size > 1) {
        const reason = "endpoints disagree about final data";
        return { fault: new RpcFault({ kind: "inconsistent", method: "quorum", reason }) };
      }
      const [maxVotes = 0] = votes.values();
      if (maxVotes >= quorum && "evidence" in outcome) return outcome;
      const outstanding = size - answeredCount;
      if (maxVotes + outstanding >= quorum) return undefined;
      if (maxVotes + lagging.length >= quorum) return { evidence: summarizeLag() };
      return outstanding === 0 ? { fault: faults[0] } : undefined;
    },
  };
}

/**
 * A canonical text of a settled answer, equal for all honest endpoints; undefined for answers that will
 * change over time.
 */
function settledText(evidence: Evidence<unknown>): string | undefined {
  if (evidence.kind === "absent" || evidence.kind === "notFinal") return undefined;
  if (evidence.kind === "final" && isPending(evidence.value)) return undefined;
  if (evidence.kind === "refuted" && evidence.ofEndpoint === true) return undefined;
  return exactText(evidence);
}

function isPending(value: unknown): boolean {
  return typeof value === "object" && value !== null && "status" in value && value.status === "pending";
}
