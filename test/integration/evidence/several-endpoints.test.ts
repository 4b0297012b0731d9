import {
  connectCalledChain,
  connectEvmChain,
  type ChainConnection,
  type EvmConnection,
} from "@causeway/chains";
import type { TxHash } from "@causeway/domain";
import { keccak256 } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { WorkerServices } from "../../../apps/api/src/db/services.port.ts";
import { loadTrail, scanChain } from "../../../apps/api/src/deposits/scan-chain.ts";
import { openLane } from "../../../apps/api/src/payments/open-lane.ts";
import { trackLane } from "../../../apps/api/src/payments/track-lane.ts";
import { startEngineWorld, type QuotedRequest, type EngineWorld } from "../../support/engine-world.ts";
import { replyOfLaggingBackend } from "../../support/lagging-backend.ts";
import { withChain } from "../../support/with-chain.ts";
import {
  startProviderProxy,
  type ProviderBehavior,
  type ProviderProxy,
  type Reply,
} from "../../support/provider-proxy.ts";
import type { TestChain } from "../../support/test-chain.ts";

/** A chain read through three endpoints in front of one node. */
interface PooledChain {
  readonly chain: TestChain;
  readonly proxies: readonly ProviderProxy[];
  readonly connection: EvmConnection;
}

let world: EngineWorld;
let chains: readonly PooledChain[] = [];
let services: WorkerServices;
const disagreements: string[] = [];

beforeAll(async () => {
  world = await startEngineWorld({ chain: { finalityBlocks: 3 } });
  chains = await Promise.all(
    [world.origin, world.destination].map(async (chain): Promise<PooledChain> => {
      const { rpcUrl } = chain.chain;
      const proxies = await Promise.all([1, 2, 3].map(async () => await startProviderProxy(rpcUrl)));
      const connection = connectEvmChain(
        {
          ...chain.chain,
          wsRpcUrl: undefined,
          blockTimeSeconds: 0.2,
          rpcUrls: proxies.map(({ url }) => url),
        },
        {
          rpc: { deadlineMs: 3_000 },
          onDisagreement: (question) => disagreements.push(question),
        },
      );
      return { chain, proxies, connection };
    }),
  );
  services = chains.reduce<WorkerServices>((previous, { chain, connection }) => {
    const { reader, writer } = connection;
    return withChain(previous, chain.connected, {
      connection: { reader, writer } satisfies Partial<ChainConnection>,
    });
  }, world.services);
});
afterAll(async () => {
  for (const { connection, proxies } of chains) {
    await connection.close();
    await Promise.all(proxies.map(async (proxy) => await proxy.stop()));
  }
  await world.stop();
});

/**
 * Waits until every endpoint is healthy, so that a test does not inherit endpoint states of the previous
 * test.
 */
async function behave(behaviors: readonly ProviderBehavior[]): Promise<void> {
  for (const { proxies } of chains) for (const proxy of proxies) proxy.behave({});
  await expect
    .poll(() => chains.flatMap(({ connection }) => connection.endpoints().map(({ state }) => state)))
    .toEqual(Array.from({ length: 6 }, () => "ok"));
  for (const { proxies } of chains) proxies.forEach((proxy, at) => proxy.behave(behaviors[at] ?? {}));
}

/** Does what a process's watchers and queues do after a block on both chains. */
async function round(lagBlocks = 0n): Promise<void> {
  const { clock } = world;
  for (const { chain, connection } of chains) {
    await chain.mine();
    const mined = await chain.announce();
    await expect
      .poll(() => connection.heads.latest?.number ?? 0n, { timeout: 5_000 })
      .toBeGreaterThanOrEqual(mined.number - lagBlocks);
    const head = connection.heads.latest;
    const connected = services.chains.get(chain.chain.id);
    if (head === undefined || connected === undefined) throw new Error("the chain is not connected");
    const trail = await scanChain(services, connected, await loadTrail(services, connected), head);
    await trackLane(services, connected, trail);
    await openLane(services, connected);
  }
  await world.work(services);
  for (const { chain } of chains) await world.maintainLaneOf(chain, services);
  clock.forward(2_000);
}

const aBridge = async (): Promise<QuotedRequest> => {
  const agreed = await world.quote({ recipient: world.anAddress(), refundTo: world.anAddress() });
  await world.pay(agreed);
  return agreed;
};

/**
 * Runs rounds until the bridge succeeded, and returns their number. A failed round is retried, as by
 * watchers.
 */
async function roundsOf(agreed: QuotedRequest, { lagBlocks = 0n, max = 12 } = {}): Promise<number> {
  const faults: unknown[] = [];
  for (let rounds = 1; rounds <= max; rounds++) {
    await round(lagBlocks).catch((fault: unknown) => faults.push(fault));
    if ((await world.status(agreed.requestId)).status === "success") return rounds;
  }
  throw new Error(`no success after ${max} rounds: ${JSON.stringify(await world.status(agreed.requestId))}`, {
    cause: faults[0],
  });
}

const received = async ({ terms }: QuotedRequest): Promise<bigint> =>
  await world.destination.balance(terms.recipient, terms.destination.currency);

const down: ProviderBehavior = { cut: () => "connection" };
const limited: ProviderBehavior = {
  answer: () => ({ status: 429, body: "Too Many Requests", headers: { "retry-after": "1" } }),
};
const lagging: ProviderBehavior = {
  reply: async (call, node) => await replyOfLaggingBackend(call, node, 2),
};
const error = (message: string, code = -32_000): Reply => ({ error: { code, message } });

/** An endpoint that forges every receipt and omits deposits. */
const forging: ProviderBehavior = {
  reply: async ({ method, params }, node) => {
    if (method === "eth_getLogs") return { result: [] };
    if (method !== "eth_getTransactionReceipt") return undefined;
    const reply = await node(method, params);
    if (!("result" in reply) || reply.result === null) return reply;
    return { result: { ...(reply.result as object), status: "0x0", logs: [] } };
  },
};
/** An endpoint that reports every transaction as known, and forwards none. */
const swallowing: ProviderBehavior = {
  reply: ({ method }) => (method === "eth_sendRawTransaction" ? error("already known") : undefined),
};
/** An endpoint whose newest block is far in the future and has an invented hash. */
const absurd: ProviderBehavior = {
  reply: async ({ method, params }, node) => {
    if (method !== "eth_getBlockByNumber" || params[0] !== "latest") return undefined;
    const reply = await node(method, params);
    if (!("result" in reply)) return reply;
    return { result: { ...(reply.result as object), number: "0x1fffffffffffff", hash: keccak256("0x01") } };
  },
};
/**
 * An endpoint without receipts and batches. It returns logs of only one block at a time, with Alchemy's error
 * message.
 */
const poor: ProviderBehavior = {
  answer: ({ isBatch }) =>
    isBatch
      ? { status: 200, body: { jsonrpc: "2.0", id: null, ...error("batch requests are disabled", -32_600) } }
      : undefined,
  reply: ({ method, params }) => {
    if (method === "eth_getTransactionReceipt") return { result: null };
    const [filter] = params as [{ fromBlock?: string; toBlock?: string }];
    return method === "eth_getLogs" && filter.fromBlock !== filter.toBlock
      ? error("You can make eth_getLogs requests with up to a 1 block range.", -32_600)
      : undefined;
  },
};

let quietRounds = 0;

test.each<readonly [name: string, behaviors: readonly ProviderBehavior[], lagBlocks: bigint]>([
  ["three honest ones", [], 0n],
  ["one that forges receipts and hides deposits", [forging], 0n],
  ["one that swallows transactions as already known, and one that is down", [swallowing, down], 0n],
  ["one that answers 429 with Retry-After", [limited], 0n],
  ["one that takes longer than the deadline", [{ delayMs: 4_000 }], 0n],
  ["two that lag", [lagging, {}, lagging], 2n],
  ["one with absurd heads, and one without receipts, batches and most logs", [absurd, poor], 0n],
])(
  "a bridge through %s is filled once, within three times the blocks of a quiet one",
  async (_, behaviors, lagBlocks) => {
    await behave(behaviors);
    const agreed = await aBridge();
    const rounds = await roundsOf(agreed, { lagBlocks });
    if (quietRounds === 0) quietRounds = rounds;
    expect(rounds).toBeLessThanOrEqual(quietRounds * 3);
    await behave([]);
    // By then a second payment would have been mined.
    await round();
    expect(await world.paymentsOf(agreed, world.destination)).toHaveLength(1);
    expect(await received(agreed)).toBe(agreed.terms.destination.expectedAmount);
  },
);

test("reports the endpoint that forged receipts and hid deposits", () => {
  expect(new Set(disagreements)).toEqual(new Set(["deposits", "eth_getTransactionReceipt"]));
});

test("a deposit that only one endpoint shows is not counted, and the bridge continues when a quorum is back", async () => {
  await behave([{}, down, down]);
  const agreed = await aBridge();
  for (const { chain } of chains) await chain.mine();
  for (const { chain, connection } of chains) {
    const { reader } = connection;
    await expect(reader.head()).rejects.toThrow();
    await expect(reader.depositsIn({ from: 1n, to: 2n, hashes: new Map() })).rejects.toThrow();
    expect(connection.heads.latest?.number).toBeLessThan((await chain.announce()).number);
  }
  expect((await world.status(agreed.requestId)).status).toBe("waiting");
  await behave([]);
  await roundsOf(agreed);
  expect(await world.paymentsOf(agreed, world.destination)).toHaveLength(1);
});

test("while only one endpoint shows a payment that the database does not know, nothing new is paid", async () => {
  const oneMore: ProviderBehavior = {
    reply: async ({ method, params }, node) => {
      if (method !== "eth_getTransactionCount") return undefined;
      const reply = await node(method, params);
      return "result" in reply ? { result: `0x${(Number(reply.result) + 1).toString(16)}` } : reply;
    },
  };
  await behave([oneMore]);
  const agreed = await aBridge();
  await expect(roundsOf(agreed, { max: 3 })).rejects.toThrow("no success");
  expect(await world.paymentsOf(agreed, world.destination)).toEqual([]);
  expect((await world.status(agreed.requestId)).status).toBe("pending");
  await behave([]);
  await roundsOf(agreed);
  expect(await world.paymentsOf(agreed, world.destination)).toHaveLength(1);
});

test("a report of a transaction that only one endpoint shows is not accepted", async () => {
  const hash: TxHash = keccak256("0x77");
  await behave([
    {
      reply: ({ method, params }) =>
        method === "eth_getTransactionByHash" && params[0] === hash
          ? {
              result: {
                hash,
                from: world.user.address,
                to: world.user.address,
                input: "0x",
                value: "0x1",
                nonce: "0x0",
                blockHash: null,
              },
            }
          : undefined,
    },
  ]);
  const [origin] = chains;
  await expect(origin?.connection.reader.transaction(hash)).rejects.toThrow("endpoints do not agree");
  await behave([]);
});

test("on a call-only chain such as the hub, reads and sends even if one endpoint is down and one lies", async () => {
  const [pooled] = chains;
  if (pooled === undefined) throw new Error("fewer than two chains are connected");
  const { chain, proxies } = pooled;
  await behave([
    { answer: () => ({ status: 503, body: "unavailable" }) },
    {},
    {
      reply: ({ method }) =>
        method === "eth_getTransactionReceipt" || method === "eth_getTransactionCount"
          ? { result: method === "eth_getTransactionCount" ? "0x0" : null }
          : undefined,
    },
  ]);
  const { id, name, rpcUrl, fees } = chain.chain;
  const rpcUrls = proxies.map(({ url }) => url);
  const called = connectCalledChain({ id, name, fees, rpcUrl, rpcUrls });
  const hash = await chain.send(world.stranger, { to: world.anAddress(), value: 1n });
  await chain.mine();
  expect(await called.transport.request("eth_chainId", [])).toBe(`0x${id.toString(16)}`);
  // Two of three endpoints must agree, and one is unreachable, so the lie of the third leads to no
  // conclusion.
  await expect(called.reader.receipt(hash)).rejects.toMatchObject({ kind: "inconsistent" });
  proxies[0]?.behave({});
  expect(await called.reader.receipt(hash)).toMatchObject({ status: "success" });
  const nonce = await chain.client.getTransactionCount({ address: world.stranger.address });
  expect(await called.reader.nonce(world.stranger.address, "latest")).toBe(nonce);
  await called.close();
});
