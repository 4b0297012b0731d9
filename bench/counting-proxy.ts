import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";

/**
 * Counts the calls between a service and its node. Subscriptions pass through uncounted: they carry no
 * calls.
 */
export interface CountingProxy {
  readonly port: number;
  /** Counts so far. */
  readonly counted: { readonly calls: number; readonly httpRequests: number };
  stop(): Promise<void>;
}

/** Listens on a free port of 127.0.0.1 and forwards everything to `nodePort`. */
export async function startCountingProxy(nodePort: number): Promise<CountingProxy> {
  const agent = new Agent({ keepAlive: true });
  const counted = { calls: 0, httpRequests: 0 };
  const sockets = new Set<Socket>();

  const forward = (incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer): void => {
    counted.httpRequests++;
    counted.calls += countCalls(body.toString("utf8"));
    const { method = "POST", url: path = "/", headers } = incoming;
    const upstream = request(
      { host: "127.0.0.1", port: nodePort, agent, method, path, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.on("error", () => outgoing.destroy());
        answer.pipe(outgoing);
      },
    );
    upstream.on("error", () => outgoing.destroy());
    upstream.end(body);
  };

  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => forward(incoming, outgoing, Buffer.concat(chunks)));
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("upgrade", (incoming, socket, head) => {
    const node = connect(nodePort, "127.0.0.1", () => {
      const lines = incoming.rawHeaders.flatMap((name, index, all) =>
        index % 2 === 0 ? [`${name}: ${all[index + 1] ?? ""}`] : [],
      );
      node.write(`${incoming.method} ${incoming.url} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
      node.write(head);
      node.pipe(socket);
      socket.pipe(node);
    });
    node.on("error", () => socket.destroy());
    node.on("close", () => socket.destroy());
    socket.on("error", () => node.destroy());
    socket.on("close", () => node.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    counted,
    stop: async () => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      for (const socket of sockets) socket.destroy();
      agent.destroy();
      await closed;
    },
  };
}

/** The number of JSON-RPC calls in a request: a batch counts once per member. */
export function countCalls(body: string): number {
  const content: unknown = JSON.parse(body);
  return Array.isArray(content) ? content.length : 1;
}
