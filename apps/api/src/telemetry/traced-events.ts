import { traceOf, type Traces } from "@causeway/service-kit";
import type { Clock } from "../db/clock.port.ts";
import type { EventName, Events, Facts } from "../db/events.port.ts";

const REQUEST_ID = /^0x[0-9a-f]{64}$/i;

/**
 * Events that also become spans of their request's trace. An event with `tookMs` becomes a span of that
 * length, any other event a point in time. Waiting is not recorded, because it repeats with every try.
 */
export function tracedEvents(events: Events, traces: Traces, clock: Clock): Events {
  const record = (name: EventName, { requestId, tookMs, ...facts }: Facts, isError: boolean): void => {
    if (typeof requestId !== "string" || !REQUEST_ID.test(requestId) || name.endsWith("_waits")) return;
    const { traceId, rootSpanId } = traceOf(requestId);
    const endMs = clock.nowMs();
    const startMs = typeof tookMs === "number" ? endMs - tookMs : endMs;
    const attributes = { requestId, ...facts };
    traces.record({ traceId, parentSpanId: rootSpanId, name, startMs, endMs, attributes, isError });
  };
  return {
    happened(event, facts) {
      events.happened(event, facts);
      record(event, facts, false);
    },
    alarm(event, facts) {
      events.alarm(event, facts);
      record(event, facts, true);
    },
    fault(event, error, facts) {
      events.fault(event, error, facts);
      record(event, facts, true);
    },
  };
}

/** Records a quote as the root span of its request's trace. */
export function traceQuotes(
  traces: Traces | undefined,
  clock: Clock,
): (requestId: string, tookMs: number) => void {
  return (requestId, tookMs) => {
    if (traces === undefined) return;
    const { traceId, rootSpanId } = traceOf(requestId);
    const endMs = clock.nowMs();
    traces.record({
      traceId,
      parentSpanId: undefined,
      spanId: rootSpanId,
      name: "quote",
      startMs: endMs - tookMs,
      endMs,
      attributes: { requestId },
    });
  };
}
