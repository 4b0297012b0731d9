import { randomBytes } from "node:crypto";
import { Counter, type Registry } from "prom-client";
import { withoutUrlSecrets } from "./logging.ts";
import type { TraceContext } from "./trace-ids.ts";

/** An event with its duration. */
export interface Span extends TraceContext {
  /** 8 bytes in hex; default: random. */
  readonly spanId?: string;
  readonly name: string;
  /** ms since the epoch. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | bigint | boolean | undefined>>;
  readonly isError?: boolean;
}

/** Sends spans to a collector. Never throws, and never makes its caller wait. */
export interface Traces {
  record(span: Span): void;
  /** Sends all queued spans, within the timeout of one request. */
  close(): Promise<void>;
}

export interface TraceTarget {
  /** The URL to which spans are posted, as OTLP JSON. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const MAX_QUEUED = 4_096;
const MAX_BATCH = 512;
const SEND_EVERY_MS = 2_000;
const TIMEOUT_MS = 5_000;
const MAX_TEXT = 300;

/**
 * Exports spans over HTTP in batches. The queue is bounded: while the collector does not answer, the newest
 * spans are dropped and counted in `trace_spans_total`.
 */
export function createTraces(service: string, { url, headers }: TraceTarget, registry: Registry): Traces {
  const spanCounter = new Counter({
    name: "trace_spans_total",
    help: "Spans by outcome: sent to the collector, or dropped",
    labelNames: ["outcome"],
    registers: [registry],
  });
  for (const outcome of ["sent", "dropped"]) spanCounter.inc({ outcome }, 0);
  const queue: object[] = [];
  let sending: Promise<void> | undefined;

  async function sendBatch(): Promise<void> {
    const batch = queue.splice(0, MAX_BATCH);
    if (batch.length === 0) return;
    const outcome = await post(url, headers, bodyOf(service, batch));
    if (outcome !== "retry") return spanCounter.inc({ outcome }, batch.length);
    const capacity = MAX_QUEUED - queue.length;
    queue.unshift(...batch.slice(0, capacity));
    if (batch.length > capacity) spanCounter.inc({ outcome: "dropped" }, batch.length - capacity);
  }
  const flush = async (): Promise<void> => {
    sending ??= sendBatch().finally(() => {
      sending = undefined;
    });
    await sending;
  };
  // The timer must not keep an idle process alive.
  const timer = setInterval(() => void flush(), SEND_EVERY_MS).unref();

  return {
    record(span) {
      if (queue.length >= MAX_QUEUED) return spanCounter.inc({ outcome: "dropped" });
      queue.push(toOtlp(span));
    },
    async close() {
      clearInterval(timer);
      await sending;
      await flush();
      spanCounter.inc({ outcome: "dropped" }, queue.length);
      queue.length = 0;
    },
  };
}

type Outcome = "sent" | "dropped" | "retry";

async function post(url: string, headers: TraceTarget["headers"], body: string): Promise<Outcome> {
  try {
    const { status, body: answer } = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body,
      // A redirect could leak the headers to another host.
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await answer?.cancel();
    if (status >= 200 && status < 300) return "sent";
    // The collector refuses these spans permanently.
    return status < 500 && status !== 429 ? "dropped" : "retry";
  } catch {
    return "retry";
  }
}

function bodyOf(service: string, spans: readonly object[]): string {
  const resource = { attributes: [attribute("service.name", service)] };
  return JSON.stringify({
    resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "causeway" }, spans }] }],
  });
}

const INTERNAL = 1;
const ERROR = 2;

function toOtlp({ traceId, parentSpanId, spanId, name, startMs, endMs, attributes, isError }: Span): object {
  return {
    traceId,
    spanId: spanId ?? randomBytes(8).toString("hex"),
    ...(parentSpanId !== undefined && { parentSpanId }),
    name,
    kind: INTERNAL,
    startTimeUnixNano: nanos(Math.min(startMs, endMs)),
    endTimeUnixNano: nanos(endMs),
    attributes: Object.entries(attributes).flatMap(([key, value]) =>
      value === undefined ? [] : [attribute(key, value)],
    ),
    ...(isError === true && { status: { code: ERROR } }),
  };
}

function attribute(key: string, value: string | number | bigint | boolean): object {
  if (typeof value === "boolean") return { key, value: { boolValue: value } };
  if (typeof value === "number") return { key, value: { doubleValue: value } };
  return { key, value: { stringValue: withoutUrlSecrets(String(value)).slice(0, MAX_TEXT) } };
}

/** OTLP represents 64-bit numbers as text. */
function nanos(ms: number): string {
  return (BigInt(Math.round(ms * 1_000)) * 1_000n).toString();
}
