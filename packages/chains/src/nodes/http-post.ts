import { Pool, type Dispatcher } from "undici";
import type { ReceivedAnswer } from "./http-answer.ts";
import { largeAnswers, type LargeAnswers } from "./large-answers.ts";

/** Where texts are posted, and how much may come back. */
export interface PostTarget {
  readonly origin: string;
  /** With query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Keep-alive connections. */
  readonly connections: number;
  readonly maxAnswerBytes: number;
  /** Answers above so many bytes are read whole a few at once. Default 4 MiB. */
  readonly largeAnswerBytes?: number;
}

const LARGE_ANSWER_BYTES = 4 * 1024 * 1024;
/**
 * Parsed, an answer takes several times its bytes in memory: {@link PostTarget.maxAnswerBytes} must hold for
 * few at once.
 */
const LARGE_AT_ONCE = 2;

/** How a POST ended. */
export type PostEnd = ReceivedAnswer | { readonly error: unknown };

export interface Poster {
  /**
   * Posts a text; `done` is called once with the outcome, at once when nothing can be posted. The returned
   * function gives up: whatever still arrives is not read.
   */
  post(body: string, done: (end: PostEnd) => void): () => void;
  close(): Promise<void>;
}

/** Aborts the request of a caller who gave up. Never reported to anyone else. */
const GIVEN_UP = new Error("request aborted");

/**
 * Posts texts to one place over kept-alive connections; opens nothing until the first. A body is collected as
 * it comes, without a stream, a promise or a signal per exchange: at thousands of exchanges per second they
 * cost more than the exchange.
 */
export function createPoster(target: PostTarget): Poster {
  const { origin, path, headers, connections } = target;
  const bounds = {
    maxAnswerBytes: target.maxAnswerBytes,
    largeAnswerBytes: target.largeAnswerBytes ?? LARGE_ANSWER_BYTES,
    large: largeAnswers(LARGE_AT_ONCE),
  };
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const fields = { ...headers };
  return {
    post: (body, done) => {
      const exchange = new Exchange(bounds, done, (handler) => {
        pool.dispatch({ path, method: "POST", headers: fields, body }, handler);
      });
      exchange.begin();
      return () => exchange.giveUp();
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
 * One text and its answer, over at most two connections: a kept-alive one may turn out to be dead, and every
 * call here may safely be made twice.
 */
class Exchange implements Dispatcher.DispatchHandler {
  private readonly bounds: AnswerBounds;
  private readonly done: (end: PostEnd) => void;
  private readonly dispatch: (handler: Dispatcher.DispatchHandler) => void;
  private controller: Dispatcher.DispatchController | undefined;
  private attempt = 0;
  private status = 0;
  private retryAfter: string | undefined;
  private chunks: Buffer[] = [];
  private bytes = 0;
  private hasEnded = false;
  /** Gives back its room among large answers; undefined: it is not large so far. */
  private leave: (() => void) | undefined;

  constructor(
    bounds: AnswerBounds,
    done: (end: PostEnd) => void,
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

  giveUp(): void {
    this.end({ error: GIVEN_UP });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Given up while it waited for a connection.
    if (this.hasEnded) controller.abort(GIVEN_UP);
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
    if (this.bytes <= largeAnswerBytes || this.leave !== undefined) return;
    // The caller's deadline goes on meanwhile: an answer that waits too long for its turn is none.
    let mustWait = false;
    let isTurn = false;
    this.leave = large.enter(() => {
      isTurn = true;
      // Its turn comes while the end of another answer is being parsed, and undici parses one at a time.
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

  private end(how: PostEnd): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    const isWhole = "status" in how && how.text !== undefined;
    // The rest of the answer has no reader; the connection closes with it.
    if (!isWhole) this.controller?.abort(GIVEN_UP);
    // It is parsed before the next large one is read.
    this.done(how);
    this.release();
  }

  private release(): void {
    this.leave?.();
    this.leave = undefined;
    this.chunks = [];
  }
}

function isDeadConnection(error: unknown): boolean {
  return ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].includes(networkCode(error));
}

/** Only the machine-readable code: messages of network errors may name the host or the URL. */
export function networkCode(error: unknown): string {
  for (let at = error; typeof at === "object" && at !== null; at = (at as { cause?: unknown }).cause) {
    const { code } = at as { code?: unknown };
    if (typeof code === "string") return code;
  }
  return "unknown";
}
