import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { parseEther } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deployAccountAbstraction } from "./account-abstraction.ts";
import {
  checkExternalUrls,
  createLocalClient,
  freePort,
  startAnvil,
  type RunningAnvil,
} from "@causeway/testkit";
import { deployLocal, localDeployment } from "./deploy.ts";
import { fundLocal, type Funding } from "./fund.ts";
import {
  externalNodeEnvironment,
  prepareExternalNode,
  readExternalNodes,
  type ExternalNode,
} from "./external-node.ts";
import { openPools } from "./open-pools.ts";

/** Private key of anvil's first account. */
const fundingKey = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const holder = "0x00000000000000000000000000000000000000a1";
const fundings: readonly Funding[] = [
  {
    address: holder,
    nativeWei: parseEther("3"),
    tokens: localDeployment.tokens.map(({ address }) => ({ token: address, amount: 7n })),
  },
];

let node: RunningAnvil;
let proxy: Server;
let url: string;
const refusedMethods: string[] = [];

beforeAll(async () => {
  node = await startAnvil({
    chainId: 72_100_117,
    blockTimeSeconds: 0.1,
    extraArgs: ["--balance", "1000000"],
  });
  proxy = createServer((request, response) => {
    forward(request)
      .then((text) => response.writeHead(200, { "content-type": "application/json" }).end(text))
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await node.stop();
});

/** Like a provider's node: refuses batches and the methods that control a development node. */
async function forward(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString("utf8");
  const call = JSON.parse(body) as { readonly id?: unknown; readonly method?: string };
  if (call.method?.startsWith("eth_") !== true) {
    refusedMethods.push(call.method ?? "a batch");
    const error = { code: -32_601, message: "method not found" };
    return JSON.stringify({ jsonrpc: "2.0", id: call.id ?? null, error });
  }
  const headers = { "content-type": "application/json" };
  return await (await fetch(node.url, { method: "POST", headers, body })).text();
}

const createExternalNode = (change: Partial<ExternalNode> = {}): ExternalNode => ({
  variable: "LOCAL_A_RPC_URL",
  url,
  wsUrl: "ws://127.0.0.1:1",
  fundingKey,
  ...change,
});

async function errorMessageOf(attempt: () => unknown): Promise<string> {
  try {
    await attempt();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "none";
}

test("refuses an external node that does not respond, serves another chain, or whose key has insufficient funds", async () => {
  const silent = `http://127.0.0.1:${await freePort()}/v2/SECRET`;
  const errorOf = async (change: Partial<ExternalNode>, chainId = node.chainId): Promise<string> =>
    await errorMessageOf(
      async () => await prepareExternalNode(createExternalNode(change), chainId, fundings),
    );
  expect(await errorOf({ url: silent })).toMatch(
    /^LOCAL_A_RPC_URL: the node does not respond: connect ECONNREFUSED/,
  );
  expect(await errorOf({ url: silent })).not.toContain("SECRET");
  expect(await errorOf({}, 72_100_228)).toBe(
    "LOCAL_A_RPC_URL: chain id of the node is 72100117, expected 72100228",
  );
  expect(await errorOf({ fundingKey: `0x${"07".repeat(32)}` })).toMatch(
    /^LOCAL_FUNDING_PRIVATE_KEY: 0x[0-9a-fA-F]{40} has 0 native tokens on chain 72100117, needs 100023\.0+7/,
  );
});

test("names a missing or malformed variable before it connects", async () => {
  const rpc = { LOCAL_A_RPC_URL: "http://127.0.0.1:1" };
  const read = async (env: Record<string, string>): Promise<string> =>
    await errorMessageOf(() => readExternalNodes(env));
  expect(await read(rpc)).toMatch(/^LOCAL_FUNDING_PRIVATE_KEY: must be 0x and 64 .* but is not set/);
  expect(await read({ ...rpc, LOCAL_FUNDING_PRIVATE_KEY: "0x12" })).toMatch(/ but has a different format/);
  expect(await read({ LOCAL_B_WS_URL: "ws://127.0.0.1:1" })).toMatch(/^LOCAL_B_WS_URL: .* LOCAL_B_RPC_URL/);
  expect(await errorMessageOf(() => checkExternalUrls({ LOCAL_B_WS_URL: "http://127.0.0.1:1" }))).toBe(
    "LOCAL_B_WS_URL: must be a URL like ws://… or wss://…",
  );
  expect(await errorMessageOf(() => checkExternalUrls({ ...rpc, LOCAL_A_WS_URL: "wss://x" }))).toBe("none");
});

test("derives the WebSocket URL of an external node from its HTTP URL", () => {
  const nodes = readExternalNodes({
    LOCAL_B_RPC_URL: "https://x.test/v2",
    LOCAL_FUNDING_PRIVATE_KEY: fundingKey,
  });
  expect(externalNodeEnvironment(nodes)).toEqual({
    LOCAL_B_RPC_URL: "https://x.test/v2",
    LOCAL_B_WS_URL: "wss://x.test/v2",
  });
});

test("deploys contracts, pools and funds on an external node once, with ordinary transactions only", async () => {
  // Like chains on which it is not deployed yet.
  await createLocalClient(node).setCode({
    address: "0x4e59b44847b379578588920cA78FbF26c0B4956C",
    bytecode: "0x",
  });
  const prepared = await prepareExternalNode(createExternalNode(), node.chainId, fundings);
  await deployLocal(prepared);
  await deployAccountAbstraction(prepared);
  await openPools(prepared);
  await fundLocal(prepared, fundings);
  const client = createLocalClient(node);
  expect(await client.getBalance({ address: holder })).toBe(parseEther("3"));
  expect(await client.getCode({ address: localDeployment.permit2 })).toMatch(/^0x60/);
  expect(refusedMethods).toEqual([]);
  expect(
    await errorMessageOf(async () => await prepareExternalNode(createExternalNode(), node.chainId, fundings)),
  ).toBe(
    "LOCAL_A_RPC_URL: chain already has the contracts of an earlier start; start the node with an empty chain",
  );
}, 60_000);
