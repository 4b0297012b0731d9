import { Pool, type Dispatcher } from "undici";
import type { ReceivedAnswer } from "./http-answer.ts";
import { createLargeAnswers, type LargeAnswers } from "./large-answers.ts";

/** The target of posts, and its limits. */
export interface PostTarget {
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Keep-alive connections. */
  readonly connections: number;
  readonly maxAnswerBytes: number;
  /** Responses above this many bytes are read a few at a time. Default: 4 MiB. */
  readonly largeAnswerBytes?: number;
}

const LARGE_ANSWER_BYTES = 4 * 1024 * 1024;
/**
 * A parsed response takes several times its bytes in memory, so only few may reach {@link
 * PostTarget.maxAnswerBytes} at once.
 */
const MAX_CONCURRENT_LARGE = 2;

/** The outcome of a POST. */
export type PostOutcome = ReceivedAnswer | { readonly error: unknown };

export interface Poster {
  /**
   * Posts a text; `done` is called once with the outcome, immediately if nothing can be posted. The returned
   * function aborts: nothing further is read.
   */
  post(body: string, done: (outcome: PostOutcome) => void): () => void;
  close(): Promise<void>;
}

/** The error of a request that its caller aborted. Never reported. */
const ABORTED = new Error("request aborted");

/**
 * Posts texts to one target over keep-alive connections; connects at the first post. A body is collected as
 * it arrives, without a stream, a promise or a signal per request: at thousands of requests per second,
 * these cost more than the request.
 */
export function createPoster(target: PostTarget): Poster {
  const { origin, path, headers, connections } = target;
  const bounds = {
    maxAnswerBytes: target.maxAnswerBytes,
    largeAnswerBytes: target.largeAnswerBytes ?? LARGE_ANSWER_BYTES,
    large: createLargeAnswers(MAX_CONCURRENT_LARGE),
  };
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const fields = { ...headers };
  return {
    post: (body, done) => {
      const request = new PostRequest(bounds, done, (handler) => {
        pool.dispatch({ path, method: "POST", headers: fields, body }, handler);
      });
      request.begin();
      return () => request.abort();
    },
    close: async () => await pool.destroy(),
  };
}

interface AnswerBounds {
  readonly maxAnswerBytes: number;
  readonly largeAnswerBytes: number;
  readonly large: LargeAnswers;
}

/**
 * One text and its response, over at most two connections: a keep-alive one may turn out to be dead, and
 * every call here is safe to repeat.
 */
class PostRequest implements Dispatcher.DispatchHandler {
  private readonly bounds: AnswerBounds;
  private readonly done: (end: PostOutcome) => void;
  private readonly dispatch: (handler: Dispatcher.DispatchHandler) => void;
  private controller: Dispatcher.DispatchController | undefined;
  private attempt = 0;
  private status = 0;
  private retryAfter: string | undefined;
  private chunks: Buffer[] = [];
  private bytes = 0;
  private hasEnded = false;
  /** Makes room for another large response; undefined while this response is not large. */
  private leaveLarge: (() => void) | undefined;

  constructor(
    bounds: AnswerBounds,
    done: (end: PostOutcome) => void,
    dispatch: (handler: Dispatcher.DispatchHandler) => void,
  ) {
    this.bounds = bounds;
    this.done = done;
    this.dispatch = dispatch;
  }

  begin(): void {
    this.attempt += 1;
    this.controller = undefined;
    this.release();
    this.bytes = 0;
    this.dispatch(this);
  }

  abort(): void {
    this.end({ error: ABORTED });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Aborted while it waited for a connection.
    if (this.hasEnded) controller.abort(ABORTED);
    else this.controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    this.status = status;
    const retryAfter = headers["retry-after"];
    this.retryAfter = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { maxAnswerBytes, largeAnswerBytes, large } = this.bounds;
    this.bytes += chunk.length;
    if (this.bytes > maxAnswerBytes) {
      this.end({ status: this.status, text: undefined });
      return;
    }
    this.chunks.push(chunk);
    if (this.bytes <= largeAnswerBytes || this.leaveLarge !== undefined) return;
    // The caller's deadline continues in the meantime: a response that waits too long for its turn fails.
    let mustWait = false;
    let isTurn = false;
    this.leaveLarge = large.enter(() => {
      isTurn = true;
      // This runs while undici parses the end of another response, and it cannot parse two at once.
      if (mustWait) queueMicrotask(() => controller.resume());
    });
    if (isTurn) return;
    mustWait = true;
    controller.pause();
  }

  onResponseEnd(): void {
    const [only] = this.chunks;
    const whole =
      this.chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.chunks, this.bytes);
    this.end({ status: this.status, text: whole.toString("utf8"), retryAfter: this.retryAfter });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.hasEnded && this.attempt === 1 && isDeadConnection(error)) this.begin();
    else this.end({ error });
  }

  private end(outcome: PostOutcome): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    const isWhole = "status" in outcome && outcome.text !== undefined;
    // The rest of the response has no reader, so the connection is closed.
    if (!isWhole) this.controller?.abort(ABORTED);
    // Parse this response before the next large one is read.
    this.done(outcome);
    this.release();
  }

  private release(): void {
    this.leaveLarge?.();
    this.leaveLarge = undefined;
    this.chunks = [];
  }
}

function isDeadConnection(error: unknown): boolean {
  return ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].includes(networkCode(error));
}

/** Only the machine-readable code: messages of network errors may name the host or the URL. */
export function networkCode(error: unknown): string {
  for (
    let current = error;
    typeof current === "object" && current !== null;
    current = (current as { cause?: unknown }).cause
  ) {
    const { code } = current as { code?: unknown };
    if (typeof code === "string") return code;
  }
  return "unknown";
}
