import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import type { Address, Hex } from "@causeway/domain";
import { keccakOf } from "@causeway/domain";
import { RpcFault } from "@causeway/families";
import { aChain } from "../../test/chain.ts";
import type { Answer } from "../../test/lying-node.ts";
import {
  blockHash,
  blockOf,
  quantity,
  startScriptedEndpoint,
  type Script,
  type ScriptedEndpoint,
} from "../../test/scripted-endpoint.ts";
import type { ConnectOptions } from "./connect-options.ts";
import { connectEvmChain, type EvmConnection } from "./connect.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const account: Address = `0x${"a1".repeat(20)}`;
const txHash: Hex = `0x${"77".repeat(32)}`;
const raw: Hex = `0x02${"ab".repeat(40)}`;

interface Pool {
  readonly endpoints: readonly ScriptedEndpoint[];
  readonly connection: EvmConnection;
  readonly faults: readonly unknown[];
  readonly disagreements: readonly string[];
}

/** A chain with 1 s blocks behind these endpoints. */
async function connectPool(
  scripts: readonly Partial<Script>[],
  {
    rpcQuorum,
    wsRpcUrl,
    now,
  }: { readonly rpcQuorum?: number; readonly wsRpcUrl?: string; readonly now?: () => number } = {},
): Promise<Pool> {
  const endpoints = await Promise.all(scripts.map(async (script) => await startScriptedEndpoint(script)));
  const urls = endpoints.map(({ url }) => url);
  const faults: unknown[] = [];
  const disagreements: string[] = [];
  const options: ConnectOptions = {
    rpc: { deadlineMs: 1_500 },
    ...(now !== undefined && { now }),
    onFault: (fault) => faults.push(fault),
    onDisagreement: (question, hosts) => {
      for (const host of hosts)
        disagreements.push(`${question} ${endpoints.findIndex(({ url }) => url.endsWith(host))}`);
    },
  };
  const contracts = { depository: account, multicall3: account, router: account };
  const chain = {
    ...aChain(7, urls[0] ?? "", contracts, []),
    blockTimeSeconds: 1,
    rpcUrls: urls,
    wsRpcUrl,
    ...(rpcQuorum !== undefined && { rpcQuorum }),
  };
  const connection = connectEvmChain(chain, options);
  closers.push(...endpoints.map(({ stop }) => stop), connection.close);
  return { endpoints, connection, faults, disagreements };
}

const headOf = ({ connection }: Pool): number => Number(connection.heads.latest?.number ?? -1);
const statesOf = ({ connection }: Pool): string[] => connection.endpoints().map(({ state }) => state);
const leadOf = ({ connection }: Pool): number => connection.endpoints().findIndex(({ isLead }) => isLead);
const refuseWith = (message: string, code = -32_000): (() => Answer) => {
  return () => ({ error: { code, message } });
};

function receiptOf(height: number, fields: object = {}): object {
  return {
    transactionHash: txHash,
    status: "0x1",
    blockNumber: quantity(height),
    blockHash: blockHash(height),
    gasUsed: "0x5208",
    effectiveGasPrice: "0x1",
    logs: [],
    ...fields,
  };
}

const transaction = { hash: txHash, from: account, to: account, input: "0x", value: "0x7", nonce: "0x4" };

/** Answers of a node that has the transaction in block 90, with these changes to its receipt. */
const minedAnswers = (fields: object = {}): Script["answers"] => ({
  eth_getTransactionReceipt: () => ({ result: receiptOf(90, fields) }),
  eth_getTransactionByHash: () => ({ result: { ...transaction, blockHash: blockHash(90) } }),
});
const pendingAnswers: Script["answers"] = {
  eth_getTransactionByHash: () => ({ result: { ...transaction, blockHash: null } }),
};

/** Ordinary reads of a pool whose first endpoint misbehaves; another one answers all of them. */
test.each<readonly [name: string, script: Partial<Script>]>([
  ["429 with Retry-After", { http: { status: 429, headers: { "retry-after": "30" } } }],
  ["503", { http: { status: 503 } }],
  ["an HTML page", { http: { status: 200 } }],
  ["a rate limit in JSON", { answers: { eth_getBalance: refuseWith("request rate exceeded", -32_005) } }],
  ["an unknown block (geth)", { answers: { eth_getBalance: refuseWith("header not found") } }],
  ["a missing state (erigon)", { answers: { eth_getBalance: refuseWith("missing trie node 0xab") } }],
  [
    "an unknown block (nethermind)",
    { answers: { eth_getBalance: refuseWith("Block 0x1 could not be found") } },
  ],
  ["a missing method (besu)", { answers: { eth_getBalance: refuseWith("Method not found", -32_601) } }],
])("a request that the lead answers with %s is answered by another endpoint", async (_, script) => {
  const balance = { eth_getBalance: () => ({ result: "0x9" }) };
  const { connection } = await connectPool([script, { answers: balance }, { answers: balance }]);
  const startedAtMs = performance.now();
  expect(await connection.transport.request("eth_getBalance", [account, "latest"])).toBe("0x9");
  expect(performance.now() - startedAtMs).toBeLessThan(1_000);
});

test("returns a refusal of the request itself as the answer, without asking another endpoint", async () => {
  const { endpoints, connection } = await connectPool([
    { answers: { eth_call: refuseWith("execution reverted", 3) } },
    {},
    {},
  ]);
  await expect(connection.transport.request("eth_call", [])).rejects.toThrow("execution reverted");
  expect(endpoints.map((endpoint) => endpoint.count("eth_call"))).toEqual([1, 0, 0]);
});

test("another endpoint answers a request to a hanging one within a second, and gets the next ones directly", async () => {
  const balance = { eth_getBalance: () => ({ result: "0x9" }) };
  const pool = await connectPool([
    { answers: balance, delayMs: 5_000 },
    { answers: balance },
    { answers: balance },
  ]);
  const { connection } = pool;
  await connection.transport.request("eth_getBalance", [account, "latest"]);
  expect(leadOf(pool)).not.toBe(0);
  const startedAtMs = performance.now();
  await connection.transport.request("eth_getBalance", [account, "latest"]);
  expect(performance.now() - startedAtMs).toBeLessThan(300);
});

test("an endpoint that fails after another one answered causes no further requests", async () => {
  const balance = { eth_getBalance: () => ({ result: "0x9" }) };
  const { endpoints, connection } = await connectPool([
    { answers: balance, delayMs: 5_000 },
    { answers: balance },
    { answers: balance },
  ]);
  await connection.transport.request("eth_getBalance", [account, "latest"]);
  // Until the deadline of the first endpoint has passed.
  await sleep(1_600);
  const [, ...others] = endpoints.map((endpoint) => endpoint.count("eth_getBalance"));
  expect(others.toSorted()).toEqual([0, 1]);
});

test("sends no calls to an endpoint that asked for a pause, while the others continue", async () => {
  const pool = await connectPool([{ http: { status: 429, headers: { "retry-after": "30" } } }, {}, {}]);
  const [limited] = pool.endpoints;
  await expect.poll(() => headOf(pool)).toBe(100);
  await expect.poll(() => statesOf(pool)).toEqual(["paused", "ok", "ok"]);
  const before = limited?.requests.length;
  expect(await pool.connection.reader.nonce(account, "latest")).toBe(5);
  expect(limited?.requests.length).toBe(before);
  expect(leadOf(pool)).not.toBe(0);
});

test("excludes and reports an endpoint of another chain, and refuses the connection if all are", async () => {
  const pool = await connectPool([{ chainId: 8 }, {}, {}]);
  await pool.connection.verify();
  await expect.poll(() => headOf(pool)).toBe(100);
  expect(statesOf(pool)).toEqual(["wrongChain", "ok", "ok"]);
  expect(pool.faults.some((fault) => fault instanceof RpcFault && fault.kind === "wrongChain")).toBe(true);
  const wrong = await connectPool([{ chainId: 8 }, { chainId: 9 }]);
  await expect(wrong.connection.verify()).rejects.toMatchObject({ kind: "wrongChain" });
});

test.each<readonly [name: string, heights: readonly number[], quorum: number | undefined, head: number]>([
  ["one of three is ahead", [103, 100, 100], undefined, 100],
  ["one announces an absurd height", [Number.MAX_SAFE_INTEGER, 100, 100], undefined, 100],
  ["one announces an absurd height and one decides", [Number.MAX_SAFE_INTEGER, 100], 1, 100],
  ["two of three lag", [100, 97, 96], undefined, 97],
  ["one of three lags", [100, 100, 40], undefined, 100],
  ["one of two lags", [100, 98], undefined, 98],
])("the head is what a quorum has reached: %s", async (_, heights, rpcQuorum, head) => {
  const pool = await connectPool(
    heights.map((height) => ({ height })),
    rpcQuorum === undefined ? {} : { rpcQuorum },
  );
  await expect.poll(() => headOf(pool)).toBe(head);
  await sleep(300);
  expect(headOf(pool)).toBe(head);
  expect(Number((await pool.connection.reader.head()).number)).toBe(head);
  expect(statesOf(pool)[leadOf(pool)]).toBe("ok");
});

test("the head never decreases while an endpoint has it, advances when the others return, and follows a rollback of all", async () => {
  const pool = await connectPool([{}, {}, {}]);
  const seen: number[] = [];
  pool.connection.heads.onHead(({ number }) => seen.push(Number(number)));
  await expect.poll(() => headOf(pool)).toBe(100);
  const [, second, third] = pool.endpoints;
  for (const endpoint of [second, third]) if (endpoint) endpoint.script.height = 95;
  await sleep(1_500);
  expect(headOf(pool)).toBe(100);
  for (const endpoint of [second, third]) if (endpoint) endpoint.script.height = 101;
  await expect.poll(() => headOf(pool)).toBe(101);
  expect(seen).toEqual([100, 101]);
  for (const { script } of pool.endpoints) script.height = 99;
  await expect.poll(() => headOf(pool), { timeout: 4_000 }).toBe(99);
});

test("heads continue while a socket is open but silent", async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await new Promise((resolve) => server.once("listening", resolve));
  server.on("connection", (socket) => {
    socket.on("message", (data: Buffer) => {
      const { id, method } = JSON.parse(data.toString()) as { id: number; method: string };
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, result: method === "eth_chainId" ? "0x7" : "0x1" }));
    });
  });
  closers.push(async () => {
    for (const socket of server.clients) socket.terminate();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const pool = await connectPool([{}, {}], { wsRpcUrl: `ws://127.0.0.1:${port}` });
  await expect.poll(() => headOf(pool)).toBe(100);
  for (const { script } of pool.endpoints) script.height = 101;
  await expect.poll(() => headOf(pool), { timeout: 4_000 }).toBe(101);
});

test("ignores a head with an invented hash", async () => {
  const forged = ({ params: [tag] }: { params: readonly unknown[] }): Answer | undefined =>
    tag === "latest" || tag === quantity(100) ? { result: blockOf(100, "f") } : undefined;
  const pool = await connectPool([{ answers: { eth_getBlockByNumber: forged } }, {}, {}]);
  await expect.poll(() => pool.connection.heads.latest?.hash).toBe(blockHash(100));
  expect((await pool.connection.reader.block(100n))?.hash).toBe(blockHash(100));
});

const absentAnswers: Script["answers"] = {};

test.each<readonly [name: string, answers: readonly Script["answers"][], status: string | undefined]>([
  ["all agree", [minedAnswers(), minedAnswers(), minedAnswers()], "success"],
  ["one forges the status", [minedAnswers({ status: "0x0" }), minedAnswers(), minedAnswers()], "success"],
  [
    "one forges the logs of a payment",
    [minedAnswers({ gasUsed: "0x1" }), minedAnswers(), minedAnswers()],
    "success",
  ],
  ["one lacks it", [absentAnswers, minedAnswers(), minedAnswers()], "success"],
  ["one invents it", [minedAnswers(), absentAnswers, absentAnswers], undefined],
  ["two of two agree", [minedAnswers(), minedAnswers()], "success"],
])("a receipt is what a quorum shows: %s", async (_, scripts, status) => {
  const { connection } = await connectPool(scripts.map((answers) => ({ answers })));
  expect((await connection.reader.receipt(txHash))?.status).toBe(status);
});

test.each<readonly [name: string, answers: readonly Script["answers"][]]>([
  ["one of two forges it", [minedAnswers({ status: "0x0" }), minedAnswers()]],
  ["one of two lacks it", [absentAnswers, minedAnswers()]],
  [
    "each says something else",
    [minedAnswers({ status: "0x0" }), minedAnswers(), minedAnswers({ gasUsed: "0x1" })],
  ],
])("nothing is concluded about a receipt on which no quorum agrees: %s", async (_, scripts) => {
  const { connection } = await connectPool(scripts.map((answers) => ({ answers })));
  await expect(connection.reader.receipt(txHash)).rejects.toMatchObject({ kind: "inconsistent" });
});

test("reports an endpoint that forged a receipt", async () => {
  const pool = await connectPool([
    { answers: minedAnswers() },
    { answers: minedAnswers() },
    { answers: minedAnswers({ status: "0x0" }), delayMs: 100 },
  ]);
  await pool.connection.reader.receipt(txHash);
  await expect.poll(() => pool.disagreements).toEqual(["eth_getTransactionReceipt 2"]);
});

test.each<readonly [name: string, answers: readonly Script["answers"][], kind: string]>([
  ["a quorum mined it", [minedAnswers(), minedAnswers(), absentAnswers], "mined"],
  ["one mined it, one has it pending", [minedAnswers(), pendingAnswers, absentAnswers], "pending"],
  ["a quorum has it pending", [pendingAnswers, pendingAnswers, absentAnswers], "pending"],
  ["no endpoint knows it", [absentAnswers, absentAnswers, absentAnswers], "absent"],
])("a transaction is what a quorum knows: %s", async (_, scripts, kind) => {
  const { connection } = await connectPool(scripts.map((answers) => ({ answers })));
  expect((await connection.reader.transaction(txHash)).kind).toBe(kind);
});

test("a transaction that only one endpoint shows is neither absent nor pending", async () => {
  const { connection } = await connectPool([{ answers: pendingAnswers }, {}, {}]);
  await expect(connection.reader.transaction(txHash)).rejects.toMatchObject({ kind: "inconsistent" });
});

test.each<readonly [name: string, counts: readonly number[], agreed: number, highest: number]>([
  ["equal", [5, 5, 5], 5, 5],
  ["one alone shows a payment", [6, 5, 5], 5, 6],
  ["one lags", [6, 6, 5], 6, 6],
  ["one is absurd", [Number.MAX_SAFE_INTEGER, 6, 5], 6, 6],
])(
  "a nonce counts as used if a quorum shows it, and as not free if any endpoint shows it: %s",
  async (_, counts, agreed, highest) => {
    const { connection } = await connectPool(
      counts.map((count) => ({
        answers: { eth_getTransactionCount: () => ({ result: quantity(count) }) },
      })),
    );
    expect(await connection.reader.nonce(account, "latest")).toBe(agreed);
    expect(await connection.reader.nonce(account, "latest", "highest")).toBe(highest);
  },
);

test("reports an endpoint whose nonce the others do not confirm within 30 s", async () => {
  let nowMs = 0;
  const script = (count: number): Partial<Script> => ({
    answers: { eth_getTransactionCount: () => ({ result: quantity(count) }) },
  });
  const pool = await connectPool([script(5), script(6), script(5)], { now: () => nowMs });
  const read = async () => await pool.connection.reader.nonce(account, "latest", "highest");
  expect(await read()).toBe(6);
  nowMs = 29_000;
  await read();
  expect(pool.disagreements).toEqual([]);
  nowMs = 30_000;
  expect(await read()).toBe(6);
  expect(pool.disagreements).toEqual(["eth_getTransactionCount 1"]);
});

test("does not report an endpoint that is the first to show each nonce", async () => {
  let nowMs = 0;
  let usedNonces = 5;
  const script = (lead: number): Partial<Script> => ({
    answers: { eth_getTransactionCount: () => ({ result: quantity(usedNonces + lead) }) },
  });
  const pool = await connectPool([script(0), script(1), script(0)], { now: () => nowMs });
  for (; usedNonces < 8; usedNonces++, nowMs += 40_000)
    await pool.connection.reader.nonce(account, "pending", "highest");
  expect(pool.disagreements).toEqual([]);
});

const codeAnswers = (result: Hex): Script["answers"] => ({ eth_getCode: () => ({ result }) });

test.each<readonly [name: string, codes: readonly Hex[], hasCode: boolean]>([
  ["the lead hides it", ["0x", "0x60", "0x60"], true],
  ["the lead invents it", ["0x60", "0x", "0x"], false],
])("an account has code if a quorum shows it: %s", async (_, codes, hasCode) => {
  const { connection } = await connectPool(
    codes.map((accountCode) => ({ answers: codeAnswers(accountCode) })),
  );
  expect(await connection.reader.hasCode(account)).toBe(hasCode);
});

test("does not decide about code if two endpoints disagree", async () => {
  const { connection } = await connectPool([
    { answers: codeAnswers("0x") },
    { answers: codeAnswers("0x60") },
  ]);
  await expect(connection.reader.hasCode(account)).rejects.toMatchObject({ kind: "inconsistent" });
});

const feeAnswers = (wei: number): Script["answers"] => ({
  eth_feeHistory: () => ({ result: { baseFeePerGas: [quantity(wei)], reward: [["0x0"]] } }),
});

test.each<readonly [name: string, baseFees: readonly number[], median: bigint]>([
  ["the lead is absurdly high", [10 ** 15, 10, 12], 12n],
  ["the lead is absurdly low", [0, 10, 12], 10n],
  ["one of two is high", [10 ** 15, 10], 10n],
])("gas prices are the lower median: %s", async (_, baseFees, median) => {
  const { connection } = await connectPool(baseFees.map((wei) => ({ answers: feeAnswers(wei) })));
  expect((await connection.reader.gasPrices()).baseFeePerGas).toBe(median);
});

test("gas prices need only one endpoint, and each endpoint is queried once per block", async () => {
  const pool = await connectPool([
    { answers: feeAnswers(7) },
    { answers: feeAnswers(7) },
    { http: { status: 503 } },
  ]);
  await expect.poll(() => headOf(pool)).toBe(100);
  for (let index = 0; index < 3; index++)
    expect((await pool.connection.reader.gasPrices()).baseFeePerGas).toBe(7n);
  expect(pool.endpoints.map((endpoint) => endpoint.count("eth_feeHistory")).slice(0, 2)).toEqual([1, 1]);
});

test("with fewer endpoints than the quorum, decides nothing, but ordinary reads continue", async () => {
  const unavailable = { http: { status: 503 } };
  const pool = await connectPool([
    { answers: { ...minedAnswers(), eth_getBalance: () => ({ result: "0x9" }) } },
    unavailable,
    unavailable,
  ]);
  await expect(pool.connection.reader.receipt(txHash)).rejects.toBeInstanceOf(RpcFault);
  await expect(pool.connection.reader.nonce(account, "latest", "highest")).rejects.toBeInstanceOf(RpcFault);
  await expect(pool.connection.reader.head()).rejects.toBeInstanceOf(RpcFault);
  expect(headOf(pool)).toBe(-1);
  expect(await pool.connection.transport.request("eth_getBalance", [account, "latest"])).toBe("0x9");
});

test("ignores deposits in the logs of another block, which one endpoint returns", async () => {
  const log = {
    address: account,
    topics: [`0x${"de".repeat(32)}`],
    data: "0x",
    logIndex: "0x0",
    blockNumber: quantity(100),
    blockHash: blockHash(100),
    transactionHash: txHash,
  };
  const { connection } = await connectPool([
    {
      answers: {
        eth_getBlockByHash: () => ({ result: blockOf(100) }),
        // Another block's logs.
        eth_getLogs: () => ({ result: [{ ...log, blockHash: blockHash(100, "f") }] }),
      },
    },
    {},
    {},
  ]);
  const range = { from: 100n, to: 100n, hashes: new Map([[100n, blockHash(100)]]) };
  expect(await connection.reader.depositsIn(range)).toEqual([]);
});

const acceptAnswers: Script["answers"] = { eth_sendRawTransaction: () => ({ result: keccakOf(raw) }) };
const broadcastRefusal = (message: string): Script["answers"] => ({
  eth_sendRawTransaction: refuseWith(message),
});

test.each<readonly [name: string, answers: readonly Script["answers"][], kind: string]>([
  [
    "accepted by one",
    [broadcastRefusal("nonce too low"), acceptAnswers, broadcastRefusal("transaction underpriced")],
    "accepted",
  ],
  [
    "known to one (geth)",
    [broadcastRefusal("already known"), broadcastRefusal("nonce too low"), broadcastRefusal("x")],
    "alreadyKnown",
  ],
  [
    "known to one (nethermind)",
    [broadcastRefusal("AlreadyKnown"), broadcastRefusal("OldNonce"), broadcastRefusal("x")],
    "alreadyKnown",
  ],
  [
    "known to one (besu)",
    [broadcastRefusal("Known transaction"), broadcastRefusal("x"), broadcastRefusal("x")],
    "alreadyKnown",
  ],
  [
    "a used nonce (erigon)",
    [broadcastRefusal("nonce too low"), broadcastRefusal("invalid sender"), broadcastRefusal("x")],
    "nonceTooLow",
  ],
  [
    "rejected by a quorum",
    [broadcastRefusal("invalid sender"), broadcastRefusal("invalid sender"), broadcastRefusal("x")],
    "rejected",
  ],
])("bytes are sent to every endpoint: %s", async (_, scripts, kind) => {
  const { endpoints, connection } = await connectPool(scripts.map((answers) => ({ answers })));
  expect((await connection.writer.broadcast(raw)).kind).toBe(kind);
  await expect
    .poll(() => endpoints.map((endpoint) => endpoint.count("eth_sendRawTransaction")))
    .toEqual([1, 1, 1]);
});

test.each<readonly [name: string, answers: readonly Script["answers"][], reports: readonly string[]]>([
  [
    "a quorum lacks the funds",
    [
      acceptAnswers,
      broadcastRefusal("insufficient funds for gas"),
      broadcastRefusal("insufficient funds for gas"),
    ],
    ["eth_sendRawTransaction (insufficientFunds) 0"],
  ],
  [
    "one of two refuses them",
    [acceptAnswers, broadcastRefusal("transaction underpriced")],
    ["eth_sendRawTransaction (underpriced) 0", "eth_sendRawTransaction (underpriced) 1"],
  ],
  ["a quorum has them", [broadcastRefusal("insufficient funds for gas"), acceptAnswers, acceptAnswers], []],
  [
    "a block has them",
    [acceptAnswers, broadcastRefusal("nonce too low"), broadcastRefusal("nonce too low")],
    [],
  ],
])("an endpoint that alone accepts bytes is named: %s", async (_, scripts, reports) => {
  const pool = await connectPool(
    scripts.map((answers, index) => ({ answers, delayMs: index === 0 ? 0 : 50 })),
  );
  await pool.connection.writer.broadcast(raw);
  await sleep(300);
  expect(pool.disagreements).toEqual(reports);
});

test("a rejection by one endpoint does not cancel a payment while the others do not answer", async () => {
  const { connection } = await connectPool([
    { answers: broadcastRefusal("invalid sender") },
    { http: { status: 503 } },
    { http: { status: 503 } },
  ]);
  await expect(connection.writer.broadcast(raw)).rejects.toBeInstanceOf(RpcFault);
});

test("statuses contain the host of a URL and nothing else of it", async () => {
  const endpoint = await startScriptedEndpoint();
  closers.push(endpoint.stop);
  const contracts = { depository: account, multicall3: account, router: account };
  const secret = `${endpoint.url}/v2/secret-key`;
  const chain = { ...aChain(7, secret, contracts, []), rpcUrls: [secret, `${endpoint.url}/v3/secret-key`] };
  const connection = connectEvmChain(chain);
  closers.push(connection.close);
  const { host } = new URL(endpoint.url);
  expect(connection.endpoints().map((status) => status.host)).toEqual([host, `${host}#2`]);
  expect(JSON.stringify(connection.endpoints())).not.toContain("secret-key");
});
