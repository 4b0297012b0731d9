import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { createEndpointPause, MAX_WAIT_MS, pauseReason } from "./endpoint-pause.ts";
import { networkCode } from "./http-post.ts";
import { redact, RpcFault } from "@causeway/families";
import { pauseAskedBy } from "./asked-pause.ts";
import type { ObserveCall } from "./rpc-call.ts";

export interface RestClientOptions {
  /**
   * HTTP(S) URL below which all paths lie; user and password become basic authorisation. Never shown in
   * errors.
   */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds from the question to the whole answer. Default 10 000. */
  readonly deadlineMs?: number;
  /** Most bytes of one answer. Default 8 MiB. */
  readonly maxAnswerBytes?: number;
  /** Keep-alive connections. Default 8. */
  readonly connections?: number;
  /** Called after every call ended; its "method" is the name given to the call. */
  readonly onCall?: ObserveCall;
}

/**
 * What a server answered with a status of its own. What a status other than 200 means is for the caller:
 * nodes say "unknown transaction" with 404 or 500.
 */
export interface RestAnswer {
  readonly status: number;
  /** The parsed JSON; undefined when the body is none. */
  readonly json: unknown;
  /** The whole body as it came, for those who must read numbers that a double cannot hold. */
  readonly text: string;
  /** The body as text, cut to 300 characters and without secrets, for errors. */
  readonly excerpt: string;
}

/** JSON over plain HTTP, as exchanges, explorers and some nodes speak it. */
export interface RestClient {
  /**
   * @param name what the call is called in errors and measurements: never the path, which may hold secrets.
   * @throws RpcFault when there is no whole answer.
   */
  get(name: string, path: string, signal?: AbortSignal): Promise<RestAnswer>;
  /** @throws RpcFault as `get` */
  post(name: string, path: string, body: unknown, signal?: AbortSignal): Promise<RestAnswer>;
  close(): Promise<void>;
}

/**
 * Opens nothing until the first call. Waits as an answer with status 429, or a Retry-After, asks.
 *
 * @throws TypeError when `url` is none
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

  async function ask(
    method: "GET" | "POST",
    name: string,
    path: string,
    body: unknown,
    signal: AbortSignal | undefined,
  ): Promise<RestAnswer> {
    const startedAtMs = performance.now();
    const late = AbortSignal.timeout(deadlineMs);
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
        signal: signal === undefined ? late : AbortSignal.any([late, signal]),
      });
      const { statusCode, headers: received } = answer;
      const header = received["retry-after"];
      const askedMs = pauseAskedBy(Array.isArray(header) ? header[0] : header, undefined, Date.now());
      if (statusCode === 429 || (statusCode >= 500 && askedMs !== undefined))
        pause.refused(sentAtMs, askedMs);
      else if (statusCode < 500) pause.served(sentAtMs);
      const text = await bounded(name, answer.body, maxAnswerBytes);
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
      if (late.aborted)
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
    get: async (name, path, signal) => await ask("GET", name, path, undefined, signal),
    post: async (name, path, body, signal) => await ask("POST", name, path, body, signal),
    close: async () => await pool.destroy(),
  };
}

/** The JSON of an answer with status 200. @throws RpcFault for any other status, and for what is no JSON */
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

async function bounded(name: string, body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
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
