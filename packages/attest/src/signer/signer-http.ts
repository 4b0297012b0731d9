import { Pool } from "undici";
import { SignerUnavailable, type SignerFault } from "./signer-unavailable.ts";

export interface SignerRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a string is sent unchanged. */
  readonly body?: unknown;
}

/** HTTP client for signing services. */
export interface SignerHttp {
  /**
   * The body of a 200 answer: parsed JSON, or the text if it is not JSON.
   * @throws SignerUnavailable for every other outcome; its text reveals nothing of the request or the answer
   */
  call(request: SignerRequest): Promise<unknown>;
  close(): Promise<void>;
}

export interface SignerHttpOptions {
  readonly origin: string;
  /** Unix socket to connect to instead of the origin's host. */
  readonly socketPath?: string | undefined;
  /** Timeout of one call, including connecting and reading the body, ms. Default: 5000. */
  readonly deadlineMs?: number | undefined;
}

const CONNECTIONS = 16;
const MAX_ANSWER_BYTES = 256 * 1024;
const DEAD_CONNECTION: readonly unknown[] = ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"];

/** Follows no redirects and uses no proxy: both could leak credentials. Connects with the first call. */
export function signerHttp({ origin, socketPath, deadlineMs = 5_000 }: SignerHttpOptions): SignerHttp {
  const pool = new Pool(origin, {
    connections: CONNECTIONS,
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(socketPath === undefined ? {} : { socketPath }),
  });

  async function send({ method, path, headers, body }: SignerRequest, signal: AbortSignal): Promise<unknown> {
    const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
    const response = await pool.request({
      method,
      path,
      signal,
      headers: {
        accept: "application/json",
        "accept-encoding": "identity",
        ...(text === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(text === undefined ? {} : { body: text }),
    });
    const answer = await boundedText(response.body);
    if (response.statusCode !== 200) throw new SignerUnavailable(faultOfStatus(response.statusCode));
    return parseJsonOrText(answer);
  }

  return {
    async call(request) {
      const signal = AbortSignal.timeout(deadlineMs);
      try {
        try {
          return await send(request, signal);
        } catch (error) {
          // A reused connection may have been closed. Signing twice does no harm.
          if (signal.aborted || !DEAD_CONNECTION.includes(codeOf(error))) throw error;
          return await send(request, signal);
        }
      } catch (error) {
        if (error instanceof SignerUnavailable) throw error;
        throw new SignerUnavailable(signal.aborted ? "timeout" : "unreachable");
      }
    },
    close: async () => await pool.destroy(),
  };
}

function faultOfStatus(status: number): SignerFault {
  if (status === 401 || status === 403) return "refused";
  if (status === 404) return "unknown-key";
  if (status === 408 || status === 504) return "timeout";
  if (status === 429) return "throttled";
  return status >= 400 && status < 500 ? "refused" : "unreachable";
}

async function boundedText(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new SignerUnavailable("bad-answer");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
