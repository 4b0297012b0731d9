import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { answerCall } from "./core-rpc.ts";
import { answerEsplora, postTransaction, type EsploraAnswer } from "./esplora.ts";
import { loadBcoin } from "./load-bcoin.ts";
import { RegtestNode } from "./regtest-node.ts";

// A Bitcoin regtest node: JSON-RPC with basic authentication at /, and an explorer below /esplora. Arguments:
// port, user:password.

const [port, credentials = ""] = process.argv.slice(2);
const node = await RegtestNode.open(loadBcoin());
// Handles requests one by one, so that none sees partial effects of another.
let turn: Promise<unknown> = Promise.resolve();

const server = createServer((request, response) => {
  void textOf(request).then((body) => {
    turn = turn.then(async () => await answer(request, response, body)).catch(() => response.destroy());
  });
});
server.listen(Number(port), "127.0.0.1");
process.once("SIGTERM", () => {
  server.closeAllConnections();
  process.exit(0);
});

async function answer(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
  const path = decodeURI(request.url ?? "/");
  if (path.startsWith("/esplora")) {
    const rest = path.slice("/esplora".length);
    const isPost = request.method === "POST" && rest === "/tx";
    sendEsplora(response, isPost ? await postTransaction(node, body) : answerEsplora(node, rest));
    return;
  }
  if (request.headers.authorization !== `Basic ${Buffer.from(credentials).toString("base64")}`) {
    response.writeHead(401).end();
    return;
  }
  const parsed: unknown = JSON.parse(body);
  if (Array.isArray(parsed)) {
    const answers: object[] = [];
    for (const call of parsed as unknown[]) answers.push(await answerCall(node, call));
    sendJson(response, 200, answers);
    return;
  }
  const result = await answerCall(node, parsed);
  sendJson(
    response,
    "jsonrpc" in result || !("error" in result && result.error !== null) ? 200 : 500,
    result,
  );
}

function sendEsplora(response: ServerResponse, { status, body }: EsploraAnswer): void {
  if (typeof body === "string") response.writeHead(status, { "content-type": "text/plain" }).end(body);
  else sendJson(response, status, body);
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks).toString("utf8");
}
