import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** One complete request. */
export interface LocalRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** `body` is sent as JSON; `drop` cuts the connection without a response. */
export type LocalAnswer = { readonly status: number; readonly body: unknown } | "drop";

export interface LocalHttp {
  readonly url: string;
  stop(): Promise<void>;
}

/** An HTTP server on a free port of 127.0.0.1. */
export async function startLocalHttp(
  answer: (request: LocalRequest) => Promise<LocalAnswer>,
): Promise<LocalHttp> {
  const server = createServer((request, response) => {
    const reply = async (): Promise<void> => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { method = "", url: path = "", headers } = request;
      const result = await answer({ method, path, headers, body: Buffer.concat(chunks).toString("utf8") });
      if (result === "drop") return void request.socket.destroy();
      response.writeHead(result.status, { "content-type": "application/json" });
      response.end(JSON.stringify(result.body));
    };
    // A caller that disconnects needs no response.
    reply().catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port: 0, host: "127.0.0.1" }, resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
