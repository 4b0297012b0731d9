import { createEndpointPause, MAX_WAIT_MS, pauseReason } from "./endpoint-pause.ts";
import { errorIn, hasResult, readAnswer } from "./http-answer.ts";
import { createPoster, networkCode, type PostOutcome } from "./http-post.ts";
import { createCall, type RpcRequest, type Call, type CallOptions, type ObserveCall } from "./rpc-call.ts";
import { createRetryBudget } from "./retry-budget.ts";
import { NodeRefusal, redact, RpcFault, withoutSecrets, type RpcFaultFacts } from "@causeway/families";

export type { RpcRequest, CallOptions, CallOutcome, ObserveCall } from "./rpc-call.ts";

export interface RpcTransportOptions {
  /** HTTP(S) URL of the node; user and password become basic authentication. Never shown in errors. */
  readonly url: string;
  /** Maximum calls in one HTTP request. Lowered automatically if the node refuses. Default: 100. */
  readonly maxBatchSize?: number;
  /** Timeout of a complete response, ms. Default: 10,000. */
  readonly deadlineMs?: number;
  /** Maximum bytes of one HTTP response. Default: 32 MiB. */
  readonly maxAnswerBytes?: number;
  /** Keep-alive connections. Default 8. */
  readonly connections?: number;
  /** Called after every call, once its caller got the result; must not throw. Absent: no metrics. */
  readonly onCall?: ObserveCall;
}

/**
 * JSON-RPC calls to one node. All calls of one event-loop tick are sent in one HTTP request, except reads of
 * unlimited size ({@link LARGE_READS}), which have a separate one.
 */
export interface RpcTransport {
  /**
   * The unchanged `result` of the call, including `null`; the caller must validate it.
   *
   * @throws NodeRefusal if the node returned an error, {@link RpcFault} if it gave no usable answer
   */
  request(method: string, params: readonly unknown[], options?: CallOptions): Promise<unknown>;
  /**
   * The results of all `calls`, in order, from one response to a separate HTTP request, so that one node
   * returned them; never split. The caller limits their number.
   *
   * @throws RpcFault if not all of them have a result; of kind `batchRefused` if they cannot be sent together
   */
  requestBatch(calls: readonly RpcRequest[], options?: CallOptions): Promise<readonly unknown[]>;
  /** Milliseconds left of a pause that the endpoint requested; 0 if there is none. Absent: unknown. */
  pauseLeftMs?(): number;
  close(): Promise<void>;
}

/**
 * Methods with responses of unlimited size: gas prices and balances must neither wait for them nor fail with
 * them.
 */
const LARGE_READS: ReadonlySet<string> = new Set([
  "eth_getLogs",
  "eth_getTransactionReceipt",
  "eth_getTransactionByHash",
  "debug_traceCall",
  "eth_simulateV1",
]);

/**
 * Broadcasts, of any chain family: retried only by the payment engine, which first checks whether they were
 * mined.
 */
const BROADCAST = /send|submit/i;

const BATCH_REFUSED =
  "this endpoint does not accept these calls in one batch, so consistent reads from one node are not possible";

/** Pause before a retry, which another backend of a load balancer may answer. */
const RETRY_AFTER_MS = 100;

/** The common facts of calls that fail together. */
type SharedFault = Omit<RpcFaultFacts, "method">;

/**
 * Connects at the first call. Remembers a node that refuses batches: the batch is halved, or sent as single
 * calls, until it accepts. A batch with a response that is too large is requested again call by call, each
 * with the whole size limit and deadline for itself. After a rate limit (HTTP 429 or an equivalent error) or
 * an overload that requests a pause, no request is sent until the pause is over: calls wait for a short pause
 * and fail immediately during a long one. Reads that fail with HTTP 502 or above without requesting a pause
 * are retried once, within the {@link createRetryBudget}.
 */
export function createRpcTransport(options: RpcTransportOptions): RpcTransport {
  const target = splitUrl(options.url);
  const defaultDeadlineMs = options.deadlineMs ?? 10_000;
  const { onCall } = options;
  const maxAnswerBytes = options.maxAnswerBytes ?? 32 * 1024 * 1024;
  const poster = createPoster({ ...target, connections: options.connections ?? 8, maxAnswerBytes });
  const inFlight = new Set<() => void>();
  const configuredBatchSize = Math.max(1, options.maxBatchSize ?? 100);
  let maxBatchSize = configuredBatchSize;
  let loweredAtMs = 0;
  let queued: Call[] = [];
  let nextId = 1;
  let isClosed = false;
  const pause = createEndpointPause();
  const retries = createRetryBudget();

  const flush = (): void => {
    const calls = queued;
    queued = [];
    // The refusal may have been a temporary fault of a proxy, so whole batches are tried again occasionally.
    if (maxBatchSize < configuredBatchSize && performance.now() - loweredAtMs > 60_000)
      maxBatchSize = configuredBatchSize;
    afterPause(calls, send);
  };

  /** Sends calls once the endpoint may be called again. */
  const afterPause = (
    calls: readonly Call[],
    proceed: (calls: readonly Call[]) => void,
    waitedMs = 0,
  ): void => {
    const leftMs = Math.ceil(pause.leftMs());
    if (leftMs === 0) {
      proceed(calls);
      return;
    }
    const [impatient, patient] = partition(
      calls,
      ({ deadlineMs }) => waitedMs + leftMs > Math.min(MAX_WAIT_MS, deadlineMs),
    );
    failAll(impatient, { kind: "http", isPause: true, reason: pauseReason(leftMs) });
    if (patient.length === 0) return;
    const giveUp = (): void => {
      clearTimeout(timer);
      inFlight.delete(giveUp);
      failAll(patient, { kind: "aborted", reason: "connection was closed" });
    };
    const timer = setTimeout(() => {
      inFlight.delete(giveUp);
      afterPause(patient, proceed, waitedMs + leftMs);
    }, leftMs);
    inFlight.add(giveUp);
  };

  /** A batch shares one deadline and one size limit, so calls with different ones are sent separately. */
  const send = (calls: readonly Call[]): void => {
    const first = calls[0];
    if (first === undefined) return;
    const fitsBatch = (call: Call): boolean =>
      call.deadlineMs === first.deadlineMs && LARGE_READS.has(call.method) === LARGE_READS.has(first.method);
    const batch = calls.filter(fitsBatch);
    for (let start = 0; start < batch.length; start += maxBatchSize)
      post(batch.slice(start, start + maxBatchSize));
    if (batch.length < calls.length) send(calls.filter((call) => !fitsBatch(call)));
  };

  /** @param firstSentAtMs when the request was first sent; a retry keeps the original deadline */
  const post = (calls: readonly Call[], maySplit = true, firstSentAtMs?: number): void => {
    const unsettled = calls.some((call) => call.isSettled) ? calls.filter((call) => !call.isSettled) : calls;
    const [first] = unsettled;
    if (first === undefined) return;
    let giveUp = (): void => undefined;
    let hasEnded = false;
    const sentAtMs = performance.now();
    const timer = setTimeout(
      () => {
        failAll(unsettled, {
          kind: "deadline",
          reason: `no complete response within ${first.deadlineMs} ms`,
        });
        giveUp();
      },
      first.deadlineMs - (sentAtMs - (firstSentAtMs ?? sentAtMs)),
    );
    const abort = poster.post(bodyOf(unsettled), (outcome) => {
      hasEnded = true;
      clearTimeout(timer);
      inFlight.delete(giveUp);
      finish(unsettled, outcome, { maySplit, sentAtMs, isRetry: firstSentAtMs !== undefined });
    });
    // It may have ended already.
    if (hasEnded) return;
    giveUp = abort;
    inFlight.add(abort);
  };

  const canRetry = (calls: readonly Call[], sentAtMs: number): boolean => {
    const tookMs = performance.now() - sentAtMs;
    return calls.every(({ method, deadlineMs }) => !BROADCAST.test(method) && tookMs < deadlineMs / 2);
  };

  const retry = (unsettled: readonly Call[], maySplit: boolean, sentAtMs: number): void => {
    for (const { method } of unsettled) onCall?.(method, "retried", performance.now() - sentAtMs);
    const giveUp = (): void => {
      clearTimeout(timer);
      inFlight.delete(giveUp);
      failAll(unsettled, { kind: "aborted", reason: "connection was closed" });
    };
    const timer = setTimeout(() => {
      inFlight.delete(giveUp);
      afterPause(unsettled, (calls) => post(calls, maySplit, sentAtMs), performance.now() - sentAtMs);
    }, RETRY_AFTER_MS);
    inFlight.add(giveUp);
  };

  /** Settles the calls of a finished HTTP request. */
  const finish = (
    unsettled: readonly Call[],
    outcome: PostOutcome,
    {
      maySplit,
      sentAtMs,
      isRetry,
    }: { readonly maySplit: boolean; readonly sentAtMs: number; readonly isRetry: boolean },
  ): void => {
    if ("error" in outcome) {
      if (isClosed) failAll(unsettled, { kind: "aborted", reason: "connection was closed" });
      else failAll(unsettled, { kind: "network", reason: `request failed (${networkCode(outcome.error)})` });
      return;
    }
    const answer = readAnswer(outcome, Date.now());
    if (answer.pause !== undefined)
      pause.recordRefusal(sentAtMs, answer.pause.requestedMs, answer.pause.isOverload);
    else if (outcome.status < 500) {
      pause.recordSuccess(sentAtMs);
      if (outcome.status < 300) retries.recordServed(unsettled.length);
    }
    const mayRetry =
      answer.pause === undefined
        ? outcome.status >= 502
        : answer.pause.isOverload && answer.pause.requestedMs === undefined;
    if (mayRetry && !isRetry && canRetry(unsettled, sentAtMs) && retries.tryTake(unsettled.length)) {
      retry(unsettled, maySplit, sentAtMs);
      return;
    }
    if (answer.kind === "tooLarge") {
      if (unsettled.length > 1 && maySplit) for (const call of unsettled) post([call]);
      else failAll(unsettled, { kind: "tooLarge", reason: `response exceeds ${maxAnswerBytes} bytes` });
      return;
    }
    if (unsettled.length > 1 && answer.refusesBatch !== undefined) {
      if (!maySplit) {
        failAll(unsettled, { kind: "batchRefused", reason: BATCH_REFUSED });
        return;
      }
      const smaller = answer.refusesBatch === "never" ? 1 : Math.floor(unsettled.length / 2);
      maxBatchSize = Math.min(maxBatchSize, smaller);
      loweredAtMs = performance.now();
      send(unsettled);
      return;
    }
    if (unsettled.length > 1 && answer.maxBatch !== undefined) {
      maxBatchSize = Math.min(maxBatchSize, answer.maxBatch);
      loweredAtMs = performance.now();
      if (!maySplit) {
        failAll(unsettled, { kind: "batchRefused", reason: BATCH_REFUSED });
        return;
      }
    }
    if (answer.document === undefined) {
      const kind = answer.status === 200 ? "garbage" : "http";
      const reason = `response is not JSON-RPC (HTTP status ${answer.status}, ${answer.bytes} bytes)`;
      failAll(unsettled, { kind, reason, isPause: answer.status === 429 });
      return;
    }
    deliver(unsettled, answer.document, options.url);
  };

  /** The call, for the caller to send; undefined if it is already settled. */
  const callFor = ({ method, params }: RpcRequest, { deadlineMs, signal }: CallOptions): Call | undefined =>
    isClosed || signal?.aborted === true
      ? undefined
      : createCall({
          id: nextId++,
          method,
          params,
          deadlineMs: deadlineMs ?? defaultDeadlineMs,
          signal,
          onCall,
        });

  const notSentFault = (method: string): RpcFault => {
    const reason = isClosed ? "connection was closed" : "request aborted by the caller";
    return new RpcFault({ kind: "aborted", method, reason });
  };

  return {
    request: async (method, params, callOptions = {}) => {
      const call = callFor({ method, params }, callOptions);
      if (call === undefined) throw notSentFault(method);
      queued.push(call);
      if (queued.length === 1) setImmediate(flush);
      return await call.result;
    },
    requestBatch: async (calls, callOptions = {}) => {
      const method = calls[0]?.method ?? "";
      if (calls.length > configuredBatchSize)
        throw new RpcFault({ kind: "batchRefused", method, reason: BATCH_REFUSED });
      const group: Call[] = [];
      for (const request of calls) {
        const call = callFor(request, callOptions);
        if (call === undefined) throw notSentFault(request.method);
        group.push(call);
      }
      afterPause(group, (unsettled) => post(unsettled, false));
      return await Promise.all(group.map((call) => call.result));
    },
    pauseLeftMs: () => pause.leftMs(),
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      for (const giveUp of inFlight) giveUp();
      await poster.close();
    },
  };
}

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): [first: T[], second: T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

function bodyOf(calls: readonly Call[]): string {
  const [first] = calls;
  if (calls.length === 1 && first !== undefined) return first.body;
  let list = "";
  for (const { body } of calls) list += list === "" ? body : `,${body}`;
  return `[${list}]`;
}

function failAll(calls: readonly Call[], facts: SharedFault): void {
  for (const call of calls) call.fail(new RpcFault({ ...facts, method: call.method }));
}

/** Settles each call with its own answer, or with a fault if it has none. */
function deliver(calls: readonly Call[], document: object, secretUrl: string): void {
  const refusalOfAll = Array.isArray(document) ? undefined : errorIn(document);
  if (refusalOfAll !== undefined && calls.length > 1) {
    for (const call of calls) call.fail(refusalOf(call.method, refusalOfAll, secretUrl));
    return;
  }
  const entries: readonly unknown[] = Array.isArray(document) ? document : [document];
  const answers = answersInOrder(calls, entries) ?? answersById(calls, entries);
  if (answers === undefined) {
    // If one answer belongs to no call, none of them can be trusted.
    failAll(calls, { kind: "garbage", reason: "response ids do not match the request" });
    return;
  }
  for (let index = 0; index < calls.length; index++) {
    const [call, answer] = [calls[index], answers[index]];
    if (call === undefined) continue;
    const error = answer === undefined ? undefined : errorIn(answer);
    if (error !== undefined) {
      call.fail(refusalOf(call.method, error, secretUrl));
    } else if (answer !== undefined && hasResult(answer)) {
      call.succeed(answer["result"]);
    } else {
      call.fail(
        new RpcFault({ kind: "garbage", method: call.method, reason: "response to this call is missing" }),
      );
    }
  }
}

type Entry = Readonly<Record<string, unknown>>;

/** The answers if they are in the order of the calls, as usual; otherwise undefined. */
function answersInOrder(calls: readonly Call[], entries: readonly unknown[]): readonly Entry[] | undefined {
  if (entries.length !== calls.length) return undefined;
  for (let index = 0; index < calls.length; index++)
    if (fieldsOf(entries[index])["id"] !== calls[index]?.id) return undefined;
  return entries as readonly Entry[];
}

/** The answer of each call, in any order; undefined if one belongs to no call, or two to the same. */
function answersById(
  calls: readonly Call[],
  entries: readonly unknown[],
): readonly (Entry | undefined)[] | undefined {
  const [only] = calls;
  const answers = new Map<unknown, Entry | undefined>(calls.map(({ id }) => [id, undefined]));
  for (const entry of entries) {
    const fields = fieldsOf(entry);
    // A node that cannot parse a request responds with the id null.
    const isRefusalOfOne = calls.length === 1 && fields["id"] === null && errorIn(fields) !== undefined;
    const id = isRefusalOfOne ? only?.id : fields["id"];
    if (!answers.has(id) || answers.get(id) !== undefined) return undefined;
    answers.set(id, fields);
  }
  return calls.map(({ id }) => answers.get(id));
}

function fieldsOf(entry: unknown): Entry {
  return typeof entry === "object" && entry !== null ? (entry as Entry) : {};
}

function refusalOf(method: string, error: Record<string, unknown>, secretUrl: string): NodeRefusal {
  const { message, code, data } = error;
  return new NodeRefusal({
    method,
    nodeCode: typeof code === "number" ? code : 0,
    nodeText: redact(typeof message === "string" ? message : "message is missing", secretUrl),
    nodeData: typeof data === "string" ? withoutSecrets(data, secretUrl) : data,
  });
}

function splitUrl(text: string): { origin: string; path: string; headers: Record<string, string> } {
  // The error of URL would quote the text, including credentials.
  if (!URL.canParse(text)) throw new TypeError("httpRpcUrl is not a valid URL");
  const url = new URL(text);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (url.username !== "" || url.password !== "") {
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers["authorization"] = `Basic ${Buffer.from(credentials).toString("base64")}`;
  }
  return { origin: url.origin, path: `${url.pathname}${url.search}`, headers };
}
