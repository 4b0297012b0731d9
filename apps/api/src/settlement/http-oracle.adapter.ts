import { traceparentOf } from "@causeway/service-kit";
import { oracleError } from "@causeway/wire";
import type { AttestationOracle, OracleAnswer } from "./oracles.port.ts";
import { readBoundedText } from "./bounded-text.ts";

/** An answer contains each deposit of one transaction, some kilobytes each. Longer answers are invalid. */
const MAX_BYTES = 4_194_304;

export interface OracleEndpoint {
  readonly url: string;
  readonly apiKey: string | undefined;
}

/** An oracle behind its HTTP API. Neither key nor URL ever appears in an answer or an error. */
export function createHttpOracle(
  endpoint: OracleEndpoint,
  options: { readonly timeoutMs: number },
): AttestationOracle {
  const base = endpoint.url.replace(/\/+$/, "");
  return {
    name: new URL(endpoint.url).host,
    async ask(path, body, signal, requestId): Promise<OracleAnswer> {
      try {
        const response = await fetch(`${base}${path}`, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            accept: "application/json",
            ...(requestId === undefined ? {} : { traceparent: traceparentOf(requestId) }),
            ...(endpoint.apiKey === undefined ? {} : { "x-api-key": endpoint.apiKey }),
          },
          body: JSON.stringify(body),
          // Covers the whole exchange, up to the last byte of the answer.
          signal: AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs)]),
          // A redirect could leak the key to another host.
          redirect: "error",
        });
        return readAnswer(response.status, await readBoundedText(response, MAX_BYTES));
      } catch (error) {
        return { kind: "unavailable", reason: reasonOf(error, options.timeoutMs) };
      }
    },
  };
}

function readAnswer(status: number, text: string): OracleAnswer {
  const json = parseJson(text);
  if (status === 200) {
    if (json === undefined) return { kind: "unavailable", reason: "the response is not JSON" };
    // Its operator is testing it: nothing may rely on its answers.
    return isShadow(json.value)
      ? { kind: "unavailable", reason: "the oracle runs in shadow mode" }
      : { kind: "answer", json: json.value };
  }
  const error = oracleError.safeParse(json?.value);
  // An error in another format comes from something else, such as a proxy in front of the oracle.
  if (!error.success || status >= 500) return { kind: "unavailable", reason: `HTTP status ${status}` };
  const { code, message, retryAfter } = error.data;
  return {
    kind: "refused",
    code,
    message: message.slice(0, 300),
    retryAfterMs: retryAfter === undefined ? undefined : retryAfter * 1000,
  };
}

function isShadow(json: unknown): boolean {
  return typeof json === "object" && json !== null && "shadow" in json && json.shadow === true;
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    // Not JSON: unusable like any other malformed answer.
    return undefined;
  }
}

function reasonOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return "no response";
  if (error.name === "TimeoutError") return `no complete response within ${timeoutMs} ms`;
  if (error.name === "AbortError") return "canceled";
  const cause = error.cause instanceof Error && "code" in error.cause ? String(error.cause.code) : undefined;
  return cause ?? (error.message.startsWith("the response") ? error.message : "the request failed");
}
