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
async function pool(
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
const refusing = (message: string, code = -32_000): (() => Answer) => {
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
const mining = (fields: object = {}): Script["answers"] => ({
  eth_getTransactionReceipt: () => ({ result: receiptOf(90, fields) }),
  eth_getTransactionByHash: () => ({ result: { ...transaction, blockHash: blockHash(90) } }),
});
const pending: Script["answers"] = {
  eth_getTransactionByHash: () => ({ result: { ...transaction, blockHash: null } }),
};

/** Ordinary reads of a pool whose first endpoint misbehaves; another one answers all of them. */
test.each<readonly [name: string, script: Partial<Script>]>([
  ["429 with Retry-After", { http: { status: 429, headers: { "retry-after": "30" } } }],
  ["503", { http: { status: 503 } }],
  ["an HTML page", { http: { status: 200 } }],
  ["a rate limit in JSON", { answers: { eth_getBalance: refusing("request rate exceeded", -32_005) } }],
  ["an unknown block (geth)", { answers: { eth_getBalance: refusing("header not found") } }],
  ["a missing state (erigon)", { answers: { eth_getBalance: refusing("missing trie node 0xab") } }],
  [
    "an unknown block (nethermind)",
    { answers: { eth_getBalance: refusing("Block 0x1 could not be found") } },
  ],
  ["a missing method (besu)", { answers: { eth_getBalance: refusing("Method not found", -32_601) } }],
])("a request that the lead answers with %s is answered by another endpoint", async (_, script) => {
  const balance = { eth_getBalance: () => ({ result: "0x9" }) };
  const { connection } = await pool([script, { answers: balance }, { answers: balance }]);
  const startedAtMs = performance.now();
  expect(await connection.transport.request("eth_getBalance", [account, "latest"])).toBe("0x9");
  expect(performance.now() - startedAtMs).toBeLessThan(1_000);
});

test("returns a refusal of the request itself as the answer, without asking another endpoint", async () => {
  const { endpoints, connection } = await pool([
    { answers: { eth_call: refusing("execution reverted", 3) } },
    {},
    {},
  ]);
  await expect(connection.transport.request("eth_call", [])).rejects.toThrow("execution reverted");
  expect(endpoints.map((endpoint) => endpoint.count("eth_call"))).toEqual([1, 0, 0]);
});

test("another endpoint answers a request to a hanging one within a second, and gets the next ones directly", async () => {
  const balance = { eth_getBalance: () => ({ result: "0x9" }) };
  const world = await pool([
    { answers: balance, delayMs: 5_000 },
    { answers: balance },
    { answers: balance },
  ]);
  const { connection } = world;
  await connection.transport.request("eth_getBalance", [account, "latest"]);
  expect(leadOf(world)).not.toBe(0);
  const startedAtMs = performance.now();
  await connection.transport.request("eth_getBalance", [account, "latest"]);
  expect(performance.now() - startedAtMs).toBeLessThan(300);
});

test("an endpoint that fails after another one answered causes no further requests", async () => {
  const balance = { eth_getBalance: () => ({ result: "0x9" }) };
  const { endpoints, connection } = await pool([
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
  const world = await pool([{ http: { status: 429, headers: { "retry-after": "30" } } }, {}, {}]);
  const [limited] = world.endpoints;
  await expect.poll(() => headOf(world)).toBe(100);
  await expect.poll(() => statesOf(world)).toEqual(["paused", "ok", "ok"]);
  const before = limited?.requests.length;
  expect(await world.connection.reader.nonce(account, "latest")).toBe(5);
  expect(limited?.requests.length).toBe(before);
  expect(leadOf(world)).not.toBe(0);
});

test("excludes and reports an endpoint of another chain, and refuses the connection if all are", async () => {
  const world = await pool([{ chainId: 8 }, {}, {}]);
  await world.connection.verify();
  await expect.poll(() => headOf(world)).toBe(100);
  expect(statesOf(world)).toEqual(["wrongChain", "ok", "ok"]);
  expect(world.faults.some((fault) => fault instanceof RpcFault && fault.kind === "wrongChain")).toBe(true);
  const wrong = await pool([{ chainId: 8 }, { chainId: 9 }]);
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
  const world = await pool(
    heights.map((height) => ({ height })),
    rpcQuorum === undefined ? {} : { rpcQuorum },
  );
  await expect.poll(() => headOf(world)).toBe(head);
  await sleep(300);
  expect(headOf(world)).toBe(head);
  expect(Number((await world.connection.reader.head()).number)).toBe(head);
  expect(statesOf(world)[leadOf(world)]).toBe("ok");
});

test("the head never decreases while an endpoint has it, advances when the others return, and follows a rollback of all", async () => {
  const world = await pool([{}, {}, {}]);
  const seen: number[] = [];
  world.connection.heads.onHead(({ number }) => seen.push(Number(number)));
  await expect.poll(() => headOf(world)).toBe(100);
  const [, second, third] = world.endpoints;
  for (const endpoint of [second, third]) if (endpoint) endpoint.script.height = 95;
  await sleep(1_500);
  expect(headOf(world)).toBe(100);
  for (const endpoint of [second, third]) if (endpoint) endpoint.script.height = 101;
  await expect.poll(() => headOf(world)).toBe(101);
  expect(seen).toEqual([100, 101]);
  for (const { script } of world.endpoints) script.height = 99;
  await expect.poll(() => headOf(world), { timeout: 4_000 }).toBe(99);
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
  const world = await pool([{}, {}], { wsRpcUrl: `ws://127.0.0.1:${port}` });
  await expect.poll(() => headOf(world)).toBe(100);
  for (const { script } of world.endpoints) script.height = 101;
  await expect.poll(() => headOf(world), { timeout: 4_000 }).toBe(101);
});

test("ignores a head with an invented hash", async () => {
  const forged = ({ params: [tag] }: { params: readonly unknown[] }): Answer | undefined =>
    tag === "latest" || tag === quantity(100) ? { result: blockOf(100, "f") } : undefined;
  const world = await pool([{ answers: { eth_getBlockByNumber: forged } }, {}, {}]);
  await expect.poll(() => world.connection.heads.latest?.hash).toBe(blockHash(100));
  expect((await world.connection.reader.block(100n))?.hash).toBe(blockHash(100));
});

const absent: Script["answers"] = {};

test.each<readonly [name: string, answers: readonly Script["answers"][], status: string | undefined]>([
  ["all agree", [mining(), mining(), mining()], "success"],
  ["one forges the status", [mining({ status: "0x0" }), mining(), mining()], "success"],
  ["one forges the logs of a payment", [mining({ gasUsed: "0x1" }), mining(), mining()], "success"],
  ["one lacks it", [absent, mining(), mining()], "success"],
  ["one invents it", [mining(), absent, absent], undefined],
  ["two of two agree", [mining(), mining()], "success"],
])("a receipt is what a quorum shows: %s", async (_, scripts, status) => {
  const { connection } = await pool(scripts.map((answers) => ({ answers })));
  expect((await connection.reader.receipt(txHash))?.status).toBe(status);
});

test.each<readonly [name: string, answers: readonly Script["answers"][]]>([
  ["one of two forges it", [mining({ status: "0x0" }), mining()]],
  ["one of two lacks it", [absent, mining()]],
  ["each says something else", [mining({ status: "0x0" }), mining(), mining({ gasUsed: "0x1" })]],
])("nothing is concluded about a receipt on which no quorum agrees: %s", async (_, scripts) => {
  const { connection } = await pool(scripts.map((answers) => ({ answers })));
  await expect(connection.reader.receipt(txHash)).rejects.toMatchObject({ kind: "inconsistent" });
});

test("reports an endpoint that forged a receipt", async () => {
  const world = await pool([
    { answers: mining() },
    { answers: mining() },
    { answers: mining({ status: "0x0" }), delayMs: 100 },
  ]);
  await world.connection.reader.receipt(txHash);
  await expect.poll(() => world.disagreements).toEqual(["eth_getTransactionReceipt 2"]);
});

test.each<readonly [name: string, answers: readonly Script["answers"][], kind: string]>([
  ["a quorum mined it", [mining(), mining(), absent], "mined"],
  ["one mined it, one has it pending", [mining(), pending, absent], "pending"],
  ["a quorum has it pending", [pending, pending, absent], "pending"],
  ["no endpoint knows it", [absent, absent, absent], "absent"],
])("a transaction is what a quorum knows: %s", async (_, scripts, kind) => {
  const { connection } = await pool(scripts.map((answers) => ({ answers })));
  expect((await connection.reader.transaction(txHash)).kind).toBe(kind);
});

test("a transaction that only one endpoint shows is neither absent nor pending", async () => {
  const { connection } = await pool([{ answers: pending }, {}, {}]);
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
    const { connection } = await pool(
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
  const world = await pool([script(5), script(6), script(5)], { now: () => nowMs });
  const read = async () => await world.connection.reader.nonce(account, "latest", "highest");
  expect(await read()).toBe(6);
  nowMs = 29_000;
  await read();
  expect(world.disagreements).toEqual([]);
  nowMs = 30_000;
  expect(await read()).toBe(6);
  expect(world.disagreements).toEqual(["eth_getTransactionCount 1"]);
});

test("does not report an endpoint that is the first to show each nonce", async () => {
  let nowMs = 0;
  let used = 5;
  const script = (lead: number): Partial<Script> => ({
    answers: { eth_getTransactionCount: () => ({ result: quantity(used + lead) }) },
  });
  const world = await pool([script(0), script(1), script(0)], { now: () => nowMs });
  for (; used < 8; used++, nowMs += 40_000)
    await world.connection.reader.nonce(account, "pending", "highest");
  expect(world.disagreements).toEqual([]);
});

const code = (result: Hex): Script["answers"] => ({ eth_getCode: () => ({ result }) });

test.each<readonly [name: string, codes: readonly Hex[], hasCode: boolean]>([
  ["the lead hides it", ["0x", "0x60", "0x60"], true],
  ["the lead invents it", ["0x60", "0x", "0x"], false],
])("an account has code if a quorum shows it: %s", async (_, codes, hasCode) => {
  const { connection } = await pool(codes.map((one) => ({ answers: code(one) })));
  expect(await connection.reader.hasCode(account)).toBe(hasCode);
});

test("does not decide about code if two endpoints disagree", async () => {
  const { connection } = await pool([{ answers: code("0x") }, { answers: code("0x60") }]);
  await expect(connection.reader.hasCode(account)).rejects.toMatchObject({ kind: "inconsistent" });
});

const pricing = (wei: number): Script["answers"] => ({
  eth_feeHistory: () => ({ result: { baseFeePerGas: [quantity(wei)], reward: [["0x0"]] } }),
});

test.each<readonly [name: string, baseFees: readonly number[], median: bigint]>([
  ["the lead is absurdly high", [10 ** 15, 10, 12], 12n],
  ["the lead is absurdly low", [0, 10, 12], 10n],
  ["one of two is high", [10 ** 15, 10], 10n],
])("gas prices are the lower median: %s", async (_, baseFees, median) => {
  const { connection } = await pool(baseFees.map((wei) => ({ answers: pricing(wei) })));
  expect((await connection.reader.gasPrices()).baseFeePerGas).toBe(median);
});

test("gas prices need only one endpoint, and each endpoint is queried once per block", async () => {
  const world = await pool([{ answers: pricing(7) }, { answers: pricing(7) }, { http: { status: 503 } }]);
  await expect.poll(() => headOf(world)).toBe(100);
  for (let at = 0; at < 3; at++) expect((await world.connection.reader.gasPrices()).baseFeePerGas).toBe(7n);
  expect(world.endpoints.map((endpoint) => endpoint.count("eth_feeHistory")).slice(0, 2)).toEqual([1, 1]);
});

test("with fewer endpoints than the quorum, decides nothing, but ordinary reads continue", async () => {
  const down = { http: { status: 503 } };
  const world = await pool([
    { answers: { ...mining(), eth_getBalance: () => ({ result: "0x9" }) } },
    down,
    down,
  ]);
  await expect(world.connection.reader.receipt(txHash)).rejects.toBeInstanceOf(RpcFault);
  await expect(world.connection.reader.nonce(account, "latest", "highest")).rejects.toBeInstanceOf(RpcFault);
  await expect(world.connection.reader.head()).rejects.toBeInstanceOf(RpcFault);
  expect(headOf(world)).toBe(-1);
  expect(await world.connection.transport.request("eth_getBalance", [account, "latest"])).toBe("0x9");
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
  const { connection } = await pool([
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

const accepting: Script["answers"] = { eth_sendRawTransaction: () => ({ result: keccakOf(raw) }) };
const sending = (message: string): Script["answers"] => ({ eth_sendRawTransaction: refusing(message) });

test.each<readonly [name: string, answers: readonly Script["answers"][], kind: string]>([
  ["accepted by one", [sending("nonce too low"), accepting, sending("transaction underpriced")], "accepted"],
  ["known to one (geth)", [sending("already known"), sending("nonce too low"), sending("x")], "alreadyKnown"],
  ["known to one (nethermind)", [sending("AlreadyKnown"), sending("OldNonce"), sending("x")], "alreadyKnown"],
  ["known to one (besu)", [sending("Known transaction"), sending("x"), sending("x")], "alreadyKnown"],
  [
    "a used nonce (erigon)",
    [sending("nonce too low"), sending("invalid sender"), sending("x")],
    "nonceTooLow",
  ],
  ["rejected by a quorum", [sending("invalid sender"), sending("invalid sender"), sending("x")], "rejected"],
])("bytes are sent to every endpoint: %s", async (_, scripts, kind) => {
  const { endpoints, connection } = await pool(scripts.map((answers) => ({ answers })));
  expect((await connection.writer.broadcast(raw)).kind).toBe(kind);
  await expect
    .poll(() => endpoints.map((endpoint) => endpoint.count("eth_sendRawTransaction")))
    .toEqual([1, 1, 1]);
});

test.each<readonly [name: string, answers: readonly Script["answers"][], reports: readonly string[]]>([
  [
    "a quorum lacks the funds",
    [accepting, sending("insufficient funds for gas"), sending("insufficient funds for gas")],
    ["eth_sendRawTransaction (insufficientFunds) 0"],
  ],
  [
    "one of two refuses them",
    [accepting, sending("transaction underpriced")],
    ["eth_sendRawTransaction (underpriced) 0", "eth_sendRawTransaction (underpriced) 1"],
  ],
  ["a quorum has them", [sending("insufficient funds for gas"), accepting, accepting], []],
  ["a block has them", [accepting, sending("nonce too low"), sending("nonce too low")], []],
])("an endpoint that alone accepts bytes is named: %s", async (_, scripts, reports) => {
  const world = await pool(scripts.map((answers, at) => ({ answers, delayMs: at === 0 ? 0 : 50 })));
  await world.connection.writer.broadcast(raw);
  await sleep(300);
  expect(world.disagreements).toEqual(reports);
});

test("a rejection by one endpoint does not cancel a payment while the others do not answer", async () => {
  const { connection } = await pool([
    { answers: sending("invalid sender") },
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
