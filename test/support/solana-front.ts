import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export interface SolanaCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface SolanaFront {
  readonly url: string;
  close(): Promise<void>;
}

interface ReceivedCall extends SolanaCall {
  readonly id: unknown;
}

/**
 * A server in front of a node that changes requests or results. The result `"error"` stands for an error of
 * the node. During an outage it responds with HTTP 503, before or after it forwards the call.
 */
export async function startSolanaFront(
  upstream: string,
  {
    question = (call) => call,
    result = (_call, honest) => honest,
    outage = () => undefined,
  }: {
    readonly question?: (call: SolanaCall) => SolanaCall;
    readonly result?: (call: SolanaCall, honest: unknown) => unknown;
    readonly outage?: (call: SolanaCall) => "before" | "after" | undefined;
  },
): Promise<SolanaFront> {
  const forward = async (received: ReceivedCall): Promise<object> => {
    const call = question({ method: received.method, params: received.params });
    const response = await fetch(upstream, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: received.id, ...call }),
    });
    const answer = (await response.json()) as { readonly result?: unknown };
    if (!("result" in answer)) return answer;
    const changed = result(call, answer.result);
    if (changed === "error")
      return { jsonrpc: "2.0", id: received.id, error: { code: -32_004, message: "not available" } };
    return { ...answer, result: changed };
  };
  const server = createServer((request, response) => {
    bodyOf(request)
      .then(async (body) => {
        const parsed = JSON.parse(body) as ReceivedCall | ReceivedCall[];
        const outages = [parsed].flat().map(outage);
        const isForwarded = !outages.includes("before");
        const answers = !isForwarded
          ? []
          : Array.isArray(parsed)
            ? await Promise.all(parsed.map(forward))
            : await forward(parsed);
        if (!isForwarded || outages.includes("after")) response.statusCode = 503;
        response.setHeader("content-type", "application/json");
        response.end(response.statusCode === 503 ? "" : JSON.stringify(answers));
      })
      .catch(() => response.destroy());
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

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
