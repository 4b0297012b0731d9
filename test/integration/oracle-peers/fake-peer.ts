import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A request that a fake peer received. */
export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
  /** Resolves if the caller hangs up before the answer is complete. */
  readonly hungUp: Promise<void>;
}

export type Behavior = (request: ReceivedRequest, response: ServerResponse) => void | Promise<void>;

export interface FakePeer {
  readonly url: string;
  readonly received: readonly ReceivedRequest[];
  /** The open connections, and the number of connections so far. */
  readonly connections: { readonly open: ReadonlySet<Socket>; readonly countOpened: () => number };
}

/** An HTTP server with this behavior. It stops when the test ends. */
export async function startPeer(behavior: Behavior): Promise<FakePeer> {
  const received: ReceivedRequest[] = [];
  const open = new Set<Socket>();
  let openedCount = 0;
  const server = createServer((request, response) => {
    void readBody(request).then(async (body) => {
      const hungUp = new Promise<void>((resolve) => {
        response.once("close", () => !response.writableFinished && resolve());
      });
      const call = { path: request.url ?? "", headers: request.headers, body, hungUp };
      received.push(call);
      await behavior(call, response);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.on("connection", (socket) => {
    openedCount += 1;
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, received, connections: { open, countOpened: () => openedCount } };
}

/** Answers with status 200 and this JSON. */
export function answering(json: unknown, afterMs = 0): Behavior {
  return sending(200, JSON.stringify(json), afterMs);
}

export function sending(status: number, text: string, afterMs = 0): Behavior {
  return async (_request, response) => {
    if (afterMs > 0) await pause(afterMs);
    response.writeHead(status, { "content-type": "application/json" }).end(text);
  };
}

/** Accepts the request and never answers. */
export const silent: Behavior = () => undefined;

/**
 * Waits until every caller of this peer has hung up.
 * @throws if there was no caller, or if one still waits after a second
 */
export async function untilAbandoned(peer: FakePeer | undefined): Promise<void> {
  const hungUps = peer?.received.map(async ({ hungUp }) => await hungUp) ?? [];
  if (hungUps.length === 0) throw new Error("no request has arrived");
  const isLate = await Promise.race([Promise.all(hungUps).then(() => false), pause(1_000).then(() => true)]);
  if (isLate) throw new Error("a caller still waits");
}

export async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

async function readBody(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as Record<string, unknown>;
}
