import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createControl,
  type HyperliquidControl,
  type HyperliquidPath,
  type FaultInjection,
} from "./hyperliquid-control.ts";
import type { HyperliquidOptions } from "./hyperliquid-options.ts";
import { HyperliquidState } from "./hyperliquid-state.ts";
import { answerExplorer, answerInfo } from "./info-answers.ts";
import { HyperliquidError, Undecodable } from "./refusal.ts";

export interface RunningHyperliquid {
  /** Base URL of `/exchange`, `/info` and `/explorer`. */
  readonly url: string;
  readonly control: HyperliquidControl;
  close(): Promise<void>;
}

const MAX_BYTES = 65_536;

/**
 * A local Hyperliquid on 127.0.0.1 that stores accounts and executes their signed transfers. It implements
 * the real protocol and verifies signatures, nonces and balances as documented, but has no trading.
 */
export async function startHyperliquid(options: HyperliquidOptions = {}): Promise<RunningHyperliquid> {
  const state = new HyperliquidState(options);
  const faultInjection: FaultInjection = { lie: undefined, failureStatus: undefined, dropsResponses: false };

  const answer = async (path: HyperliquidPath, question: Record<string, unknown>): Promise<unknown> => {
    if (path === "info") return answerInfo(state, question, options);
    if (path === "explorer") return answerExplorer(state, question, options);
    await state.accept(question);
    return { status: "ok", response: { type: "default" } };
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = pathOf(request);
    if (path === undefined || request.method !== "POST") return plain(response, 404, "Not Found");
    const question = await readBody(request);
    if (faultInjection.failureStatus !== undefined)
      return plain(response, faultInjection.failureStatus, "unavailable");
    try {
      if (question === undefined) throw new Undecodable("body is not a JSON object");
      const honest = await answer(path, question);
      if (path === "exchange" && faultInjection.dropsResponses)
        return plain(response, 504, "gateway timeout");
      json(response, faultInjection.lie === undefined ? honest : faultInjection.lie(path, question, honest));
    } catch (error) {
      if (error instanceof Undecodable)
        plain(response, 422, `Failed to deserialize the JSON body into the target type: ${error.message}`);
      else if (error instanceof HyperliquidError) json(response, { status: "err", response: error.message });
      else throw error;
    }
  };

  const server = createServer((request, response) => {
    handle(request, response).catch(() => {
      if (!response.headersSent) plain(response, 500, "internal error");
      else response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    control: createControl(state, faultInjection),
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function pathOf({ url }: IncomingMessage): HyperliquidPath | undefined {
  const path = url?.split("?")[0];
  if (path === "/exchange") return "exchange";
  if (path === "/info") return "info";
  return path === "/explorer" ? "explorer" : undefined;
}

/** The JSON object of the body; undefined if it is not one, or too long. */
async function readBody(request: IncomingMessage): Promise<Record<string, unknown> | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    return typeof body === "object" && body !== null && !Array.isArray(body)
      ? (body as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain" }).end(text);
}
