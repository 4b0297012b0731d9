import type { ServerResponse } from "node:http";
import { createPublicClient } from "viem";
import { afterEach, expect, test } from "vitest";
import { json, startAnsweringNode, startLyingNode, type LyingNode } from "../../test/lying-node.ts";
import { NodeRefusal, RpcFault } from "@causeway/families";
import { createRpcTransport, type RpcTransport, type RpcTransportOptions } from "./transport.ts";
import { viemTransport } from "../evm/viem-transport.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function connectTo(
  startingNode: Promise<LyingNode>,
  options: Partial<RpcTransportOptions> = {},
): Promise<{ node: LyingNode; rpc: RpcTransport }> {
  const node = await startingNode;
  const rpc = createRpcTransport({ url: node.url, deadlineMs: 2_000, ...options });
  closers.push(node.stop, rpc.close);
  return { node, rpc };
}

const startEchoNode = (): Promise<LyingNode> => startAnsweringNode(({ params }) => ({ result: params[0] }));

test("sends all calls of one tick in one HTTP request, and matches the answers in any order", async () => {
  const { node, rpc } = await connectTo(startEchoNode());
  const answers = await Promise.all([1, 2, 3].map((value) => rpc.request("echo", [value])));
  expect(answers).toEqual([1, 2, 3]);
  expect(node.requests.map((calls) => calls.length)).toEqual([3]);
});

test("splits a tick with more calls than the batch limit", async () => {
  const { node, rpc } = await connectTo(startEchoNode(), { maxBatchSize: 4 });
  await Promise.all(Array.from({ length: 10 }, (_, value) => rpc.request("echo", [value])));
  expect(node.requests.map((calls) => calls.length).toSorted()).toEqual([2, 4, 4]);
});

const echoCall = (value: unknown): { method: string; params: unknown[] } => ({
  method: "echo",
  params: [value],
});

test("sends calls requested together in a separate HTTP request, and returns answers in their order", async () => {
  const { node, rpc } = await connectTo(startEchoNode());
  const singleCalls = [rpc.request("echo", [1]), rpc.request("echo", [2])];
  expect(await rpc.requestBatch([echoCall(3), echoCall(4)])).toEqual([3, 4]);
  expect(await Promise.all(singleCalls)).toEqual([1, 2]);
  expect(node.requests.map((calls) => calls.map(({ params }) => params[0])).toSorted()).toEqual([
    [1, 2],
    [3, 4],
  ]);
});

test("never splits calls requested together, and their refusal affects no other call", async () => {
  const { node, rpc } = await connectTo(
    startLyingNode((calls, response, isBatch) => {
      const answers = calls.map(({ id, params }) => ({ jsonrpc: "2.0", id, result: params[0] }));
      if (calls.length > 2) response.writeHead(400).end();
      else json(response, isBatch ? answers : answers[0]);
    }),
    { maxBatchSize: 4 },
  );
  const group = (size: number): ReturnType<typeof echoCall>[] =>
    Array.from({ length: size }, (_, index) => echoCall(index));
  await expect(rpc.requestBatch(group(5))).rejects.toMatchObject({ kind: "batchRefused" });
  expect(node.requests).toHaveLength(0);
  await expect(rpc.requestBatch(group(3))).rejects.toMatchObject({
    kind: "batchRefused",
    retryable: true,
  });
  expect(node.requests).toHaveLength(1);
  // Nor after other calls were refused.
  await Promise.all(group(3).map(async (call) => await rpc.request(call.method, call.params)));
  expect(await rpc.requestBatch(group(2))).toEqual([0, 1]);
  expect(node.requests.at(-1)).toHaveLength(2);
});

test("calls requested together fail as a whole if their response is too large or incomplete", async () => {
  const { node, rpc } = await connectTo(
    startLyingNode((calls, response) => {
      const result = "x".repeat(calls[0]?.params[0] === "large" ? 2_000 : 1);
      json(response, [{ jsonrpc: "2.0", id: calls[0]?.id, result }]);
    }),
    { maxAnswerBytes: 1_000 },
  );
  await expect(rpc.requestBatch([echoCall("large"), echoCall(1)])).rejects.toMatchObject({
    kind: "tooLarge",
  });
  await expect(rpc.requestBatch([echoCall("small"), echoCall(1)])).rejects.toMatchObject({ kind: "garbage" });
  expect(node.requests).toHaveLength(2);
});

test("one refused call of a batch does not affect the others", async () => {
  const { rpc } = await connectTo(
    startAnsweringNode(({ method }) =>
      method === "bad"
        ? { error: { code: 3, message: "execution reverted", data: "0xdead" } }
        : { result: "0x1" },
    ),
  );
  const [good, bad] = await Promise.allSettled([rpc.request("good", []), rpc.request("bad", [])]);
  expect(good).toEqual({ status: "fulfilled", value: "0x1" });
  expect(bad).toMatchObject({ reason: { nodeCode: 3, nodeText: "execution reverted", nodeData: "0xdead" } });
});

test("if the response to a batch is too large, only a call that is too large by itself fails", async () => {
  const { node, rpc } = await connectTo(
    startAnsweringNode(({ method, params }) => ({
      result: method === "big" ? "x".repeat(200_000) : method === "medium" ? "y".repeat(60_000) : params[0],
    })),
    { maxAnswerBytes: 100_000 },
  );
  const requestAll = async (methods: readonly string[]): Promise<PromiseSettledResult<unknown>[]> =>
    await Promise.allSettled(methods.map((method, index) => rpc.request(method, [index])));
  const [gas, big, balance] = await requestAll(["gas", "big", "balance"]);
  expect(gas).toEqual({ status: "fulfilled", value: 0 });
  expect(balance).toEqual({ status: "fulfilled", value: 2 });
  expect(big).toMatchObject({ status: "rejected", reason: { kind: "tooLarge", method: "big" } });
  // Too large together, but each small enough by itself.
  const both = await requestAll(["medium", "medium"]);
  expect(both.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
  // The node accepts batches, so the next ones are sent whole.
  await requestAll(["gas", "gas"]);
  expect(node.requests.map((calls) => calls.length)).toEqual([3, 1, 1, 1, 2, 1, 1, 2]);
});

test("sends reads of unlimited size and small reads of the same tick in separate requests", async () => {
  const { node, rpc } = await connectTo(
    startLyingNode((calls, response) => {
      // The large response never ends; nothing else may wait for it.
      if (calls.some(({ method }) => method === "eth_getTransactionReceipt")) response.write("[");
      else
        json(
          response,
          calls.map(({ id }) => ({ id, result: "0x1" })),
        );
    }),
    { deadlineMs: 200 },
  );
  const methods = [
    "eth_getBalance",
    "eth_getTransactionReceipt",
    "eth_gasPrice",
    "eth_getTransactionReceipt",
  ];
  const settled = await Promise.allSettled(methods.map((method) => rpc.request(method, [])));
  expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "rejected"]);
  expect(node.requests.map((calls) => calls.map(({ method }) => method)).toSorted()).toEqual([
    ["eth_getBalance", "eth_gasPrice"],
    ["eth_getTransactionReceipt", "eth_getTransactionReceipt"],
  ]);
});

test("sends single calls to a node that refuses batches, and no further batches", async () => {
  const { node, rpc } = await connectTo(
    startLyingNode((calls, response, isBatch) => {
      if (isBatch)
        json(response, { jsonrpc: "2.0", id: null, error: { code: -32_600, message: "no batches here" } });
      else json(response, { jsonrpc: "2.0", id: calls[0]?.id, result: calls[0]?.params[0] });
    }),
  );
  const requestAll = async (): Promise<unknown[]> =>
    await Promise.all([1, 2, 3].map((value) => rpc.request("echo", [value])));
  expect(await requestAll()).toEqual([1, 2, 3]);
  expect(await requestAll()).toEqual([1, 2, 3]);
  expect(node.requests.map((calls) => calls.length)).toEqual([3, 1, 1, 1, 1, 1, 1]);
});

test("sends smaller batches to a node that refuses large ones", async () => {
  const { node, rpc } = await connectTo(
    startLyingNode((calls, response, isBatch) => {
      if (calls.length > 5) json(response, { error: { code: -32_600, message: "batch too large" } }, 400);
      else {
        const answers = calls.map(({ id, params }) => ({ jsonrpc: "2.0", id, result: params[0] }));
        json(response, isBatch ? answers : answers[0]);
      }
    }),
  );
  const values = Array.from({ length: 20 }, (_, value) => value);
  expect(await Promise.all(values.map((value) => rpc.request("echo", [value])))).toEqual(values);
  expect(node.requests.map((calls) => calls.length).toSorted((a, b) => a - b)).toEqual([
    5, 5, 5, 5, 10, 10, 20,
  ]);
});

test("returns null as an answer", async () => {
  const { rpc } = await connectTo(startAnsweringNode(() => ({ result: null })));
  expect(await rpc.request("eth_getTransactionReceipt", [])).toBeNull();
});

const lies: [string, string, Parameters<typeof startLyingNode>[0]][] = [
  ["HTML", "garbage", (_, response) => void response.end("<html>502 Bad Gateway</html>")],
  ["HTML with an error status", "http", (_, response) => void response.writeHead(502).end("<html>")],
  ["null", "garbage", (_, response) => json(response, null)],
  ["nothing", "garbage", (_, response) => void response.end()],
  ["JSON that is not a response", "garbage", (_, response) => json(response, { ok: true })],
  ["an answer with another id", "garbage", (_, response) => json(response, { id: 999, result: "0x1" })],
  ["an answer without id", "garbage", (_, response) => json(response, { result: "0x1" })],
  [
    "its own id as text",
    "garbage",
    (calls, response) => json(response, { id: String(calls[0]?.id), result: "0x1" }),
  ],
  ["an empty list", "garbage", (_, response) => json(response, [])],
  ["neither result nor error", "garbage", (calls, response) => json(response, [{ id: calls[0]?.id }])],
  ["a broken connection", "network", (_, response) => void response.destroy()],
  ["a body that never ends in time", "deadline", (_, response) => void response.write("[")],
  ["silence", "deadline", () => undefined],
  ["a huge body", "tooLarge", (_, response) => void response.end(`"${"x".repeat(200_000)}"`)],
];

test.each(lies)("%s is a fault of kind %s, never an answer", async (_, kind, respond) => {
  const { rpc } = await connectTo(startLyingNode(respond), { deadlineMs: 300, maxAnswerBytes: 100_000 });
  await expect(rpc.request("eth_chainId", [])).rejects.toMatchObject({
    name: "RpcFault",
    kind,
    method: "eth_chainId",
    retryable: true,
  });
});

test("answers to unknown calls invalidate the whole batch", async () => {
  const { rpc } = await connectTo(
    startLyingNode((calls, response) =>
      json(response, [...calls.map(({ id }) => ({ id, result: 1 })), { id: 77, result: 2 }]),
    ),
  );
  const results = await Promise.allSettled([rpc.request("a", []), rpc.request("b", [])]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});

test("two answers to one call invalidate the whole batch", async () => {
  const { rpc } = await connectTo(
    startLyingNode((calls, response) =>
      json(
        response,
        [1, 2].map((result) => ({ id: calls[0]?.id, result })),
      ),
    ),
  );
  const results = await Promise.allSettled([rpc.request("a", []), rpc.request("b", [])]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});

test("a missing answer in a batch fails only its call", async () => {
  const { rpc } = await connectTo(
    startLyingNode((calls, response) => json(response, [{ id: calls[0]?.id, result: "0x1" }])),
  );
  const [first, second] = await Promise.allSettled([rpc.request("a", []), rpc.request("b", [])]);
  expect(first).toEqual({ status: "fulfilled", value: "0x1" });
  expect(second).toMatchObject({ status: "rejected", reason: { kind: "garbage", method: "b" } });
});

test("a call with a shorter timeout does not wait for the others of its tick", async () => {
  const { rpc } = await connectTo(
    startLyingNode(() => undefined),
    { deadlineMs: 5_000 },
  );
  const patient = rpc.request("slow", []).catch((error: unknown) => error);
  const started = performance.now();
  await expect(rpc.request("fast", [], { deadlineMs: 50 })).rejects.toMatchObject({ kind: "deadline" });
  expect(performance.now() - started).toBeLessThan(1_000);
  await rpc.close();
  expect(await patient).toMatchObject({ kind: "aborted" });
});

test("applies the deadline while all connections are busy, and never sends calls that were aborted in the meantime", async () => {
  let answerFirst = (): void => undefined;
  const { node, rpc } = await connectTo(
    startLyingNode((calls, response) => {
      const answer = (): void => json(response, { id: calls[0]?.id, result: calls[0]?.method });
      if (calls[0]?.method === "first") answerFirst = answer;
      else answer();
    }),
    { connections: 1 },
  );
  const first = rpc.request("first", []);
  await expect.poll(() => node.requests.length).toBe(1);
  await expect(rpc.request("late", [], { deadlineMs: 50 })).rejects.toMatchObject({ kind: "deadline" });
  const last = rpc.request("last", []);
  answerFirst();
  expect(await Promise.all([first, last])).toEqual(["first", "last"]);
  expect(node.requests.flat().map(({ method }) => method)).toEqual(["first", "last"]);
});

test("reads a response in many chunks completely, even with split characters", async () => {
  const { rpc } = await connectTo(
    startLyingNode((calls, response) => {
      const bytes = Buffer.from(JSON.stringify({ id: calls[0]?.id, result: "é€𐐷".repeat(50) }));
      const writeFrom = (offset: number): void => {
        if (offset >= bytes.length) response.end();
        else response.write(bytes.subarray(offset, offset + 7), () => setImmediate(writeFrom, offset + 7));
      };
      writeFrom(0);
    }),
  );
  expect(await rpc.request("a", [])).toBe("é€𐐷".repeat(50));
});

test("a caller can abort", async () => {
  const { rpc } = await connectTo(startLyingNode(() => undefined));
  const abort = new AbortController();
  const call = rpc.request("slow", [], { signal: abort.signal });
  setTimeout(() => abort.abort(), 20);
  await expect(call).rejects.toMatchObject({ kind: "aborted" });
});

test("replaces a dead keep-alive connection without a fault", async () => {
  let served = 0;
  const { rpc } = await connectTo(
    startLyingNode((calls, response) => {
      served += 1;
      if (served === 2) response.socket?.destroy();
      else json(response, { id: calls[0]?.id, result: served });
    }),
  );
  expect(await rpc.request("a", [])).toBe(1);
  expect(await rpc.request("a", [])).toBe(3);
});

test("discards a response whose connection broke halfway", async () => {
  let served = 0;
  const { rpc } = await connectTo(
    startLyingNode((calls, response) => {
      served += 1;
      if (served > 1) json(response, { id: calls[0]?.id, result: served });
      else response.write("[", () => response.socket?.destroy());
    }),
  );
  expect(await rpc.request("a", [])).toBe(2);
});

test("sends user and password as basic authentication, keeps path and query, and no error contains any of them", async () => {
  const node = await startLyingNode((calls, response) => {
    const message = `https://alice:hunter22@${"node"}.invalid/secret-path?key=secret-key is exhausted (secret-key)`;
    json(response, { id: calls[0]?.id, error: { code: -32_005, message } });
  });
  const url = `${node.url.replace("http://", "http://alice:hunter22@")}/secret-path?key=secret-key`;
  const rpc = createRpcTransport({ url });
  closers.push(node.stop, rpc.close);
  const refused: unknown = await rpc.request("eth_chainId", []).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(NodeRefusal);
  expect(node.headers[0]?.authorization).toBe(`Basic ${btoa("alice:hunter22")}`);
  await node.stop();
  const unreachable: unknown = await rpc.request("eth_chainId", []).catch((error: unknown) => error);
  expect(unreachable).toMatchObject({ kind: "network", reason: "request failed (ECONNREFUSED)" });
  for (const error of [refused, unreachable]) {
    const seen =
      error instanceof RpcFault ? `${error.stack} ${JSON.stringify(error)} ${String(error.cause)}` : "";
    expect(seen).not.toMatch(/hunter22|secret|127\.0\.0\.1/);
    expect(seen).not.toBe("");
  }
});

test("refuses an invalid URL without quoting it", () => {
  expect(() => createRpcTransport({ url: "not a url with secret" })).toThrow(
    /^httpRpcUrl is not a valid URL$/,
  );
});

test("viem works on it and still understands reverts", async () => {
  const { rpc } = await connectTo(
    startAnsweringNode(({ method }) =>
      method === "eth_blockNumber"
        ? { result: "0x10" }
        : { error: { code: 3, message: "execution reverted", data: "0xdeadbeef" } },
    ),
  );
  const client = createPublicClient({ transport: viemTransport(rpc) });
  expect(await client.getBlockNumber()).toBe(16n);
  const error: unknown = await client
    .call({ to: `0x${"11".repeat(20)}`, data: "0x00" })
    .catch((e: unknown) => e);
  expect(String(error)).toContain("execution reverted");
});

test("an observer gets each call's method, outcome and duration, and nothing else", async () => {
  const seen: unknown[][] = [];
  const { node, rpc } = await connectTo(
    startLyingNode(([call], response) => {
      const delayMs = call?.method === "slow" ? 60 : call?.method === "silent" ? 5_000 : 0;
      const answer =
        call?.method === "bad" ? { error: { code: 3, message: "execution reverted" } } : { result: "0x1" };
      setTimeout(() => json(response, { jsonrpc: "2.0", id: call?.id, ...answer }), delayMs).unref();
    }),
    { onCall: (...facts) => seen.push(facts), maxBatchSize: 1 },
  );
  const abortController = new AbortController();
  const requests = [
    rpc.request("good", ["secret"]),
    rpc.request("slow", []),
    rpc.request("bad", []),
    rpc.request("silent", [], { deadlineMs: 150 }),
    rpc.request("silent", [], { signal: abortController.signal }),
  ];
  setTimeout(() => abortController.abort(), 20);
  await Promise.allSettled(requests);
  expect(seen.map(([method, outcome]) => `${String(method)} ${String(outcome)}`).toSorted()).toEqual([
    "bad refused",
    "good ok",
    "silent fault",
    "silent fault",
    "slow ok",
  ]);
  const durationsOf = (wantedMethod: string): number[] =>
    seen.filter(([method]) => method === wantedMethod).map(([, , tookMs]) => Number(tookMs));
  expect(durationsOf("slow")[0]).toBeGreaterThanOrEqual(55);
  expect(durationsOf("slow")[0]).toBeLessThan(1_500);
  expect(Math.max(...durationsOf("silent"))).toBeGreaterThanOrEqual(140);
  expect(seen.every((facts) => facts.length === 3)).toBe(true);
  expect(JSON.stringify(seen)).not.toContain(new URL(node.url).port);
});

/**
 * Messages of rate limits as providers document them or as clients reported them: Alchemy, QuickNode, Infura,
 * Chainstack, dRPC, Base.
 */
const rateLimits: [number, number, string][] = [
  [
    429,
    429,
    "Your app has exceeded its compute units per second capacity. If you have retries enabled, ignore this.",
  ],
  [429, -32_007, "50/second request limit reached - reduce calls per second or upgrade your account"],
  [429, -32_005, "project ID request rate exceeded"],
  [429, -32_005, "You've exceeded the RPS limit available on the current plan"],
  [429, 15, "Too many request, try again later"],
  [429, -32_000, "the batch is too large"],
  [503, -32_011, "no backends available for method"],
  [502, -32_603, "upstream connection error: maximum retries"],
  [500, -32_603, "internal error"],
  [200, -32_016, "over rate limit"],
  [200, -32_007, "50/second request limit reached - reduce calls per second or upgrade your account"],
];

test.each(rateLimits)(
  "does not split a batch after status %i and error %i (%s)",
  async (status, code, message) => {
    const { node, rpc } = await connectTo(
      startLyingNode((_, response) =>
        json(response, { jsonrpc: "2.0", id: null, error: { code, message } }, status),
      ),
    );
    const calls = await Promise.allSettled(
      Array.from({ length: 64 }, (_, index) => rpc.request("echo", [index])),
    );
    expect(new Set(calls.map(({ status: callStatus }) => callStatus))).toEqual(new Set(["rejected"]));
    expect(node.requests.map((batch) => batch.length)).toEqual([64]);
  },
);

test.each([
  "Batch of more than 3 requests are not allowed on free tier",
  "batch requests are limited to 3 calls",
  "batch limit 3 exceeded (can increase by --rpc.batch.limit). Requested batch of size: 8",
  "too many requests in batch",
])("a batch refused with status 200 and %s is halved", async (message) => {
  const { node, rpc } = await connectTo(
    startLyingNode((calls, response, isBatch) => {
      const answers = calls.map(({ id, params }) => ({ jsonrpc: "2.0", id, result: params[0] }));
      if (calls.length > 3) json(response, { jsonrpc: "2.0", id: null, error: { code: -32_600, message } });
      else json(response, isBatch ? answers : answers[0]);
    }),
  );
  const values = Array.from({ length: 8 }, (_, index) => index);
  expect(await Promise.all(values.map((value) => rpc.request("echo", [value])))).toEqual(values);
  expect(node.requests.map((batch) => batch.length)).toEqual([8, 4, 4, 2, 2, 2, 2]);
});

test("respects a batch limit with status 500 in later calls", async () => {
  const message = "Batch of more than 3 requests are not allowed on free tier";
  const { node, rpc } = await connectTo(
    startLyingNode((calls, response, isBatch) => {
      const answers = calls.map(({ id, params }) => ({ jsonrpc: "2.0", id, result: params[0] }));
      if (calls.length > 3) json(response, { jsonrpc: "2.0", id: null, error: { code: 31, message } }, 500);
      else json(response, isBatch ? answers : answers[0]);
    }),
  );
  const requestMany = async (size: number): Promise<PromiseSettledResult<unknown>[]> =>
    await Promise.allSettled(Array.from({ length: size }, (_, index) => rpc.request("echo", [index])));
  expect(new Set((await requestMany(8)).map(({ status }) => status))).toEqual(new Set(["rejected"]));
  expect(new Set((await requestMany(8)).map(({ status }) => status))).toEqual(new Set(["fulfilled"]));
  expect(node.requests.map((batch) => batch.length)).toEqual([8, 3, 3, 2]);
  const group = [1, 2, 3, 4].map(echoCall);
  await expect(rpc.requestBatch(group)).rejects.toMatchObject({ kind: "batchRefused" });
  expect(node.requests).toHaveLength(5);
});

/**
 * A node that refuses its first request in the given way and answers the others, with the time of each
 * request.
 */
async function connectToRefusingNode(
  refuse: Refuse,
): Promise<{ node: LyingNode; rpc: RpcTransport; requestTimesMs: readonly number[] }> {
  const requestTimesMs: number[] = [];
  const connected = await connectTo(
    startLyingNode((calls, response, isBatch) => {
      requestTimesMs.push(performance.now());
      if (requestTimesMs.length === 1) {
        refuse(response);
        return;
      }
      const answers = calls.map(({ id, params }) => ({ jsonrpc: "2.0", id, result: params[0] }));
      json(response, isBatch ? answers : answers[0]);
    }),
  );
  return { ...connected, requestTimesMs };
}

type Refuse = (response: ServerResponse) => void;

const tooMany =
  (data?: unknown): Refuse =>
  (response) => {
    const error = { code: -32_005, message: "request rate exceeded", data };
    json(response, { jsonrpc: "2.0", id: null, error }, 429);
  };

const withHeader =
  (status: number, seconds: string): Refuse =>
  (response) => {
    response.writeHead(status, { "retry-after": seconds }).end();
  };

test.each([
  ["the header Retry-After", 1_000, withHeader(429, "1")],
  ["the header Retry-After of a 503", 1_000, withHeader(503, "1")],
  ["backoff_seconds in the error", 1_000, tooMany({ rate: { backoff_seconds: 1, allowed_rps: 1 } })],
  ["try_again_in in the error", 700, tooMany({ try_again_in: "700ms" })],
  ["nothing: a default", 250, tooMany()],
] as const)(
  "calls after a rate limit wait as long as the endpoint asked by %s",
  async (_, waitMs, refuse) => {
    const { node, rpc, requestTimesMs } = await connectToRefusingNode(refuse);
    await expect(rpc.request("echo", [0])).rejects.toBeInstanceOf(RpcFault);
    const answers = Promise.all([rpc.request("echo", [1]), rpc.request("echo", [2])]);
    expect(await rpc.requestBatch([echoCall(3), echoCall(4)])).toEqual([3, 4]);
    expect(await answers).toEqual([1, 2]);
    const [first = 0, second = 0] = requestTimesMs;
    expect(second - first).toBeGreaterThanOrEqual(waitMs);
    expect(node.requests.map((calls) => calls.length).toSorted()).toEqual([1, 2, 2]);
  },
);

test("fails calls immediately during a pause that is longer than callers wait", async () => {
  const { node, rpc } = await connectToRefusingNode(withHeader(429, "30"));
  await expect(rpc.request("echo", [0])).rejects.toMatchObject({ kind: "http" });
  const startedAtMs = performance.now();
  const reason = expect.stringMatching(/^the endpoint rate-limited this service; try again in \d+ s$/);
  await expect(rpc.request("echo", [1])).rejects.toMatchObject({ kind: "http", reason });
  await expect(rpc.requestBatch([echoCall(1)])).rejects.toMatchObject({ kind: "http", reason });
  expect(performance.now() - startedAtMs).toBeLessThan(500);
  expect(node.requests).toHaveLength(1);
});

test("closing does not wait for the end of a pause", async () => {
  const { rpc } = await connectToRefusingNode(withHeader(429, "1"));
  await expect(rpc.request("echo", [0])).rejects.toMatchObject({ kind: "http" });
  const waiting = expect(rpc.request("echo", [1])).rejects.toMatchObject({ kind: "aborted" });
  setTimeout(() => void rpc.close(), 20);
  await waiting;
});

test("a revert message that looks like a rate limit does not pause the endpoint", async () => {
  const message = "execution reverted: rate limit exceeded";
  const { rpc, requestTimesMs } = await connectToRefusingNode((response) =>
    json(response, { jsonrpc: "2.0", id: null, error: { code: 3, message, data: "0xdeadbeef" } }),
  );
  await expect(rpc.request("eth_call", [0])).rejects.toMatchObject({ nodeCode: 3 });
  await rpc.request("echo", [1]);
  const [first = 0, second = 0] = requestTimesMs;
  expect(second - first).toBeLessThan(200);
});

/** Echoes calls, and answers 502 if `isUnavailable` returns true. */
const startGatewayNode = (
  isUnavailable: (call: { readonly method: string }) => boolean,
): Promise<LyingNode> =>
  startLyingNode(([call], response) => {
    if (call !== undefined && isUnavailable(call)) response.writeHead(502).end("bad gateway");
    else json(response, { jsonrpc: "2.0", id: call?.id, result: call?.params[0] });
  });

test("retries a read once after a 502", async () => {
  let failing = 0;
  const { node, rpc } = await connectTo(
    startGatewayNode(() => failing-- > 0),
    { maxBatchSize: 1 },
  );
  for (let n = 0; n < 9; n++) await rpc.request("echo", [n]);
  failing = 1;
  expect(await rpc.request("echo", ["read"])).toBe("read");
  expect(node.requests).toHaveLength(11);
  failing = 2;
  await expect(rpc.request("echo", ["twice"])).rejects.toMatchObject({ kind: "http" });
  expect(node.requests).toHaveLength(13);
});

test("retries a read once after a 503 that names no limit, when the pause is over", async () => {
  let failing = 0;
  const { node, rpc } = await connectTo(
    startLyingNode(([call], response) => {
      if (failing-- > 0) response.writeHead(503).end("unavailable");
      else json(response, { jsonrpc: "2.0", id: call?.id, result: call?.params[0] });
    }),
  );
  for (let n = 0; n < 3; n++) await rpc.request("echo", [n]);
  failing = 1;
  expect(await rpc.request("echo", ["read"])).toBe("read");
  expect(node.requests).toHaveLength(5);
});

test.each([
  "eth_sendRawTransaction",
  "eth_sendRawTransactionConditional",
  "eth_sendPrivateTransaction",
  "sendTransaction",
  "sendrawtransaction",
  "submitpackage",
])("never retries %s, alone or in a batch", async (broadcast) => {
  let isDown = false;
  const { node, rpc } = await connectTo(
    startLyingNode((calls, response) => {
      if (isDown) response.writeHead(502).end("bad gateway");
      else json(response, { jsonrpc: "2.0", id: calls[0]?.id, result: 1 });
    }),
  );
  for (let n = 0; n < 9; n++) await rpc.request("echo", [n]);
  isDown = true;
  await expect(rpc.request(broadcast, ["0x01"])).rejects.toMatchObject({ kind: "http" });
  const batch = await Promise.allSettled([rpc.request("echo", []), rpc.request(broadcast, ["0x02"])]);
  expect(batch.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(node.requests).toHaveLength(11);
});

test("limits retries to a third of the requests that were served before an outage", async () => {
  let isDown = false;
  const { node, rpc } = await connectTo(
    startGatewayNode(() => isDown),
    { maxBatchSize: 1 },
  );
  for (let n = 0; n < 9; n++) await rpc.request("echo", [n]);
  isDown = true;
  for (let n = 0; n < 20; n++) await expect(rpc.request("echo", [n])).rejects.toBeInstanceOf(RpcFault);
  expect(node.requests).toHaveLength(9 + 20 + 3);
});

test("counts every call of a batch against the retries, and reports each retried call", async () => {
  let isDown = false;
  const outcomes: string[] = [];
  const { node, rpc } = await connectTo(
    startLyingNode((calls, response) => {
      if (isDown) response.writeHead(502).end("bad gateway");
      else if (calls.length === 1) json(response, { jsonrpc: "2.0", id: calls[0]?.id, result: 1 });
      else
        json(
          response,
          calls.map(({ id }) => ({ jsonrpc: "2.0", id, result: 1 })),
        );
    }),
    { onCall: (_method, outcome) => outcomes.push(outcome) },
  );
  for (let n = 0; n < 15; n++) await rpc.request("echo", [n]);
  isDown = true;
  const batch = async (calls: number) =>
    await Promise.allSettled(Array.from({ length: calls }, async () => await rpc.request("echo", [])));
  await batch(6);
  expect(node.requests).toHaveLength(15 + 1);
  await batch(5);
  expect(node.requests).toHaveLength(15 + 1 + 2);
  expect(outcomes.filter((outcome) => outcome === "retried")).toHaveLength(5);
});

test("keeps the deadline of a retried request, and aborts it on close", async () => {
  let isSilent = false;
  const { node, rpc } = await connectTo(
    startLyingNode(([call], response) => {
      if (isSilent) return;
      if (call?.method === "fail") {
        isSilent = true;
        response.writeHead(502).end();
      } else json(response, { jsonrpc: "2.0", id: call?.id, result: 1 });
    }),
    { maxBatchSize: 1 },
  );
  for (let n = 0; n < 6; n++) await rpc.request("echo", []);
  const startedAtMs = performance.now();
  await expect(rpc.request("fail", [], { deadlineMs: 400 })).rejects.toMatchObject({ kind: "deadline" });
  expect(performance.now() - startedAtMs).toBeGreaterThan(395);
  expect(node.requests).toHaveLength(8);
  isSilent = false;
  const pendingRetry = expect(rpc.request("fail", [])).rejects.toMatchObject({ kind: "aborted" });
  await expect.poll(() => node.requests.length).toBe(9);
  await rpc.close();
  await pendingRetry;
  expect(node.requests).toHaveLength(9);
});

test("does not retry if a pause would outlast the deadline", async () => {
  const { node, rpc } = await connectTo(
    startLyingNode(([call], response) => {
      if (call?.method === "slow") setTimeout(() => response.writeHead(502).end(), 200);
      else if (call?.method === "limited") response.writeHead(429, { "retry-after": "1" }).end();
      else json(response, { jsonrpc: "2.0", id: call?.id, result: 1 });
    }),
    { maxBatchSize: 1 },
  );
  for (let n = 0; n < 3; n++) await rpc.request("echo", []);
  const startedAtMs = performance.now();
  const slow = expect(rpc.request("slow", [], { deadlineMs: 1_000 })).rejects.toMatchObject({
    kind: "http",
    isPause: true,
  });
  await expect.poll(() => node.requests.length).toBe(4);
  await expect(rpc.request("limited", [])).rejects.toMatchObject({ kind: "http" });
  await slow;
  expect(performance.now() - startedAtMs).toBeLessThan(1_000);
  expect(node.requests).toHaveLength(5);
});
