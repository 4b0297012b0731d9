/** One HTTP answer, before anything is known of the calls in it. */
export type HttpAnswer =
  | { readonly kind: "tooLarge"; readonly refusesBatch?: undefined; readonly document?: undefined }
  | {
      readonly kind: "read";
      readonly status: number;
      readonly bytes: number;
      /** The JSON, undefined when there is none or it is no JSON-RPC answer. */
      readonly document: object | undefined;
      /** Set when the answer could be read as "no batches, please". */
      readonly refusesBatch: "tooMany" | "never" | undefined;
    };

/** What an answer of this status and body can be; an undefined body exceeded its bound. */
export function readAnswer(status: number, body: string | undefined): HttpAnswer {
  if (body === undefined) return { kind: "tooLarge" };
  const document = parseJson(body);
  const looksLikeRpc = Array.isArray(document) || errorIn(document) !== undefined || hasResult(document);
  let refusesBatch: "tooMany" | "never" | undefined;
  const error = errorIn(document);
  if (error !== undefined && !/rate.?limit|too many requests/i.test(String(error["message"]))) {
    refusesBatch = batchRefusal(String(error["message"]));
  } else if (status === 413) {
    refusesBatch = "tooMany";
  } else if (status === 400 || status === 415 || status === 422 || status === 501) {
    refusesBatch = "never";
  }
  return {
    kind: "read",
    status,
    bytes: body.length,
    document: looksLikeRpc ? document : undefined,
    refusesBatch,
  };
}

/** The JSON-RPC error object in an answer, if any. */
export function errorIn(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const error = (value as Record<string, unknown>)["error"];
  return typeof error === "object" && error !== null ? (error as Record<string, unknown>) : undefined;
}

/** Whether an answer carries a result; null is one. */
export function hasResult(value: unknown): boolean {
  return typeof value === "object" && value !== null && "result" in value && value.result !== undefined;
}

function parseJson(body: string): object | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    // Proxies answer with HTML; what it is not is all we need to know.
    return undefined;
  }
}

/** How a node refuses a whole batch: never, or only one of this many calls. */
function batchRefusal(text: string): "tooMany" | "never" {
  return /too (?:large|many|big)|limit|size|maximum|max |exceed/i.test(text) ? "tooMany" : "never";
}
