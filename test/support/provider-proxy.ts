import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket, WebSocketServer } from "ws";

/** A call that a client sent. */
export interface ProviderCall {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** The answer to a call. */
export type Reply =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } };

/** Forwards a call to the honest node. */
export type AskNode = (method: string, params: readonly unknown[]) => Promise<Reply>;

/** One HTTP request. `number` counts from 0 since the behavior began. */
export interface ProviderRequest {
  readonly number: number;
  readonly calls: readonly ProviderCall[];
  readonly isBatch: boolean;
  /** Milliseconds since the behavior began. */
  readonly sinceMs: number;
}

/** An HTTP answer instead of the node's. A body that is not text is sent as JSON. */
export interface HttpReply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How a provider differs from the node behind it. An empty object means no difference. */
export interface ProviderBehavior {
  readonly delayMs?: number;
  /** Answers a whole HTTP request instead of the node. Undefined forwards the request. */
  readonly answer?: (request: ProviderRequest) => HttpReply | undefined;
  /** Answers a call instead of the node. Undefined forwards the call. */
  readonly reply?: (
    call: ProviderCall,
    node: AskNode,
    request: ProviderRequest,
  ) => Reply | undefined | Promise<Reply | undefined>;
  /** Closes the connection in the middle of the answer, or truncates the JSON in the body. */
  readonly cut?: (request: ProviderRequest) => "connection" | "json" | undefined;
  readonly socket?: {
    readonly isRefused?: boolean;
    readonly refusesSubscriptions?: boolean;
    readonly dropsAfterMs?: number;
    /** Whether sockets stay open but deliver no notification. */
    readonly isSilent?: boolean;
  };
}

/** What the provider received since its behavior began. WebSocket messages do not count. */
export interface ProviderCounts {
  readonly httpRequests: number;
  readonly calls: number;
  /** HTTP requests and calls that the node did not answer. */
  readonly deviations: number;
}

export interface ProviderProxy {
  readonly url: string;
  readonly wsUrl: string;
  /** Sets a new behavior, restarts the counts at zero, and closes the open WebSockets. */
  behave(behavior: ProviderBehavior): void;
  readonly counts: ProviderCounts;
  stop(): Promise<void>;
}

/** A real server on a real port in front of a node that serves HTTP and WebSocket at `nodeUrl`. */
export async function startProviderProxy(nodeUrl: string): Promise<ProviderProxy> {
  let behavior: ProviderBehavior = {};
  let beganAtMs = performance.now();
  let counts = { httpRequests: 0, calls: 0, deviations: 0 };
  const sockets = new Set<WebSocket>();
  const node: AskNode = async (method, params) => {
    const {
      id: _,
      jsonrpc: __,
      ...reply
    } = (await askNode(nodeUrl, method, params)) as Reply & {
      id: unknown;
      jsonrpc: unknown;
    };
    return reply;
  };

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const document = JSON.parse(await textOf(incoming)) as ProviderCall | readonly ProviderCall[];
    const calls = [document].flat() as readonly ProviderCall[];
    const current = behavior;
    const request: ProviderRequest = {
      number: counts.httpRequests++,
      calls,
      isBatch: Array.isArray(document),
      sinceMs: performance.now() - beganAtMs,
    };
    counts.calls += calls.length;
    if (current.delayMs !== undefined) await sleep(current.delayMs);
    const instead = current.answer?.(request);
    if (instead !== undefined) {
      counts.deviations++;
      const { status, body, headers } = instead;
      const text = typeof body === "string" ? body : JSON.stringify(body);
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
      return;
    }
    const replies = await Promise.all(
      calls.map(async (call) => {
        const changedReply = await current.reply?.(call, node, request);
        if (changedReply !== undefined) counts.deviations++;
        return { jsonrpc: "2.0", id: call.id, ...(changedReply ?? (await node(call.method, call.params))) };
      }),
    );
    const text = JSON.stringify(request.isBatch ? replies : replies[0]);
    const cut = current.cut?.(request);
    if (cut !== undefined) counts.deviations++;
    response.writeHead(200, { "content-type": "application/json" });
    if (cut === "connection") response.write(text.slice(0, text.length / 2), () => response.destroy());
    else response.end(cut === "json" ? text.slice(0, text.length / 2) : text);
  };

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy());
  });
  const accepting = new WebSocketServer({ noServer: true });
  server.on("upgrade", (incoming, connection, head) => {
    const { socket: socketBehavior = {} } = behavior;
    if (socketBehavior.isRefused === true) {
      counts.deviations++;
      connection.end("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
      return;
    }
    accepting.handleUpgrade(incoming, connection, head, (client) => {
      sockets.add(client);
      client.on("close", () => sockets.delete(client));
      join(client, new WebSocket(nodeUrl.replace(/^http/, "ws")), socketBehavior);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    behave: (next) => {
      behavior = next;
      beganAtMs = performance.now();
      counts = { httpRequests: 0, calls: 0, deviations: 0 };
      for (const socket of sockets) socket.terminate();
    },
    get counts() {
      return counts;
    },
    stop: async () => {
      for (const socket of sockets) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Forwards messages in both directions, except those that the behavior suppresses. */
function join(
  client: WebSocket,
  node: WebSocket,
  socketBehavior: NonNullable<ProviderBehavior["socket"]>,
): void {
  const waiting: string[] = [];
  const drop =
    socketBehavior.dropsAfterMs === undefined
      ? undefined
      : setTimeout(() => client.terminate(), socketBehavior.dropsAfterMs);
  client.on("message", (data: Buffer) => {
    const text = data.toString("utf8");
    if (socketBehavior.refusesSubscriptions === true) {
      const { id } = JSON.parse(text) as ProviderCall;
      const message = "The method eth_subscribe does not exist/is not available";
      client.send(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_601, message } }));
    } else if (node.readyState === WebSocket.OPEN) node.send(text);
    else waiting.push(text);
  });
  client.on("close", () => {
    clearTimeout(drop);
    node.terminate();
  });
  client.on("error", () => node.terminate());
  node.on("open", () => {
    for (const text of waiting) node.send(text);
  });
  node.on("message", (data: Buffer) => {
    const text = data.toString("utf8");
    if (socketBehavior.isSilent === true && text.includes("eth_subscription")) return;
    client.send(text);
  });
  node.on("close", () => client.close());
  node.on("error", () => client.terminate());
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

async function askNode(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return await response.json();
}
