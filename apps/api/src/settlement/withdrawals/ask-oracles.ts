import type { AnswerForm } from "../oracles.port.ts";
import type { SettlementServices } from "../settlement-services.port.ts";
import type { Verdict } from "../signed-execution.ts";

/** A step that cannot be done now, and may be later. */
export interface Waiting {
  readonly kind: "waits";
  readonly reason: string;
}

const WITH_PEERS = { requestPeerSignatures: true, requireThreshold: true } as const;

/**
 * What came of asking: each oracle that was asked said no for good; or the time was up before one said
 * anything.
 */
export type Asked<T> =
  | { readonly kind: "true"; readonly value: T }
  | Waiting
  | { readonly kind: "rejected"; readonly reason: string }
  | { readonly kind: "timeUp" };

/** Asks one oracle after the other until one gives what holds; what they said instead, when none does. */
export async function askOracles<Answer, T>(
  { oracles }: Pick<SettlementServices, "oracles">,
  path: string,
  body: object,
  schema: AnswerForm<Answer>,
  judged: (answer: Answer) => Verdict<T> | Waiting,
  signal: AbortSignal,
): Promise<Asked<T>> {
  const reasons: string[] = [];
  let rejections = 0;
  for (const oracle of oracles) {
    if (signal.aborted) break;
    const said = await oracle.ask(path, { ...body, ...WITH_PEERS }, signal);
    // We hung up: that is no answer, and would hide the last one.
    if (signal.aborted && said.kind === "away") break;
    if (said.kind !== "answer") {
      if (said.kind === "refused" && said.code === "rejected") rejections++;
      reasons.push(`${oracle.name}: ${said.kind === "away" ? said.reason : `${said.code}: ${said.message}`}`);
      continue;
    }
    const answer = schema.safeParse(said.json);
    const verdict = answer.success
      ? judged(answer.data)
      : ({ kind: "lie", reason: "the response does not match the schema of the route" } as const);
    if (verdict.kind === "true") return verdict;
    reasons.push(`${oracle.name}: ${verdict.reason}`);
  }
  if (reasons.length === 0) return { kind: "timeUp" };
  const reason = reasons.join("; ");
  return { kind: rejections === oracles.length ? "rejected" : "waits", reason };
}
