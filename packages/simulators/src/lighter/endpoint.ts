import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { accountAnswer, logsAnswer, nextNonceAnswer, refusalAnswer, transactionAnswer } from "./answers.ts";
import { exactText } from "./exact-text.ts";
import type { LighterExchange, TransactionRecord } from "./exchange.ts";
import { LighterError } from "./refusal.ts";

/** Faults that an endpoint injects. */
export interface EndpointFaults {
  /** Rewrites bodies of responses with status 200. `path` includes the query. */
  rewrite?: ((path: string, body: string) => string) | undefined;
  /** Sends this kind of broken response instead. */
  broken?: "drop" | "html" | "error" | undefined;
  /** Serves the state at the time when this was set. */
  isBehind?: boolean;
}

/** One address that serves the Lighter API and its explorer. */
export interface LighterEndpoint {
  /** Base URL of the Lighter API. */
  readonly url: string;
  /** Base URL of the explorer API. */
  readonly explorerUrl: string;
  /** Can be changed at any time. */
  readonly faults: EndpointFaults;
  close(): Promise<void>;
}

/** @param port on 127.0.0.1; 0 picks a free one */
export async function openEndpoint(exchange: LighterExchange, port = 0): Promise<LighterEndpoint> {
  const faults: EndpointFaults = {};
  let servedRecords: readonly TransactionRecord[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request);
    if (faults.isBehind !== true) servedRecords = [...exchange.records];
    if (faults.broken === "drop") return void request.socket.destroy();
    if (faults.broken === "html") return send(response, 200, "<html><body>maintenance</body></html>");
    if (faults.broken === "error") return send(response, 500, exactText({ code: 500, message: "internal" }));
    const path = request.url ?? "/";
    try {
      const text = await answerTo(
        exchange,
        servedRecords,
        request.method ?? "GET",
        new URL(path, "http://exchange"),
        body,
      );
      send(response, 200, faults.rewrite?.(path, text) ?? text);
    } catch (error) {
      if (!(error instanceof LighterError)) throw error;
      send(response, 400, refusalAnswer(error));
    }
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: "127.0.0.1" }, resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    explorerUrl: `${url}/explorer/api`,
    faults,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answerTo(
  exchange: LighterExchange,
  records: readonly TransactionRecord[],
  method: string,
  { pathname, searchParams }: URL,
  body: string,
): Promise<string> {
  const queryParam = (name: string): string => searchParams.get(name) ?? "";
  const logs = /^\/explorer\/api\/accounts\/(\d+)\/logs$/.exec(pathname);
  if (logs?.[1] !== undefined)
    return logsAnswer(records, logs[1], {
      limit: Math.min(100, Number(queryParam("limit"))),
      offset: Number(queryParam("offset")),
    });
  switch (`${method} ${pathname}`) {
    case "GET /api/v1/tx": {
      const record = records.find(({ hash }) => queryParam("by") === "hash" && hash === queryParam("value"));
      if (record === undefined) throw new LighterError(21_500, "transaction not found");
      return transactionAnswer(exchange, record);
    }
    case "GET /info":
      return exactText({ contract_address: exchange.contract });
    case "GET /api/v1/account":
      return accountAnswer(exchange, index(queryParam("value")));
    case "GET /api/v1/nextNonce":
      return nextNonceAnswer(
        exchange,
        index(queryParam("account_index")),
        index(queryParam("api_key_index")),
      );
    case "POST /api/v1/sendTx": {
      const form = new URLSearchParams(body);
      const hash = await exchange.submit(Number(form.get("tx_type")), form.get("tx_info") ?? "");
      return exactText({ code: 200, message: "", tx_hash: hash, predicted_execution_time_ms: exchange.time });
    }
    default:
      throw new LighterError(404, "route not found");
  }
}

function index(text: string): bigint {
  if (!/^\d{1,18}$/.test(text)) throw new LighterError(20_001, "invalid param");
  return BigInt(text);
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { "content-type": "application/json" }).end(body);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
