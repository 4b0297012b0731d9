import { saysRateLimit, type NodeErrorFacts } from "@causeway/families";
import { retryAfterMs } from "./retry-after.ts";

/** One HTTP response, before its calls are read. */
export type HttpAnswer =
  | {
      readonly kind: "tooLarge";
      readonly refusesBatch?: undefined;
      readonly maxBatch?: undefined;
      readonly document?: undefined;
      readonly pause?: undefined;
    }
  | {
      readonly kind: "read";
      readonly status: number;
      readonly bytes: number;
      /** The JSON; undefined if there is none or it is not a JSON-RPC response. */
      readonly document: object | undefined;
      /** Set if the endpoint may accept the same calls in smaller batches, or one by one. */
      readonly refusesBatch: "tooMany" | "never" | undefined;
      /**
       * The maximum batch size that a failing endpoint states. It limits later batches; these calls fail.
       */
      readonly maxBatch: number | undefined;
      /** Set if the endpoint rate-limits calls, or is overloaded. */
      readonly pause: { readonly requestedMs: number | undefined; readonly isOverload: boolean } | undefined;
    };

export interface ReceivedAnswer {
  readonly status: number;
  /** The body; undefined if it exceeded the size limit. */
  readonly text: string | undefined;
  /** The `Retry-After` header; absent if there is none. */
  readonly retryAfter?: string | undefined;
}

/** Classifies an HTTP response. @param nowMs milliseconds since epoch, for a Retry-After with a date */
export function readAnswer({ status, text, retryAfter }: ReceivedAnswer, nowMs: number): HttpAnswer {
  if (text === undefined) return { kind: "tooLarge" };
  const document = parseJson(text);
  const error = errorIn(document);
  const looksLikeRpc = Array.isArray(document) || error !== undefined || hasResult(document);
  // An overloaded or rate-limited endpoint refuses everything, and more requests would make it worse.
  const isOverloaded = status === 429 || status >= 500;
  const limit = rateLimitIn(document);
  const shouldPause =
    limit !== undefined ||
    status === 429 ||
    (status === 503 && !looksLikeRpc) ||
    (isOverloaded && retryAfter !== undefined);
  return {
    kind: "read",
    status,
    bytes: text.length,
    document: looksLikeRpc ? document : undefined,
    refusesBatch: isOverloaded || limit !== undefined ? undefined : batchRefusalOf(status, error),
    maxBatch: isOverloaded && limit === undefined ? maxBatchIn(error) : undefined,
    pause: shouldPause
      ? {
          requestedMs: retryAfterMs(retryAfter, limit ?? (error && factsOf(error)), nowMs),
          isOverload: limit === undefined && status !== 429,
        }
      : undefined,
  };
}

/** The first error of a response that is a rate limit. */
function rateLimitIn(document: object | undefined): NodeErrorFacts | undefined {
  for (const entry of Array.isArray(document) ? (document as readonly unknown[]) : [document]) {
    const error = errorIn(entry);
    if (error === undefined) continue;
    const facts = factsOf(error);
    if (saysRateLimit(facts)) return facts;
  }
  return undefined;
}

function factsOf({ code, message, data }: Record<string, unknown>): NodeErrorFacts {
  return { code: typeof code === "number" ? code : 0, message: String(message), data };
}

/** The JSON-RPC error object in a response, if any. */
export function errorIn(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const error = (value as Record<string, unknown>)["error"];
  return typeof error === "object" && error !== null ? (error as Record<string, unknown>) : undefined;
}

/** Whether a response contains a result; null is one. */
export function hasResult(value: unknown): boolean {
  return typeof value === "object" && value !== null && "result" in value && value.result !== undefined;
}

function parseJson(body: string): object | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    // Proxies respond with HTML; only the fact that it is not JSON matters.
    return undefined;
  }
}

/** Recognizes refusals of a batch: of all batches, or of one with this many calls. */
function batchRefusalOf(
  status: number,
  error: Record<string, unknown> | undefined,
): "tooMany" | "never" | undefined {
  if (error !== undefined) {
    const isAboutSize = /too (?:large|many|big)|limit|size|maximum|max |exceed|more than \d/i;
    return isAboutSize.test(String(error["message"])) ? "tooMany" : "never";
  }
  if (status === 413) return "tooMany";
  return status === 400 || status === 415 || status === 422 ? "never" : undefined;
}

/** dRPC refuses with status 500 ("Batch of more than 3 requests are not allowed"). */
function maxBatchIn(error: Record<string, unknown> | undefined): number | undefined {
  const size = /batch of more than (\d{1,5}) /i.exec(String(error?.["message"]))?.[1];
  return size === undefined ? undefined : Math.max(1, Number(size));
}
