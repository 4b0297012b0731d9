import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A JSON-RPC error of a method. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** One received call. */
export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Number of earlier calls of this method since the last change of the faults. */
  readonly before: number;
}

/** A fault to inject into a call. */
export type InjectedFault =
  | { readonly kind: "error"; readonly code: number; readonly message: string }
  /** Replaces the honest result. */
  | { readonly kind: "lie"; readonly tell: (honest: unknown) => unknown }
  /** Runs the method, but returns an error. */
  | { readonly kind: "doneButFailed" }
  /** Cuts the connection. */
  | { readonly kind: "cut" }
  | { readonly kind: "late"; readonly ms: number };

export type Methods = ReadonlyMap<string, (params: readonly unknown[]) => unknown>;

export interface RpcServer {
  readonly url: string;
  /** Chooses the fault of each call from now on; undefined: none. */
  injectFaults(choose: ((call: RpcCall) => InjectedFault | undefined) | undefined): void;
  /** Number of calls of a method so far. */
  calls(method: string): number;
  close(): Promise<void>;
}

/** JSON-RPC 2.0 over HTTP on 127.0.0.1, single calls and batches. */
export async function startRpcServer(methods: Methods, port: number): Promise<RpcServer> {
  const counts = new Map<string, number>();
  let countsSinceChange = new Map<string, number>();
  let choose: ((call: RpcCall) => InjectedFault | undefined) | undefined;

  const answer = async (call: unknown): Promise<object | "cut"> => {
    const { id, method, params } = readCall(call);
    if (method === undefined)
      return { jsonrpc: "2.0", id: null, error: { code: -32600, message: "Invalid request" } };
    counts.set(method, (counts.get(method) ?? 0) + 1);
    const before = countsSinceChange.get(method) ?? 0;
    countsSinceChange.set(method, before + 1);
    const fault = choose?.({ method, params, before });
    if (fault?.kind === "cut") return "cut";
    if (fault?.kind === "late") await sleep(fault.ms);
    if (fault?.kind === "error")
      return { jsonrpc: "2.0", id, error: { code: fault.code, message: fault.message } };
    try {
      const run = methods.get(method);
      if (run === undefined) throw new RpcError(-32601, `Method not found: ${method}`);
      const result = await run(params);
      if (fault?.kind === "doneButFailed") throw new RpcError(-32603, "Internal error");
      return { jsonrpc: "2.0", id, result: fault?.kind === "lie" ? fault.tell(result) : result };
    } catch (error) {
      const rpcError = error instanceof RpcError ? error : new RpcError(-32603, String(error));
      const data = rpcError.data === undefined ? {} : { data: rpcError.data };
      return { jsonrpc: "2.0", id, error: { code: rpcError.code, message: rpcError.message, ...data } };
    }
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    let body: unknown;
    try {
      body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    } catch {
      body = undefined;
    }
    const answers: (object | "cut")[] = [];
    for (const call of Array.isArray(body) ? (body as unknown[]) : [body]) answers.push(await answer(call));
    if (answers.includes("cut")) {
      response.destroy();
      return;
    }
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0], exact));
  };

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    injectFaults: (next) => {
      choose = next;
      countsSinceChange = new Map();
    },
    calls: (method) => counts.get(method) ?? 0,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function readCall(call: unknown): { id: unknown; method: string | undefined; params: readonly unknown[] } {
  if (typeof call !== "object" || call === null) return { id: null, method: undefined, params: [] };
  const { id, method, params } = call as Record<string, unknown>;
  return {
    id,
    method: typeof method === "string" ? method : undefined,
    params: Array.isArray(params) ? (params as unknown[]) : [],
  };
}

/** Lamports are JSON numbers, as in real nodes; above 2^53, a JavaScript number would be inexact. */
function exact(_key: string, value: unknown): unknown {
  if (typeof value !== "bigint") return value;
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error("number is too large for JSON");
  return Number(value);
}
