import type { EvidenceSource } from "@causeway/chains";
import { durations, type NoteDuration } from "@causeway/service-kit";
import type { Registry } from "prom-client";
import { NODE_CALL_BUCKETS_MS } from "./telemetry/node-call-buckets.ts";

/** Wraps evidence sources and times their reads, except `newestFinal`, by chain, question and outcome. */
export function timedEvidence(registry: Registry): (source: EvidenceSource) => EvidenceSource {
  const seriesOf = durations(registry, {
    name: "oracle_chain_question_seconds",
    help: "Duration of evidence queries to a chain's nodes by result",
    boundsMs: NODE_CALL_BUCKETS_MS,
  });
  return (source) => {
    const { name } = source.chain;
    const noteByKey = new Map<string, NoteDuration>();
    const note = (question: string, outcome: string, startedAtMs: number): void => {
      const key = `${question} ${outcome}`;
      let observe = noteByKey.get(key);
      if (observe === undefined) {
        observe = seriesOf({ chain: name, question, outcome });
        noteByKey.set(key, observe);
      }
      observe(performance.now() - startedAtMs);
    };
    async function timed<Answer extends { readonly kind: string }>(
      question: string,
      startedAtMs: number,
      evidence: Promise<Answer>,
    ): Promise<Answer> {
      try {
        const answer = await evidence;
        note(question, answer.kind, startedAtMs);
        return answer;
      } catch (error) {
        note(question, "fault", startedAtMs);
        throw error;
      }
    }
    return {
      chain: source.chain,
      deposits: async (id) => await timed("deposits", performance.now(), source.deposits(id)),
      payments: async (id, question) =>
        await timed("payments", performance.now(), source.payments(id, question)),
      withdrawal: async (payload, id) =>
        await timed("withdrawal", performance.now(), source.withdrawal(payload, id)),
      newestFinal: source.newestFinal && (async () => await source.newestFinal?.()),
      close: async () => await source.close(),
    };
  };
}
