import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** The fault of one HTTP exchange. */
export interface Fault {
  /** Sent instead of the node's answer: something that is not JSON, or never ends. */
  readonly instead?: "status500" | "html" | "cutOff" | "endless" | "closed";
  /** Changes the request that the node receives. */
  readonly question?: (text: string) => string;
  /** Changes the node's answer: the `result` of JSON-RPC, or the whole body in other protocols. */
  readonly answer?: (json: unknown) => unknown;
}

/** Chooses the fault of an exchange by its number since the last {@link FaultyFronts.begin}. */
export type ChooseFault = (exchange: number) => Fault | undefined;

export interface FaultyFronts {
  /** The URLs of the fronts, in the order of their nodes. */
  readonly urls: readonly string[];
  /** Restarts the numbers of exchanges at zero. From now on, `choose` decides the faults. */
  begin(choose: ChooseFault): void;
  /** The parsed answers of the nodes since then, by the number of the exchange. */
  readonly answers: readonly unknown[];
  close(): Promise<void>;
}

/** More bytes than any reader accepts. */
const ENDLESS_BYTES = 256 * 1024 * 1024;

/**
 * Real servers on real sockets in front of honest nodes of any family with a JSON API over HTTP. They have no
 * faults until {@link FaultyFronts.begin} is called.
 */
export async function startFaultyFronts(upstreams: readonly string[]): Promise<FaultyFronts> {
  let choose: ChooseFault = () => undefined;
  let exchanges = 0;
  let answers: unknown[] = [];

  const serve = async (upstream: URL, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const exchange = exchanges++;
    const fault = choose(exchange) ?? {};
    const body = await bodyOf(request);
    if (fault.instead !== undefined) return await sendInstead(fault.instead, response);
    const rewrite = fault.question ?? ((text: string) => text);
    const upstreamResponse = await fetch(`${upstream.origin}${rewrite(request.url ?? "/")}`, {
      method: request.method ?? "GET",
      headers: headersOf(request, upstream),
      ...(body === "" ? {} : { body: rewrite(body) }),
    });
    const text = await upstreamResponse.text();
    const sentText = fault.answer === undefined ? text : changeAnswer(text, fault.answer);
    answers[exchange] = parseJson(text);
    response
      .writeHead(upstreamResponse.status, {
        "content-type": upstreamResponse.headers.get("content-type") ?? "application/json",
      })
      .end(sentText);
  };

  const servers = await Promise.all(
    upstreams.map(async (text) => {
      const upstream = new URL(text);
      const server = createServer((request, response) => {
        serve(upstream, request, response).catch(() => response.destroy());
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const path = `${upstream.pathname}${upstream.search}`;
      return { server, url: `http://127.0.0.1:${port}${path === "/" ? "" : path}` };
    }),
  );
  return {
    urls: servers.map(({ url }) => url),
    begin(next) {
      choose = next;
      exchanges = 0;
      answers = [];
    },
    get answers() {
      return answers;
    },
    close: async () => {
      await Promise.all(
        servers.map(async ({ server }) => {
          server.closeAllConnections();
          await new Promise((resolve) => server.close(resolve));
        }),
      );
    },
  };
}

async function sendInstead(what: NonNullable<Fault["instead"]>, response: ServerResponse): Promise<void> {
  if (what === "closed") return void response.destroy();
  if (what === "status500") return void response.writeHead(500).end("{}");
  if (what === "html")
    return void response.writeHead(200, { "content-type": "text/html" }).end("<html>Bad gateway</html>");
  response.writeHead(200, { "content-type": "application/json" });
  if (what === "cutOff")
    return void response.write('{"jsonrpc":"2.0","id":1,"resu', () => response.destroy());
  // The reader or this server ends the connection.
  await pipeline(Readable.from(spaces()), response, { end: false }).catch(() => undefined);
  response.destroy();
}

function* spaces(): Generator<string> {
  const chunk = " ".repeat(1024 * 1024);
  for (let sent = 0; sent < ENDLESS_BYTES; sent += chunk.length) yield chunk;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/** Without the headers about length and compression, which belong to only this exchange. */
function headersOf(request: IncomingMessage, { host }: URL): Record<string, string> {
  const forwardedHeaders = [
    "content-type",
    "accept",
    "authorization",
    "x-api-key",
    "tron-pro-api-key",
    "api-key",
  ];
  return {
    host,
    ...Object.fromEntries(
      forwardedHeaders.flatMap((name) => {
        const value = request.headers[name];
        return typeof value === "string" ? [[name, value]] : [];
      }),
    ),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function changeAnswer(text: string, change: (json: unknown) => unknown): string {
  const json = parseJson(text);
  if (json === undefined) return text;
  const changeReply = (part: unknown): unknown =>
    isObject(part) && "jsonrpc" in part && "result" in part
      ? { ...part, result: change(part["result"]) }
      : change(part);
  const isBatch = Array.isArray(json) && json.every((part) => isObject(part) && "jsonrpc" in part);
  return JSON.stringify(isBatch ? json.map(changeReply) : changeReply(json));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The number of named fields of an answer, at any depth. Fields named in `keep` do not count. */
export function countFields(json: unknown, keep: readonly string[]): number {
  let count = 0;
  visit(json, keep, () => count++);
  return count;
}

/** A copy of an answer without its n-th field, in the order in which {@link countFields} counts. */
export function withoutField(json: unknown, n: number, keep: readonly string[]): unknown {
  const copy: unknown = structuredClone(json);
  let index = 0;
  visit(copy, keep, (holder, name) => {
    if (index++ === n) Reflect.deleteProperty(holder, name);
  });
  return copy;
}

function visit(
  json: unknown,
  keep: readonly string[],
  each: (holder: Record<string, unknown>, name: string) => void,
): void {
  if (Array.isArray(json)) for (const part of json) visit(part, keep, each);
  else if (isObject(json))
    for (const [name, value] of Object.entries(json)) {
      if (!keep.includes(name)) each(json, name);
      visit(value, keep, each);
    }
}
