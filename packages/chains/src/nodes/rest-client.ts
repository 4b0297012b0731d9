import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { createEndpointPause, MAX_WAIT_MS, pauseReason } from "./endpoint-pause.ts";
import { networkCode } from "./http-post.ts";
import { redact, RpcFault } from "@causeway/families";
import { retryAfterMs } from "./retry-after.ts";
import type { ObserveCall } from "./rpc-call.ts";

export interface RestClientOptions {
  /**
   * Base URL (HTTP or HTTPS) of all paths; user and password become basic authentication. Never shown in
   * errors.
   */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Timeout of a complete response, ms. Default: 10,000. */
  readonly deadlineMs?: number;
  /** Maximum bytes of one response. Default: 8 MiB. */
  readonly maxAnswerBytes?: number;
  /** Keep-alive connections. Default 8. */
  readonly connections?: number;
  /** Called after every call; its "method" is the name given to the call. */
  readonly onCall?: ObserveCall;
}

/**
 * A server's response. The caller interprets a status other than 200: nodes report an unknown transaction
 * with 404 or 500.
 */
export interface RestAnswer {
  readonly status: number;
  /** The parsed JSON; undefined if the body is not JSON. */
  readonly json: unknown;
  /** The unchanged body, for callers that must read numbers that a double cannot represent. */
  readonly text: string;
  /** The body as text, cut to 300 characters and without secrets, for errors. */
  readonly excerpt: string;
}

/** JSON over plain HTTP, the API of Hyperliquid, Lighter, explorers and some nodes. */
export interface RestClient {
  /**
   * @param name of the call in errors and metrics; never the path, which may contain secrets
   * @throws RpcFault if there is no complete response
   */
  get(name: string, path: string, signal?: AbortSignal): Promise<RestAnswer>;
  /** @throws RpcFault like `get` */
  post(name: string, path: string, body: unknown, signal?: AbortSignal): Promise<RestAnswer>;
  close(): Promise<void>;
}

/**
 * Connects at the first call. After a response with status 429 or a Retry-After header, later calls wait.
 *
 * @throws TypeError if `url` is invalid
 */
export function createRestClient(options: RestClientOptions): RestClient {
  if (!URL.canParse(options.url)) throw new TypeError("node URL is not a valid URL");
  const url = new URL(options.url);
  const base = url.pathname.replace(/\/+$/, "");
  const deadlineMs = options.deadlineMs ?? 10_000;
  const maxAnswerBytes = options.maxAnswerBytes ?? 8 * 1024 * 1024;
  const headers: Record<string, string> = { accept: "application/json", ...options.headers };
  if (url.username !== "" || url.password !== "")
    headers["authorization"] =
      `Basic ${Buffer.from(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`).toString("base64")}`;
  const pool = new Pool(url.origin, { connections: options.connections ?? 8 });
  const pause = createEndpointPause();

  async function request(
    method: "GET" | "POST",
    name: string,
    path: string,
    body: unknown,
    signal: AbortSignal | undefined,
  ): Promise<RestAnswer> {
    const startedAtMs = performance.now();
    const deadline = AbortSignal.timeout(deadlineMs);
    try {
      const leftMs = pause.leftMs();
      if (leftMs > MAX_WAIT_MS)
        throw new RpcFault({ kind: "http", isPause: true, method: name, reason: pauseReason(leftMs) });
      if (leftMs > 0) await sleep(leftMs, undefined, signal === undefined ? {} : { signal });
      const sentAtMs = performance.now();
      const answer = await pool.request({
        method,
        path: `${base}${path}`,
        headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
        body: body === undefined ? null : JSON.stringify(body),
        signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
      });
      const { statusCode, headers: received } = answer;
      const header = received["retry-after"];
      const requestedMs = retryAfterMs(Array.isArray(header) ? header[0] : header, undefined, Date.now());
      if (statusCode === 429 || (statusCode >= 500 && requestedMs !== undefined))
        pause.recordRefusal(sentAtMs, requestedMs);
      else if (statusCode < 500) pause.recordSuccess(sentAtMs);
      const text = await readBounded(name, answer.body, maxAnswerBytes);
      options.onCall?.(name, "ok", performance.now() - startedAtMs);
      return {
        status: statusCode,
        json: parse(text),
        text,
        excerpt: redact(text.slice(0, 1_000), options.url),
      };
    } catch (error) {
      options.onCall?.(name, "fault", performance.now() - startedAtMs);
      if (error instanceof RpcFault) throw error;
      if (signal?.aborted === true)
        throw new RpcFault({ kind: "aborted", method: name, reason: "request aborted by the caller" });
      if (deadline.aborted)
        throw new RpcFault({
          kind: "deadline",
          method: name,
          reason: `no complete response within ${deadlineMs} ms`,
        });
      // Messages of network errors may name the host; their codes do not.
      throw new RpcFault({ kind: "network", method: name, reason: `network error ${networkCode(error)}` });
    }
  }

  return {
    get: async (name, path, signal) => await request("GET", name, path, undefined, signal),
    post: async (name, path, body, signal) => await request("POST", name, path, body, signal),
    close: async () => await pool.destroy(),
  };
}

/** The JSON of a response with status 200. @throws RpcFault for any other status or body */
export function jsonOf(name: string, answer: RestAnswer): unknown {
  if (answer.status !== 200)
    throw new RpcFault({
      kind: "http",
      isPause: answer.status === 429,
      method: name,
      reason: `HTTP status ${answer.status}: ${answer.excerpt}`,
    });
  if (answer.json === undefined)
    throw new RpcFault({ kind: "garbage", method: name, reason: `response is not JSON: ${answer.excerpt}` });
  return answer.json;
}

async function readBounded(name: string, body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new RpcFault({ kind: "tooLarge", method: name, reason: `response exceeds ${maxBytes} bytes` });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
