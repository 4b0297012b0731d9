import { hash } from "node:crypto";

/** Trace and parent span of a new span. */
export interface TraceContext {
  /** 16 bytes in hex. */
  readonly traceId: string;
  /** 8 bytes in hex; undefined for a span without a parent. */
  readonly parentSpanId: string | undefined;
}

/**
 * The trace of a request and its root span, derived from the request's id: all processes agree on them
 * without passing anything on, even days later.
 */
export function traceOf(requestId: string): { readonly traceId: string; readonly rootSpanId: string } {
  const digest = hash("sha256", requestId.toLowerCase(), "hex");
  return { traceId: digest.slice(0, 32), rootSpanId: digest.slice(32, 48) };
}

/** The header by which another service joins the trace of a request (W3C Trace Context). */
export function traceparentOf(requestId: string): string {
  const { traceId, rootSpanId } = traceOf(requestId);
  return `00-${traceId}-${rootSpanId}-01`;
}

const TRACEPARENT = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}/;

/** Reads a `traceparent` header; undefined if it is missing or malformed. */
export function readTraceparent(header: unknown): TraceContext | undefined {
  const [, traceId, parentSpanId] = (typeof header === "string" && TRACEPARENT.exec(header)) || [];
  return traceId === undefined ? undefined : { traceId, parentSpanId };
}
