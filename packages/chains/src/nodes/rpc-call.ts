import { NodeRefusal, RpcFault } from "@causeway/families";

/**
 * `ok` and `refused` are answers of the node; `fault` means no answer: late, broken, or aborted by the
 * caller. `retried` is not final: the call failed and was sent again.
 */
export type CallOutcome = "ok" | "refused" | "fault" | "retried";

/**
 * `tookMs` is the time from the request to the outcome, including the wait for its batch. Gets neither the
 * URL nor the parameters.
 */
export type ObserveCall = (method: string, outcome: CallOutcome, tookMs: number) => void;

export interface RpcRequest {
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface CallOptions {
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

/** One call, from the request to its single outcome. */
export interface Call {
  readonly id: number;
  readonly method: string;
  /** In wire format. */
  readonly body: string;
  readonly deadlineMs: number;
  readonly result: Promise<unknown>;
  readonly isSettled: boolean;
  /** Has no effect once the call is settled, like {@link fail}. */
  succeed(result: unknown): void;
  fail(fault: RpcFault): void;
}

export interface CallFacts extends RpcRequest {
  readonly id: number;
  readonly deadlineMs: number;
  /** Not aborted yet. */
  readonly signal: AbortSignal | undefined;
  /** Called after the caller got the outcome. */
  readonly onCall: ObserveCall | undefined;
}

export function createCall(facts: CallFacts): Call {
  return new TrackedCall(facts);
}

/** A class for speed, since each response of a service needs several calls. */
class TrackedCall implements Call {
  readonly id: number;
  readonly method: string;
  readonly body: string;
  readonly deadlineMs: number;
  readonly result: Promise<unknown>;
  isSettled = false;
  private readonly startedAtMs: number;
  private readonly signal: AbortSignal | undefined;
  private readonly onAbort: (() => void) | undefined;
  private readonly onCall: ObserveCall | undefined;
  private resolve!: (result: unknown) => void;
  private reject!: (fault: RpcFault) => void;

  constructor({ id, method, params, deadlineMs, signal, onCall }: CallFacts) {
    this.id = id;
    this.method = method;
    this.body = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}`;
    this.deadlineMs = deadlineMs;
    this.onCall = onCall;
    this.startedAtMs = onCall === undefined ? 0 : performance.now();
    this.result = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.signal = signal;
    if (signal === undefined) {
      this.onAbort = undefined;
      return;
    }
    this.onAbort = () =>
      this.fail(new RpcFault({ kind: "aborted", method, reason: "request aborted by the caller" }));
    signal.addEventListener("abort", this.onAbort, { once: true });
  }

  succeed(result: unknown): void {
    if (!this.settle()) return;
    this.resolve(result);
    this.onCall?.(this.method, "ok", performance.now() - this.startedAtMs);
  }

  fail(fault: RpcFault): void {
    if (!this.settle()) return;
    this.reject(fault);
    const outcome = fault instanceof NodeRefusal ? "refused" : "fault";
    this.onCall?.(this.method, outcome, performance.now() - this.startedAtMs);
  }

  private settle(): boolean {
    if (this.isSettled) return false;
    this.isSettled = true;
    if (this.onAbort !== undefined) this.signal?.removeEventListener("abort", this.onAbort);
    return true;
  }
}
