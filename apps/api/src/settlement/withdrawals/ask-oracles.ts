import type { AnswerForm } from "../oracles.port.ts";
import type { SettlementServices } from "../settlement-services.port.ts";
import type { Verdict } from "../verify-execution.ts";

/** A step that is not possible now, but may be later. */
export interface Waiting {
  readonly kind: "waits";
  readonly reason: string;
}

const WITH_PEERS = { requestPeerSignatures: true, requireThreshold: true } as const;

/** The result of asking the oracles: an answer, a refusal by all of them, or a timeout. */
export type OracleResult<T> =
  | { readonly kind: "true"; readonly value: T }
  | Waiting
  | { readonly kind: "rejected"; readonly reason: string }
  | { readonly kind: "timeUp" };

/** Asks one oracle after another until one gives a valid answer; otherwise returns their answers. */
export async function askOracles<Answer, T>(
  { oracles }: Pick<SettlementServices, "oracles">,
  path: string,
  body: object,
  schema: AnswerForm<Answer>,
  judgeAnswer: (answer: Answer) => Verdict<T> | Waiting,
  signal: AbortSignal,
): Promise<OracleResult<T>> {
  const reasons: string[] = [];
  let rejections = 0;
  for (const oracle of oracles) {
    if (signal.aborted) break;
    const response = await oracle.ask(path, { ...body, ...WITH_PEERS }, signal);
    // We aborted the request: keep the last real answer.
    if (signal.aborted && response.kind === "unavailable") break;
    if (response.kind !== "answer") {
      if (response.kind === "refused" && response.code === "rejected") rejections++;
      reasons.push(
        `${oracle.name}: ${response.kind === "unavailable" ? response.reason : `${response.code}: ${response.message}`}`,
      );
      continue;
    }
    const answer = schema.safeParse(response.json);
    const verdict = answer.success
      ? judgeAnswer(answer.data)
      : ({ kind: "lie", reason: "the response does not match the schema of the route" } as const);
    if (verdict.kind === "true") return verdict;
    reasons.push(`${oracle.name}: ${verdict.reason}`);
  }
  if (reasons.length === 0) return { kind: "timeUp" };
  const reason = reasons.join("; ");
  return { kind: rejections === oracles.length ? "rejected" : "waits", reason };
}
