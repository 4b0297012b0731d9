import { Pool } from "undici";
import type { PeerEndpoint } from "./peer-list.ts";
import type { PeerOutcome } from "./peer-warning.ts";
import { shareCalls } from "./shared-calls.ts";

/** Another oracle, as aggregation uses it. */
export interface Peer {
  /** Host and path without credentials, for logs. */
  readonly name: string;
  /**
   * Posts JSON text and returns the JSON of a 200 answer. Equal concurrent calls with the same key share one
   * call.
   * @throws PeerFailure for any failure
   */
  query(path: string, requestJson: string, options: QueryOptions): Promise<unknown>;
  /** Closes all connections and aborts their calls. */
  close(): Promise<void>;
}

export interface QueryOptions {
  /** The caller's `x-api-key`, passed on to peers without a credential of their own. */
  readonly incomingKey: string | undefined;
  /** Covers everything: connecting, headers and body. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Why a peer gave no answer. The text contains neither credentials nor text from the peer. */
export class PeerFailure extends Error {
  override readonly name = "PeerFailure";
  readonly kind: PeerOutcome;

  constructor(kind: PeerOutcome, reason: string) {
    super(reason);
    this.kind = kind;
  }
}

/** Even an answer with a thousand signatures is smaller. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** Each pending call uses one connection; waiting for a free one counts toward the call's timeout. */
const MAX_CONNECTIONS = 128;

/**
 * A peer over HTTP with keep-alive connections. Connects at the first call. Follows no redirects (they could
 * leak the key), uses no proxy, and accepts no compressed answers (their size could not be bounded).
 */
export function connectPeer({ baseUrl, credential }: PeerEndpoint): Peer {
  const url = new URL(baseUrl);
  const basePath = url.pathname.replace(/\/+$/, "");
  const pool = new Pool(url.origin, {
    connections: MAX_CONNECTIONS,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: 30_000,
    // Each call has its own timer.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  const post = async (path: string, body: string, key: string | undefined, signal: AbortSignal) => {
    const headers: Record<string, string> = {
      accept: "application/json",
      "accept-encoding": "identity",
      "content-type": "application/json",
    };
    if (key !== undefined) headers["x-api-key"] = key;
    for (let attempt = 1; ; attempt++) {
      try {
        return await pool.request({ method: "POST", path: `${basePath}${path}`, headers, body, signal });
      } catch (error) {
        // A reused connection may have been closed. Calls are idempotent, so retrying is safe.
        const isDead = ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].includes(codeOf(error));
        if (attempt === 2 || !isDead || signal.aborted) throw error;
      }
    }
  };

  const queryOnce = async (
    path: string,
    requestJson: string,
    key: string | undefined,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<unknown> => {
    const abort = new AbortController();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      abort.abort();
    }, timeoutMs);
    const giveUp = (): void => abort.abort();
    signal.addEventListener("abort", giveUp, { once: true });
    try {
      const response = await post(path, requestJson, key, abort.signal);
      const encoding = response.headers["content-encoding"];
      const text = await boundedText(response.body);
      if (response.statusCode !== 200)
        throw new PeerFailure("status", `returned status ${response.statusCode}${codeIn(text)}`);
      if (encoding !== undefined && encoding !== "identity")
        throw new PeerFailure("encoding", "returned an unexpected content encoding");
      return parseJson(text);
    } catch (error) {
      if (error instanceof PeerFailure) throw error;
      if (isLate)
        throw new PeerFailure("timeout", `did not return a complete response within ${timeoutMs} ms`);
      if (signal.aborted) throw new PeerFailure("aborted", "had not responded when the request ended");
      throw new PeerFailure("network", `could not be reached (${codeOf(error)})`);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", giveUp);
    }
  };
  const shared = shareCalls<unknown>();

  return {
    name: `${url.host}${basePath}`,
    async query(path, requestJson, { incomingKey, timeoutMs, signal }) {
      if (signal.aborted) throw new PeerFailure("aborted", "was not queried before the request ended");
      const key = credential ?? incomingKey;
      try {
        return await shared(
          JSON.stringify([path, requestJson, key]),
          async (sharedSignal) => await queryOnce(path, requestJson, key, timeoutMs, sharedSignal),
          signal,
        );
      } catch (error) {
        if (error instanceof PeerFailure) throw error;
        throw new PeerFailure("aborted", "had not responded when the request ended");
      }
    },
    close: async () => await pool.destroy(),
  };
}

async function boundedText(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.byteLength;
    // Leaving the loop destroys the stream and its connection.
    if (bytes > MAX_ANSWER_BYTES)
      throw new PeerFailure("tooLarge", `returned more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes).toString("utf8");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PeerFailure("notJson", "returned invalid JSON");
  }
}

/** The error code of an error answer, if any; the rest of the answer is not safe to log. */
function codeIn(text: string): string {
  try {
    const { code } = (JSON.parse(text) ?? {}) as { readonly code?: unknown };
    return typeof code === "string" && /^[a-z_]{1,40}$/.test(code) ? ` (${code})` : "";
  } catch {
    return "";
  }
}

/** Only the error code: messages of network errors may contain more. */
function codeOf(error: unknown): string {
  for (
    let current = error;
    typeof current === "object" && current !== null;
    current = (current as { cause?: unknown }).cause
  ) {
    const { code } = current as { code?: unknown };
    if (typeof code === "string" && /^[A-Z_0-9]{1,60}$/.test(code)) return code;
  }
  return "unknown";
}
