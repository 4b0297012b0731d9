import { Pool } from "undici";
import { errorIn, hasResult, readAnswer, readBounded, type HttpAnswer } from "./http-answer.ts";
import { NodeRefusal, redact, RpcFault, withoutSecrets, type RpcFaultFacts } from "./rpc-fault.ts";

export interface RpcTransportOptions {
  /** HTTP(S) URL of the node; user and password become basic authorisation. Never shown in errors. */
  readonly url: string;
  /** Most calls in one HTTP request. Lowered by itself when the node refuses. Default 100. */
  readonly maxBatchSize?: number;
  /** Milliseconds from the call to the whole answer. Default 10 000. */
  readonly deadlineMs?: number;
  /** Most bytes of one HTTP answer. Default 32 MiB. */
  readonly maxAnswerBytes?: number;
  /** Keep-alive connections. Default 8. */
  readonly connections?: number;
  /** Told of every call that ended, once its caller knows; must not throw. Nothing is measured without it. */
  readonly onCall?: ObserveCall;
}

/** `ok` and `refused` are the node's answers; `fault` is none: late, broken, or given up by its caller. */
export type CallOutcome = "ok" | "refused" | "fault";

/** `tookMs` reaches from the request to the outcome, the wait for its batch included. Never learns the URL or what was asked. */
export type ObserveCall = (method: string, outcome: CallOutcome, tookMs: number) => void;

export interface AskedCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface CallOptions {
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * JSON-RPC calls to one node. All calls of one event-loop tick travel as one HTTP request, but reads whose size others choose
 * ({@link LARGE_READS}) as one of their own.
 */
export interface RpcTransport {
  /**
   * The `result` of the call as the node gave it, `null` included; its shape is for the caller to check.
   *
   * @throws NodeRefusal when the node answered with an error, {@link RpcFault} when it gave no usable answer.
   */
  request(method: string, params: readonly unknown[], options?: CallOptions): Promise<unknown>;
  /**
   * The results of all `calls`, in their order, out of one HTTP answer to one HTTP request of their own, so that one node gave them: never cut, halved or
   * sent one by one. Whoever needs fewer at once asks less.
   *
   * @throws RpcFault when not all of them have a result; of kind `batchRefused` when they cannot travel together
   */
  requestTogether(calls: readonly AskedCall[], options?: CallOptions): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

/** Whoever pays for blocks decides how much these answer: gas prices and balances shall not wait behind them, nor fail with them. */
const LARGE_READS: ReadonlySet<string> = new Set([
  "eth_getLogs",
  "eth_getTransactionReceipt",
  "eth_getTransactionByHash",
  "debug_traceCall",
  "eth_simulateV1",
]);

const NOT_TOGETHER =
  "this endpoint does not accept these calls in one batch; what must come from one node cannot be asked of it";

interface Call {
  readonly id: number;
  readonly method: string;
  readonly body: string;
  readonly deadlineMs: number;
  settled: boolean;
  succeed(result: unknown): void;
  fail(fault: RpcFault): void;
}

/**
 * Opens nothing until the first call.
 *
 * A node that refuses batches is remembered: the batch is halved, or single calls are made at once, until it accepts. A batch
 * whose answer is too large is asked again call by call, each with the whole bound and deadline for itself.
 */
export function createRpcTransport(options: RpcTransportOptions): RpcTransport {
  const target = splitUrl(options.url);
  const defaultDeadlineMs = options.deadlineMs ?? 10_000;
  const { onCall } = options;
  const maxAnswerBytes = options.maxAnswerBytes ?? 32 * 1024 * 1024;
  const pool = new Pool(target.origin, { connections: options.connections ?? 8, pipelining: 1 });
  const underWay = new Set<AbortController>();
  const wantedBatchSize = Math.max(1, options.maxBatchSize ?? 100);
  let maxBatchSize = wantedBatchSize;
  let loweredAtMs = 0;
  let waiting: Call[] = [];
  let nextId = 1;
  let closed = false;

  const flush = (): void => {
    const calls = waiting;
    waiting = [];
    // The refusal may have been a passing fault of a proxy: try whole batches again once in a while.
    if (maxBatchSize < wantedBatchSize && performance.now() - loweredAtMs > 60_000)
      maxBatchSize = wantedBatchSize;
    send(calls);
  };

  /** A batch shares one deadline and one bound, so calls of different patience or size travel apart. */
  const send = (calls: readonly Call[]): void => {
    const first = calls[0];
    if (first === undefined) return;
    const goesAlong = (call: Call): boolean =>
      call.deadlineMs === first.deadlineMs && LARGE_READS.has(call.method) === LARGE_READS.has(first.method);
    const together = calls.filter(goesAlong);
    for (let at = 0; at < together.length; at += maxBatchSize)
      void post(together.slice(at, at + maxBatchSize));
    if (together.length < calls.length) send(calls.filter((call) => !goesAlong(call)));
  };

  const post = async (calls: readonly Call[], mayPart = true): Promise<void> => {
    const open = calls.filter((call) => !call.settled);
    const first = open[0];
    if (first === undefined) return;
    const body = open.length === 1 ? first.body : `[${open.map((call) => call.body).join(",")}]`;
    const failAll = (facts: Omit<RpcFaultFacts, "method">): void => {
      for (const call of open) call.fail(new RpcFault({ ...facts, method: call.method }));
    };
    const abort = new AbortController();
    underWay.add(abort);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      abort.abort();
    }, first.deadlineMs);
    try {
      const answer = await postOnce(body, abort.signal);
      if (answer.kind === "tooLarge") {
        if (open.length > 1 && mayPart) {
          for (const call of open) void post([call]);
          return;
        }
        failAll({ kind: "tooLarge", reason: `the answer exceeds ${maxAnswerBytes} bytes` });
        return;
      }
      if (open.length > 1 && answer.refusesBatch !== undefined) {
        if (!mayPart) {
          failAll({ kind: "batchRefused", reason: NOT_TOGETHER });
          return;
        }
        const smaller = answer.refusesBatch === "never" ? 1 : Math.floor(open.length / 2);
        maxBatchSize = Math.min(maxBatchSize, smaller);
        loweredAtMs = performance.now();
        send(open);
        return;
      }
      if (answer.document === undefined) {
        const kind = answer.status === 200 ? "garbage" : "http";
        failAll({ kind, reason: `no JSON-RPC answer (HTTP status ${answer.status}, ${answer.bytes} bytes)` });
        return;
      }
      deliver(open, answer.document, failAll, options.url);
    } catch (error) {
      if (late) failAll({ kind: "deadline", reason: `no whole answer within ${first.deadlineMs} ms` });
      else if (closed) failAll({ kind: "aborted", reason: "the connection was closed" });
      else failAll({ kind: "network", reason: `request failed (${networkCode(error)})` });
    } finally {
      clearTimeout(timer);
      underWay.delete(abort);
    }
  };

  /** Tries a second time when a kept-alive connection turned out to be dead; every call here may safely be made twice. */
  const postOnce = async (body: string, signal: AbortSignal): Promise<HttpAnswer> => {
    for (let attempt = 1; ; attempt++) {
      try {
        const { statusCode, body: stream } = await pool.request({
          path: target.path,
          method: "POST",
          headers: target.headers,
          body,
          signal,
        });
        return readAnswer(statusCode, await readBounded(stream, maxAnswerBytes));
      } catch (error) {
        const dead = ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].includes(networkCode(error));
        if (attempt === 2 || !dead || signal.aborted) throw error;
      }
    }
  };

  /** One call, handed to `dispatch` before this returns, unless nothing is to be asked any more. */
  const ask = async (
    { method, params }: AskedCall,
    callOptions: CallOptions,
    dispatch: (call: Call) => void,
  ): Promise<unknown> =>
    await new Promise<unknown>((resolve, reject) => {
      const { signal } = callOptions;
      if (closed || signal?.aborted === true) {
        const reason = closed ? "the connection was closed" : "the caller gave up";
        reject(new RpcFault({ kind: "aborted", method, reason }));
        return;
      }
      const id = nextId++;
      const startedAtMs = onCall === undefined ? 0 : performance.now();
      const onAbort = (): void =>
        call.fail(new RpcFault({ kind: "aborted", method, reason: "the caller gave up" }));
      const settle = (): boolean => {
        if (call.settled) return false;
        call.settled = true;
        signal?.removeEventListener("abort", onAbort);
        return true;
      };
      const call: Call = {
        id,
        method,
        body: `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}`,
        deadlineMs: callOptions.deadlineMs ?? defaultDeadlineMs,
        settled: false,
        succeed: (result) => {
          if (!settle()) return;
          resolve(result);
          onCall?.(method, "ok", performance.now() - startedAtMs);
        },
        fail: (fault) => {
          if (!settle()) return;
          reject(fault);
          onCall?.(
            method,
            fault instanceof NodeRefusal ? "refused" : "fault",
            performance.now() - startedAtMs,
          );
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      dispatch(call);
    });

  return {
    request: async (method, params, callOptions = {}) =>
      await ask({ method, params }, callOptions, (call) => {
        waiting.push(call);
        if (waiting.length === 1) setImmediate(flush);
      }),
    requestTogether: async (calls, callOptions = {}) => {
      if (calls.length > wantedBatchSize)
        throw new RpcFault({ kind: "batchRefused", method: calls[0]?.method ?? "", reason: NOT_TOGETHER });
      const group: Call[] = [];
      const results = calls.map(async (call) => await ask(call, callOptions, (made) => group.push(made)));
      void post(group, false);
      return await Promise.all(results);
    },
    close: async () => {
      if (closed) return;
      closed = true;
      for (const abort of underWay) abort.abort();
      await pool.destroy();
    },
  };
}

/** Gives each call its own answer, and a fault to each that has none. */
function deliver(
  calls: readonly Call[],
  document: object,
  failAll: (facts: Omit<RpcFaultFacts, "method">) => void,
  secretUrl: string,
): void {
  const refusalOfAll = Array.isArray(document) ? undefined : errorIn(document);
  if (refusalOfAll !== undefined && calls.length > 1) {
    for (const call of calls) call.fail(refusalOf(call.method, refusalOfAll, secretUrl));
    return;
  }
  const entries: readonly unknown[] = Array.isArray(document) ? document : [document];
  const byId = new Map(calls.map((call) => [call.id, call]));
  const answers = new Map<number, Record<string, unknown>>();
  for (const entry of entries) {
    const fields = typeof entry === "object" && entry !== null ? (entry as Record<string, unknown>) : {};
    // A node that cannot read a request answers with the id null.
    const id =
      calls.length === 1 && fields["id"] === null && errorIn(fields) !== undefined
        ? calls[0]?.id
        : fields["id"];
    if (typeof id !== "number" || !byId.has(id) || answers.has(id)) {
      // One answer that is not ours means none of them can be trusted to be.
      failAll({ kind: "garbage", reason: "the answer's ids are not those of the request" });
      return;
    }
    answers.set(id, fields);
  }
  for (const call of calls) {
    const answer = answers.get(call.id);
    const error = answer === undefined ? undefined : errorIn(answer);
    if (error !== undefined) {
      call.fail(refusalOf(call.method, error, secretUrl));
    } else if (answer !== undefined && hasResult(answer)) {
      call.succeed(answer["result"]);
    } else {
      call.fail(new RpcFault({ kind: "garbage", method: call.method, reason: "no answer to this call" }));
    }
  }
}

function refusalOf(method: string, error: Record<string, unknown>, secretUrl: string): NodeRefusal {
  const { message, code, data } = error;
  return new NodeRefusal({
    method,
    nodeCode: typeof code === "number" ? code : 0,
    nodeText: redact(typeof message === "string" ? message : "no message", secretUrl),
    nodeData: typeof data === "string" ? withoutSecrets(data, secretUrl) : data,
  });
}

/** Only the machine-readable code: messages of network errors may name the host or the URL. */
function networkCode(error: unknown): string {
  for (let at = error; typeof at === "object" && at !== null; at = (at as { cause?: unknown }).cause) {
    const { code } = at as { code?: unknown };
    if (typeof code === "string") return code;
  }
  return "unknown";
}

function splitUrl(text: string): { origin: string; path: string; headers: Record<string, string> } {
  // URL's own error would quote the text, credentials included.
  if (!URL.canParse(text)) throw new TypeError("the RPC URL is not a URL");
  const url = new URL(text);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (url.username !== "" || url.password !== "") {
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers["authorization"] = `Basic ${Buffer.from(credentials).toString("base64")}`;
  }
  return { origin: url.origin, path: `${url.pathname}${url.search}`, headers };
}
