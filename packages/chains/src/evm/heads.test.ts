import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { WebSocketServer, type WebSocket } from "ws";
import type { Hex } from "@causeway/domain";
import type { Head, HeadSource } from "@causeway/families/evm";
import { createHeadSource } from "./heads.ts";
import { RpcFault } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const hashOf = (number: number, fork = 0): Hex => `0x${`${fork}${number}`.padStart(64, "0")}`;

function header(number: number, fork = 0): Record<string, string> {
  return {
    number: `0x${number.toString(16)}`,
    hash: hashOf(number, fork),
    parentHash: hashOf(number - 1),
    timestamp: "0x1",
    baseFeePerGas: "0x1",
  };
}

/** The HTTP API of a node: returns `node.latest`, or fails while it is undefined. */
function createHttpNode(latest?: number): {
  node: { latest: number | undefined; fork: number; requestCount: number };
  transport: RpcTransport;
} {
  const node = { latest, fork: 0, requestCount: 0 };
  const transport: RpcTransport = {
    request: async () => {
      node.requestCount += 1;
      if (node.latest === undefined) throw new RpcFault({ kind: "network", method: "x", reason: "down" });
      return await Promise.resolve(header(node.latest, node.fork));
    },
    requestBatch: async () => await Promise.reject(new Error("unexpected batch request")),
    close: async () => await Promise.resolve(),
  };
  return { node, transport };
}

interface SocketNode {
  readonly url: string;
  readonly sockets: WebSocket[];
  notify(number: number, fork?: number): void;
}

/** The WebSocket API: accepts subscriptions, each connection with a new id. */
async function startSocketNode(chainId = 7, chainIdAfterMs = 0): Promise<SocketNode> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await new Promise((resolve) => server.once("listening", resolve));
  const sockets: WebSocket[] = [];
  server.on("connection", (socket) => {
    socket.on("message", (data: Buffer) => {
      const { id, method } = JSON.parse(data.toString()) as { id: number; method: string };
      const result = method === "eth_chainId" ? `0x${chainId.toString(16)}` : `0xsub${sockets.length}`;
      const answer = (): void => socket.send(JSON.stringify({ jsonrpc: "2.0", id, result }));
      if (method === "eth_chainId" && chainIdAfterMs > 0) setTimeout(answer, chainIdAfterMs);
      else answer();
      if (method === "eth_subscribe") sockets.push(socket);
    });
  });
  closers.push(async () => {
    for (const client of server.clients) client.terminate();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sockets,
    notify: (number, fork = 0) => {
      const params = { subscription: `0xsub${sockets.length - 1}`, result: header(number, fork) };
      sockets.at(-1)?.send(JSON.stringify({ jsonrpc: "2.0", method: "eth_subscription", params }));
    },
  };
}

function listen(
  transport: RpcTransport,
  wsUrl: string | undefined,
  blockTimeSeconds: number,
): { source: HeadSource; heads: Head[]; numbers: () => number[]; faults: unknown[] } {
  const faults: unknown[] = [];
  const onFault = (fault: unknown): void => void faults.push(fault);
  const source = createHeadSource({
    transport,
    chainId: 7,
    blockTimeSeconds,
    wsUrl,
    now: () => 1_234,
    onFault,
  });
  closers.push(async () => await source.close());
  const heads: Head[] = [];
  source.onHead((head) => heads.push(head));
  return { source, heads, numbers: () => heads.map(({ number }) => Number(number)), faults };
}

async function waitUntil(isMet: () => boolean): Promise<void> {
  for (let waited = 0; !isMet(); waited += 5) {
    if (waited > 3_000) throw new Error("timed out after three seconds");
    await sleep(5);
  }
}

test("reports a notified head immediately, and does not poll while the socket is active", async () => {
  const { node, transport } = createHttpNode();
  const socket = await startSocketNode();
  const { source, heads } = listen(transport, socket.url, 10);
  await waitUntil(() => socket.sockets.length === 1);
  socket.notify(5);
  await waitUntil(() => heads.length === 1);
  expect(source.latest).toMatchObject({ number: 5n, hash: hashOf(5), seenAtMs: 1_234 });
  const requestCount = node.requestCount;
  await sleep(300);
  expect(node.requestCount).toBe(requestCount);
});

test("reports a repeated head once, and also another block of equal height", async () => {
  const socket = await startSocketNode();
  const { heads } = listen(createHttpNode().transport, socket.url, 10);
  await waitUntil(() => socket.sockets.length === 1);
  socket.notify(5);
  socket.notify(5);
  socket.notify(5, 1);
  await waitUntil(() => heads.length === 2);
  expect(heads.map(({ hash }) => hash)).toEqual([hashOf(5), hashOf(5, 1)]);
});

test("reopens a lost socket and subscribes again", async () => {
  const socket = await startSocketNode();
  const { numbers } = listen(createHttpNode().transport, socket.url, 10);
  await waitUntil(() => socket.sockets.length === 1);
  socket.notify(5);
  await waitUntil(() => numbers().includes(5));
  socket.sockets[0]?.terminate();
  await waitUntil(() => socket.sockets.length === 2);
  socket.notify(6);
  await waitUntil(() => numbers().includes(6));
});

test("misses no heads while a socket is silent, and replaces one that missed several", async () => {
  const { node, transport } = createHttpNode(5);
  const socket = await startSocketNode();
  const { numbers } = listen(transport, socket.url, 0.1);
  await waitUntil(() => socket.sockets.length === 1);
  node.latest = 6;
  await waitUntil(() => numbers().includes(6));
  node.latest = 20;
  await waitUntil(() => numbers().includes(20));
  await waitUntil(() => socket.sockets.length === 2);
});

test("ignores a socket of another chain, even before its chain id is known", async () => {
  const socket = await startSocketNode(8, 50);
  const { heads, faults } = listen(createHttpNode().transport, socket.url, 10);
  await waitUntil(() => socket.sockets.length === 1);
  socket.notify(5);
  await waitUntil(() => faults.some((fault) => fault instanceof RpcFault && fault.kind === "wrongChain"));
  expect(heads).toEqual([]);
});

test("reports and ignores a malformed notification", async () => {
  const socket = await startSocketNode();
  const { heads, faults } = listen(createHttpNode().transport, socket.url, 10);
  await waitUntil(() => socket.sockets.length === 1);
  socket.sockets[0]?.send("<html>");
  await waitUntil(() => faults.length > 1);
  expect(heads).toEqual([]);
});

test("ignores a polled node that lags briefly, but accepts one that stays lower", async () => {
  const { node, transport } = createHttpNode(9);
  const { source, numbers } = listen(transport, undefined, 0.1);
  await waitUntil(() => source.latest?.number === 9n);
  node.latest = 8;
  const requestCount = node.requestCount;
  await waitUntil(() => node.requestCount > requestCount);
  node.latest = 10;
  await waitUntil(() => source.latest?.number === 10n);
  expect(numbers()).not.toContain(8);
  node.latest = 7;
  await waitUntil(() => source.latest?.number === 7n);
});

test("a listener that throws does not prevent others from getting the head", async () => {
  const { node, transport } = createHttpNode();
  const { source, numbers, faults } = listen(transport, undefined, 0.1);
  const listenerError = new Error("wrong");
  source.onHead(() => {
    throw listenerError;
  });
  const received: bigint[] = [];
  source.onHead(({ number }) => received.push(number));
  node.latest = 5;
  await waitUntil(() => received.length === 1);
  expect(numbers()).toEqual([5]);
  expect(faults).toContain(listenerError);
});

test("reports failed polls and continues", async () => {
  const { node, transport } = createHttpNode();
  const { numbers, faults } = listen(transport, undefined, 0.1);
  await waitUntil(() => faults.length > 1);
  node.latest = 5;
  await waitUntil(() => numbers().includes(5));
});

test("an unsubscribed listener gets no heads, and nothing is polled after close", async () => {
  const { node, transport } = createHttpNode(5);
  const { source } = listen(transport, undefined, 0.1);
  const received: bigint[] = [];
  const unsubscribe = source.onHead(({ number }) => received.push(number));
  await waitUntil(() => received.length === 1);
  unsubscribe();
  node.latest = 6;
  await waitUntil(() => source.latest?.number === 6n);
  expect(received).toEqual([5n]);
  await source.close();
  const requestCount = node.requestCount;
  await sleep(250);
  expect(node.requestCount).toBe(requestCount);
});

test("polls an unreachable node at growing pauses of at most two seconds, and reports a head when it is back", async () => {
  const faults: unknown[] = [];
  const { node, transport } = createHttpNode();
  const heads = createHeadSource({
    transport,
    chainId: 7,
    blockTimeSeconds: 0.4,
    wsUrl: undefined,
    now: Date.now,
    onFault: (fault) => void faults.push(fault),
  });
  closers.push(() => heads.close());
  await sleep(1_500);
  // Polls every 100 ms would be fifteen.
  expect(node.requestCount).toBeGreaterThan(1);
  expect(node.requestCount).toBeLessThan(6);
  expect(faults.length).toBe(node.requestCount);
  node.latest = 5;
  await expect.poll(() => heads.latest?.number, { timeout: 30_000 }).toBe(5n);
});
