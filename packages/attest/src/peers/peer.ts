import { Pool } from "undici";
import type { PeerEndpoint } from "./peer-list.ts";
import type { PeerOutcome } from "./peer-warning.ts";
import { shareCalls } from "./shared-calls.ts";

/** One other oracle, as aggregation sees it. */
export interface Peer {
  /** Host and path without credentials: for logs. */
  readonly name: string;
  /**
   * Posts JSON text and gives the JSON of a 200 answer. Equal calls at the same time with the same key are
   * one call.
   * @throws PeerFailure, whatever went wrong.
   */
  ask(path: string, requestJson: string, options: AskOptions): Promise<unknown>;
  /** Ends all connections, and what is asked over them. */
  close(): Promise<void>;
}

export interface AskOptions {
  /** The caller's `x-api-key`: passed on to peers that gave us no key of our own. */
  readonly incomingKey: string | undefined;
  /** Bounds everything: connecting, headers and body. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Why a peer gave no answer. Its text holds neither credentials nor what the peer wrote. */
export class PeerFailure extends Error {
  override readonly name = "PeerFailure";
  readonly kind: PeerOutcome;

  constructor(kind: PeerOutcome, reason: string) {
    super(reason);
    this.kind = kind;
  }
}

/** An answer with a thousand signatures has less; more is no answer. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** Each call under way holds one. What waits for one waits within its own time. */
const MAX_CONNECTIONS = 128;

/**
 * A peer over HTTP, with connections that are kept open between requests. Opens nothing before it is asked.
 * Follows no redirect (it would carry the key elsewhere), knows no proxy, and takes no compressed answer (its
 * size could not be bounded).
 */
export function connectPeer({ baseUrl, credential }: PeerEndpoint): Peer {
  const url = new URL(baseUrl);
  const basePath = url.pathname.replace(/\/+$/, "");
  const pool = new Pool(url.origin, {
    connections: MAX_CONNECTIONS,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: 30_000,
    // The time of each call is bounded by its own timer.
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
        // A kept connection may have died meanwhile. To be asked twice changes nothing at the peer.
        const isDead = ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].includes(codeOf(error));
        if (attempt === 2 || !isDead || signal.aborted) throw error;
      }
    }
  };

  const askOnce = async (
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
    async ask(path, requestJson, { incomingKey, timeoutMs, signal }) {
      if (signal.aborted) throw new PeerFailure("aborted", "was not queried before the request ended");
      const key = credential ?? incomingKey;
      try {
        return await shared(
          JSON.stringify([path, requestJson, key]),
          async (all) => await askOnce(path, requestJson, key, timeoutMs, all),
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
    // Leaving the loop destroys the stream, and its connection with it.
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

/** The machine word of an error answer, when it has one; nothing else of it is fit to be logged. */
function codeIn(text: string): string {
  try {
    const { code } = (JSON.parse(text) ?? {}) as { readonly code?: unknown };
    return typeof code === "string" && /^[a-z_]{1,40}$/.test(code) ? ` (${code})` : "";
  } catch {
    return "";
  }
}

/** Only the machine-readable code: messages of network errors may name more. */
function codeOf(error: unknown): string {
  for (let at = error; typeof at === "object" && at !== null; at = (at as { cause?: unknown }).cause) {
    const { code } = at as { code?: unknown };
    if (typeof code === "string" && /^[A-Z_0-9]{1,60}$/.test(code)) return code;
  }
  return "unknown";
}
