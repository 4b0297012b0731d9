import type { EvidenceSource } from "@causeway/chains";
import { Histogram } from "prom-client";
import type { Registry } from "prom-client";

const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The same sources, with the time of every question to a chain measured by chain, question and how it ended. */
export function timedEvidence(registry: Registry): (source: EvidenceSource) => EvidenceSource {
  const times = new Histogram({
    name: "oracle_chain_question_seconds",
    help: "Time until a chain's nodes had answered a question, by what they said",
    labelNames: ["chain", "question", "outcome"],
    buckets: SECONDS,
    registers: [registry],
  });
  return (source) => {
    const { name } = source.chain;
    async function timed<Answer extends { readonly kind: string }>(
      question: string,
      ask: () => Promise<Answer>,
    ): Promise<Answer> {
      const startedAtMs = performance.now();
      let outcome = "fault";
      try {
        const answer = await ask();
        outcome = answer.kind;
        return answer;
      } finally {
        times.observe({ chain: name, question, outcome }, (performance.now() - startedAtMs) / 1000);
      }
    }
    return {
      chain: source.chain,
      deposits: async (id) => await timed("deposits", async () => await source.deposits(id)),
      payments: async (id, question) =>
        await timed("payments", async () => await source.payments(id, question)),
      withdrawal: async (payload, id) =>
        await timed("withdrawal", async () => await source.withdrawal(payload, id)),
      close: async () => await source.close(),
    };
  };
}
