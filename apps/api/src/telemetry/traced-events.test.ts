import { traceOf, type Span } from "@causeway/service-kit";
import { expect, test } from "vitest";
import { recordedEvents } from "../../../../test/fakes/recorded-events.ts";
import { tracedEvents, traceQuotes } from "./traced-events.ts";

const requestId = `0x${"1f".repeat(32)}`;
const { traceId, rootSpanId } = traceOf(requestId);

function aTracer() {
  const spans: Span[] = [];
  const traces = { record: (span: Span) => void spans.push(span), close: async () => undefined };
  const clock = { nowMs: () => 10_000 };
  return {
    spans,
    events: tracedEvents(recordedEvents(), traces, clock),
    recordQuote: traceQuotes(traces, clock),
  };
}

test("the quote is the root of the trace, and what happens to the request later belongs to it", () => {
  const { spans, events, recordQuote } = aTracer();
  recordQuote(requestId, 40);
  events.happened("fill_mined", { requestId, tookMs: 2_000, originChain: "base" });
  events.alarm("deposit_exposed", { requestId });
  expect(spans).toMatchObject([
    { name: "quote", traceId, spanId: rootSpanId, parentSpanId: undefined, startMs: 9_960, endMs: 10_000 },
    { name: "fill_mined", traceId, parentSpanId: rootSpanId, startMs: 8_000, isError: false },
    { name: "deposit_exposed", traceId, parentSpanId: rootSpanId, startMs: 10_000, isError: true },
  ]);
});

test("does not record events without a request, or repeated waiting", () => {
  const { spans, events } = aTracer();
  events.happened("chain_leads", { chain: "base" });
  events.alarm("fill_waits", { requestId });
  events.fault("chain_fault", new Error("down"), { chain: "base" });
  expect(spans).toEqual([]);
});
