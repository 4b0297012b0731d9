import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { answering, pause, sending, startPeer, type Behavior } from "./fake-peer.ts";
import { notesRoute, type NotesAnswer } from "./note-route.ts";
import { A, answerBy, ask, askAgain, B, connect, kindsOf, L, localAnswer, signersOf } from "./oracles.ts";

/** Checks that a peer with this behavior adds nothing to the local answer. Returns the logged outcome. */
const withPeer = async (behavior: Behavior, timeoutMs = 400): Promise<string> => {
  const outcome = await ask({ local: localAnswer(await answerBy([L])), peers: [behavior], timeoutMs });
  expect(signersOf(outcome)).toEqual([["L"]]);
  expect(kindsOf(outcome)).toEqual(["peerSkipped", "belowThreshold"]);
  expect(outcome.tookMs).toBeLessThan(timeoutMs + 1_500);
  return outcome.reports[0]?.outcome ?? "not reported";
};

test("skips a peer whose body is not an answer of the route", async () => {
  expect(await withPeer(sending(200, "<html><body>welcome</body></html>"))).toBe("notJson");
  expect(await withPeer(sending(200, ""))).toBe("notJson");
  for (const json of [[], null, "text", 7, {}, { notes: [{ amount: "1", actions: "0x" }] }])
    expect(await withPeer(answering(json))).toBe("invalid");
  expect(await withPeer(sending(200, `{"notes":${"[".repeat(100_000)}${"]".repeat(100_000)}}`))).toBe(
    "invalid",
  );
});

test("skips an answer on which the route's parser throws", async () => {
  const throwRangeError = (): never => {
    throw new RangeError("Maximum call stack size exceeded");
  };
  for (const route of [
    { ...notesRoute, parse: throwRangeError },
    {
      ...notesRoute,
      slots: (answer: NotesAnswer) =>
        answer.comment === "odd" ? throwRangeError() : notesRoute.slots(answer),
    },
  ]) {
    const outcome = await ask({
      local: localAnswer(await answerBy([L])),
      peers: [answering({ ...(await answerBy([A])), comment: "odd" })],
      route,
    });
    expect(signersOf(outcome)).toEqual([["L"]]);
    expect(kindsOf(outcome)).toEqual(["peerSkipped", "belowThreshold"]);
    expect(outcome.reports[0]?.outcome).toBe("invalid");
  }
});

test("cuts off an answer of 300 MB early", async () => {
  let sentBytes = 0;
  const chunk = Buffer.alloc(64 * 1024, " ");
  const flood: Behavior = async (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    while (sentBytes < 300 * 1024 * 1024 && !response.destroyed) {
      sentBytes += chunk.length;
      if (!response.write(chunk))
        await Promise.race([new Promise((go) => response.once("drain", go)), pause(50)]);
    }
  };
  expect(await withPeer(flood, 3_000)).toBe("tooLarge");
  // Buffers at both ends may add to the limit, but not much.
  expect(sentBytes).toBeLessThan(30 * 1024 * 1024);
});

test("refuses a large answer that states its size", async () => {
  expect(await withPeer(sending(200, JSON.stringify("x".repeat(2 * 1024 * 1024))), 3_000)).toBe("tooLarge");
});

test("limits the total time of a slowly dripping answer, even if it starts immediately", async () => {
  const drip: Behavior = async (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    while (!response.destroyed) {
      response.write(" ");
      await pause(20);
    }
  };
  expect(await withPeer(drip, 300)).toBe("timeout");
});

test("skips a compressed answer, because none was requested", async () => {
  const answer = JSON.stringify(await answerBy([A]));
  const zipped: Behavior = (request, response) => {
    expect(request.headers["accept-encoding"]).toBe("identity");
    response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(answer));
  };
  expect(await withPeer(zipped)).toBe("encoding");
  const labeled: Behavior = (_request, response) =>
    void response.writeHead(200, { "content-encoding": "br" }).end(answer);
  expect(await withPeer(labeled)).toBe("encoding");
});

test("skips a peer that refuses, even if its refusal contains an answer", async () => {
  const answer = JSON.stringify(await answerBy([A]));
  for (const status of [201, 400, 401, 429, 500, 503])
    expect(await withPeer(sending(status, answer))).toBe("status");
});

test("a warning names the peer, its status and its code, and no key", async () => {
  const outcome = await ask({
    local: localAnswer(await answerBy([L])),
    peers: [sending(401, `{"code":"unauthorized","message":"your key key-of-the-peer is wrong"}`)],
  });
  const { host } = new URL(outcome.fakePeers[0]?.url ?? "");
  expect(outcome.warnings[0]?.text).toBe(`peer 0 (${host}) returned status 401 (unauthorized)`);
  expect(JSON.stringify(outcome.warnings)).not.toContain("key-of");
});

test("skips a peer that is unreachable or hangs up", async () => {
  expect(await withPeer((_request, response) => void response.destroy())).toBe("network");
  const unreachable = connect()({
    url: "http://127.0.0.1:1",
    received: [],
    connections: { open: new Set(), countOpened: () => 0 },
  });
  const outcome = await askAgain([unreachable], { local: localAnswer(await answerBy([L])) });
  expect(outcome.reports[0]?.outcome).toBe("network");
});

test("does not follow redirects", async () => {
  const elsewhere = await startPeer(answering(await answerBy([A])));
  for (const status of [301, 302, 303, 307, 308]) {
    const redirecting: Behavior = (_request, response) =>
      void response.writeHead(status, { location: `${elsewhere.url}${notesRoute.path}` }).end();
    expect(await withPeer(redirecting)).toBe("status");
  }
  expect(elsewhere.received).toEqual([]);
});

test("does not use a proxy of the environment, which would see the keys", async () => {
  const proxy = await startPeer(answering({ by: "proxy" }));
  const peer = await startPeer(answering({ by: "peer" }));
  const attest = join(import.meta.dirname, "../../../packages/attest/src/index.ts");
  const program = `
    import { connectPeer } from ${JSON.stringify(attest)};
    const peer = connectPeer({ baseUrl: ${JSON.stringify(peer.url)}, credential: "key" });
    const options = { incomingKey: undefined, timeoutMs: 5000, signal: new AbortController().signal };
    console.log(JSON.stringify(await peer.query("/notes/v1", "{}", options)));
    await peer.close();`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["-C", "source", "--input-type=module", "-e", program],
    { env: { HTTP_PROXY: proxy.url, http_proxy: proxy.url, ALL_PROXY: proxy.url, NODE_USE_ENV_PROXY: "1" } },
  );
  expect(JSON.parse(stdout)).toEqual({ by: "peer" });
  expect(proxy.connections.countOpened()).toBe(0);
});

test("sends a peer its own key, or the caller's key, or no key header", async () => {
  const sentKey = async (credential: string, incomingKey?: string): Promise<unknown> => {
    const { fakePeers } = await ask({
      local: localAnswer(await answerBy([L])),
      peers: [answering(await answerBy([A]))],
      credential,
      ...(incomingKey !== undefined && { incomingKey }),
    });
    const { headers } = fakePeers[0]?.received[0] ?? {};
    return headers !== undefined && "x-api-key" in headers ? headers["x-api-key"] : "no header";
  };
  expect(await sentKey("key-of-the-peer", "key-of-the-caller")).toBe("key-of-the-peer");
  expect(await sentKey("pass-through", "key-of-the-caller")).toBe("key-of-the-caller");
  expect(await sentKey("pass-through")).toBe("no header");
});

test("requests only a peer's own signature, and never with looser requirements", async () => {
  const { fakePeers } = await ask({
    local: localAnswer(await answerBy([L])),
    peers: [answering(await answerBy([A]))],
    body: { transactionId: "0x01", force: true, requireThreshold: true },
  });
  expect(fakePeers[0]?.received.map(({ path, body }) => ({ path, body }))).toEqual([
    {
      path: "/notes/v1",
      body: { chainId: "base", transactionId: "0x01", requestPeerSignatures: false },
    },
  ]);
});

test("two oracles that are peers of each other query each other only once", async () => {
  const urls = { A: "", L: "" };
  const oracle =
    (signer: typeof L, peerName: keyof typeof urls): Behavior =>
    async ({ body }, response) => {
      const peer = connect()({
        url: urls[peerName],
        received: [],
        connections: { open: new Set(), countOpened: () => 0 },
      });
      const { answer } = await askAgain([peer], { local: localAnswer(await answerBy([signer])), body });
      response.writeHead(200).end(JSON.stringify(answer));
    };
  const [a, l] = await Promise.all([startPeer(oracle(A, "L")), startPeer(oracle(L, "A"))]);
  urls.A = a.url;
  urls.L = l.url;
  const response = await fetch(`${l.url}/notes/v1`, {
    method: "POST",
    body: JSON.stringify({ requestPeerSignatures: true }),
  });
  expect(signersOf({ answer: (await response.json()) as Awaited<ReturnType<typeof answerBy>> })).toEqual([
    ["L", "A"],
  ]);
  expect([a.received.length, l.received.length]).toEqual([1, 1]);
});

test("the path of a peer's base URL is the prefix of requests to the peer", async () => {
  const peer = await startPeer(answering(await answerBy([A])));
  const prefixedPeer = connect()({ ...peer, url: `${peer.url}/oracle/` });
  const outcome = await askAgain([prefixedPeer], { local: localAnswer(await answerBy([L])) });
  expect(signersOf(outcome)).toEqual([["L", "A"]]);
  expect(peer.received[0]?.path).toBe("/oracle/notes/v1");
});

test("keeps connections to peers alive, and replaces a connection that was closed in the meantime", async () => {
  const peer = await startPeer(answering(await answerBy([B])));
  const connected = connect()(peer);
  for (let n = 0; n < 3; n++) {
    await askAgain([connected], { local: localAnswer(await answerBy([L])) });
    // A connection becomes available shortly after its answer was read.
    await pause(20);
  }
  expect(peer.connections.countOpened()).toBe(1);
  for (const socket of peer.connections.open) socket.resetAndDestroy();
  const outcome = await askAgain([connected], { local: localAnswer(await answerBy([L])) });
  expect(signersOf(outcome)).toEqual([["L", "B"]]);
});
