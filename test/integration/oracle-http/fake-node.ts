import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A JSON-RPC node on a socket. It answers the calls in `methods`, and any other call with a JSON-RPC error.
 */
export async function startFakeNode(
  methods: Readonly<Record<string, (params: readonly unknown[]) => unknown>>,
) {
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += String(chunk)));
    request.on("end", () => {
      const request = JSON.parse(text) as Call | Call[];
      const answers = [request].flat().map(({ id, method, params }) => {
        const answer = methods[method];
        return answer === undefined
          ? { jsonrpc: "2.0", id, error: { code: -32601, message: "no such method" } }
          : { jsonrpc: "2.0", id, result: answer(params) };
      });
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(Array.isArray(request) ? answers : answers[0]));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}
