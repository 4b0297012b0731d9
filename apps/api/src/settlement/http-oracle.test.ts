import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createHttpOracle } from "./http-oracle.adapter.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** An oracle on a real socket. */
async function startOracle(listener: RequestListener, timeoutMs = 500) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`;
  const oracle = createHttpOracle({ url, apiKey: "a secret" }, { timeoutMs });
  return { url, ask: () => oracle.ask("/path", { a: 1 }, new AbortController().signal) };
}

const answering = (status: number, text: string): RequestListener => {
  return (_request, response) => void response.writeHead(status).end(text);
};

test("sends the body and the key to the path below the base URL, and returns the answer", async () => {
  const { ask } = await startOracle((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      const received = [request.method, request.url, request.headers["x-api-key"], JSON.parse(body)];
      response.end(JSON.stringify(received));
    });
  });
  expect(await ask()).toEqual({ kind: "answer", json: ["POST", "/base/path", "a secret", { a: 1 }] });
});

test("keeps the code, message and retry time of an oracle's error", async () => {
  const body = JSON.stringify({ message: "two blocks more", code: "not_final", retryAfter: 24 });
  const { ask } = await startOracle(answering(400, body));
  expect(await ask()).toEqual({
    kind: "refused",
    code: "not_final",
    message: "two blocks more",
    retryAfterMs: 24_000,
  });
});

test.for([
  ["HTML of a proxy", answering(502, "<html>"), "HTTP status 502"],
  ["an error in another format", answering(400, '{"error":"no"}'), "HTTP status 400"],
  [
    "a server error in the oracle's format",
    answering(503, '{"message":"x","code":"rejected"}'),
    "HTTP status 503",
  ],
  ["invalid JSON", answering(200, "{"), "the response is not JSON"],
  [
    "an answer of an oracle in shadow mode",
    answering(200, '{"messages":[],"shadow":true}'),
    "the oracle runs in shadow mode",
  ],
  [
    "a redirect",
    ((_q, r) => void r.writeHead(302, { location: "http://127.0.0.1:9/" }).end()) as RequestListener,
    "the request failed",
  ],
  ["silence", (() => undefined) as RequestListener, "no complete response within 500 ms"],
  [
    "an answer that never ends",
    ((_q, r) => void r.writeHead(200).write("[")) as RequestListener,
    "no complete response within 500 ms",
  ],
  [
    "too many bytes",
    ((_q, r) => void r.end(" ".repeat(4_194_305))) as RequestListener,
    "the response exceeds 4194304 bytes",
  ],
] as const)(
  "treats %s as no answer, and the reason contains neither key nor URL",
  async ([, listener, reason]) => {
    const { ask, url } = await startOracle(listener);
    const response = await ask();
    expect(response).toEqual({ kind: "unavailable", reason });
    expect(JSON.stringify(response)).not.toContain("secret");
    expect(JSON.stringify(response)).not.toContain(url);
  },
);

test("reports an oracle that is not running as unavailable", async () => {
  const oracle = createHttpOracle({ url: "http://127.0.0.1:9", apiKey: undefined }, { timeoutMs: 500 });
  expect(await oracle.ask("/path", {}, new AbortController().signal)).toMatchObject({ kind: "unavailable" });
});
