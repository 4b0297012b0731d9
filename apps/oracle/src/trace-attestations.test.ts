import { traceOf, traceparentOf, type Span } from "@causeway/service-kit";
import fastify from "fastify";
import { expect, test } from "vitest";
import { traceAttestations } from "./trace-attestations.ts";

const REQUEST_ID = `0x${"2e".repeat(32)}`;

test("records an attestation in the trace of its caller, and no other calls", async () => {
  const spans: Span[] = [];
  const app = fastify();
  traceAttestations(app, { record: (span) => void spans.push(span), close: async () => undefined });
  for (const url of ["/attestations/solver-fills/v1", "/other"])
    app.post(url, async (_request, reply) => await reply.code(url === "/other" ? 200 : 503).send({}));
  const call = async (url: string, headers: Record<string, string>) =>
    await app.inject({ method: "POST", url, headers });
  await call("/attestations/solver-fills/v1", { traceparent: traceparentOf(REQUEST_ID) });
  await call("/attestations/solver-fills/v1", {});
  await call("/attestations/solver-fills/v1", { traceparent: "nonsense" });
  await call("/other", { traceparent: traceparentOf(REQUEST_ID) });
  await app.close();
  const { traceId, rootSpanId } = traceOf(REQUEST_ID);
  expect(spans).toMatchObject([
    { name: "POST /attestations/solver-fills/v1", traceId, parentSpanId: rootSpanId, isError: true },
  ]);
  expect(spans).toHaveLength(1);
});
