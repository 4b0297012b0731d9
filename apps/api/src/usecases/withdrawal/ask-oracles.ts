import type { AnswerForm } from "../../ports/oracles.ts";
import type { SettlementServices } from "../../ports/settlement-services.ts";
import type { Verdict } from "../settlement/signed-execution.ts";

/** A step that cannot be done now, and may be later. */
export interface Waiting {
  readonly kind: "waits";
  readonly reason: string;
}

const WITH_PEERS = { requestPeerSignatures: true, requireThreshold: true } as const;

/** Asks one oracle after the other until one gives what holds; what they said instead, when none does. */
export async function askOracles<Answer, T>(
  { oracles }: Pick<SettlementServices, "oracles">,
  path: string,
  body: object,
  schema: AnswerForm<Answer>,
  judged: (answer: Answer) => Verdict<T> | Waiting,
  signal: AbortSignal,
): Promise<{ readonly kind: "true"; readonly value: T } | Waiting> {
  const reasons: string[] = [];
  for (const oracle of oracles) {
    const said = await oracle.ask(path, { ...body, ...WITH_PEERS }, signal);
    if (said.kind !== "answer") {
      reasons.push(`${oracle.name}: ${said.kind === "away" ? said.reason : `${said.code}: ${said.message}`}`);
      continue;
    }
    const answer = schema.safeParse(said.json);
    const verdict = answer.success
      ? judged(answer.data)
      : ({ kind: "lie", reason: "the answer is not in the form of the route" } as const);
    if (verdict.kind === "true") return verdict;
    reasons.push(`${oracle.name}: ${verdict.reason}`);
  }
  return { kind: "waits", reason: reasons.join("; ") };
}
