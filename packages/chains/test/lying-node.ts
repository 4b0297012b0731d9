import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface RpcCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface LyingNode {
  readonly url: string;
  /** The calls of every HTTP request so far. */
  readonly requests: RpcCall[][];
  readonly headers: IncomingMessage["headers"][];
  stop(): Promise<void>;
}

export type Answer = { readonly result: unknown } | { readonly error: unknown };

/** An HTTP server with arbitrary answers: `respond` may write anything. */
export async function startLyingNode(
  respond: (calls: RpcCall[], response: ServerResponse, isBatch: boolean) => void,
): Promise<LyingNode> {
  const requests: RpcCall[][] = [];
  const headers: IncomingMessage["headers"][] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const document = JSON.parse(Buffer.concat(chunks).toString()) as RpcCall | RpcCall[];
      const calls = Array.isArray(document) ? document : [document];
      requests.push(calls);
      headers.push(request.headers);
      respond(calls, response, Array.isArray(document));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}`, requests, headers, stop };
}

/** An honest node that answers each call with the result of `answer`. */
export async function startAnsweringNode(answer: (call: RpcCall) => Answer): Promise<LyingNode> {
  return await startLyingNode((calls, response, isBatch) => {
    const answers = calls.map((call) => ({ jsonrpc: "2.0", id: call.id, ...answer(call) }));
    json(response, isBatch ? answers.toReversed() : answers[0]);
  });
}

export function json(response: ServerResponse, document: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(document));
}
