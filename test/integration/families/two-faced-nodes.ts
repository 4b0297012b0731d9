import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

// URLs that lead to two nodes in turn, or to a node that repeats its answers.

/** A server that the test closes. */
export interface RunningServer {
  readonly url: string;
  close(): Promise<void>;
}

/** A URL that two nodes answer in turn. */
export async function startBalancer(urls: readonly string[]): Promise<RunningServer> {
  let turn = 0;
  return await startProxy(urls, async (askNode) => await askNode(turn++ % urls.length));
}

/** A front of a node that repeats the node's first answer about a transaction. */
export async function startRememberingFront(url: string, transactionId: string): Promise<RunningServer> {
  const bare = transactionId.replace(/^0x/, "");
  const firstAnswers = new Map<string, object>();
  interface Part {
    readonly id?: number;
    readonly method?: string;
    readonly params?: unknown;
  }
  return await startProxy([url], async (askNode, question, path) => {
    const request = JSON.parse(question) as Part | Part[];
    const answerJson = JSON.parse(await askNode(0)) as Part | Part[];
    const answers = [answerJson].flat();
    const parts = [request].flat().map((part, index): object => {
      const answer = answers.find(({ id }) => id === part.id) ?? answers[index] ?? {};
      const key =
        part.method === undefined ? `${path} ${question}` : JSON.stringify([part.method, part.params]);
      if (!key.includes(bare)) return answer;
      const firstAnswer = firstAnswers.get(key);
      if (firstAnswer !== undefined)
        return { ...firstAnswer, ...(part.id === undefined ? {} : { id: part.id }) };
      if (JSON.stringify(answer).includes(bare)) firstAnswers.set(key, answer);
      return answer;
    });
    return JSON.stringify(Array.isArray(request) ? parts : parts[0]);
  });
}

/**
 * @param answer builds the answer from the request, and from a function that forwards it to a node of `urls`
 */
async function startProxy(
  urls: readonly string[],
  answer: (askNode: (node: number) => Promise<string>, question: string, path: string) => Promise<string>,
): Promise<RunningServer> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const askNode = async (node: number): Promise<string> => {
        const target = new URL(urls[node] ?? "");
        const response = await fetch(`${target.origin}${request.url ?? "/"}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body,
        });
        return await response.text();
      };
      answer(askNode, body, request.url ?? "/").then(
        (text) => response.writeHead(200, { "content-type": "application/json" }).end(text),
        () => response.destroy(),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { pathname } = new URL(urls[0] ?? "");
  return {
    url: `http://127.0.0.1:${port}${pathname === "/" ? "" : pathname}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
