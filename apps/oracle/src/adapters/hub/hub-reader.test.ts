import { RpcFault } from "@causeway/chains";
import type { RpcRequest, RpcTransport } from "@causeway/chains";
import type { AttestationHub, Hex } from "@causeway/domain";
import { toFunctionSelector } from "viem";
import { expect, test } from "vitest";
import { createHubReader, WrongHub } from "./hub-reader.ts";

const account = (byte: string): Hex => `0x${byte.repeat(20)}`;
const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, "0")}`;
const hashOf = (number: bigint, fork = 0n): Hex => word(number * 1_000n + fork);

const hub: AttestationHub = {
  name: "hub",
  rpcUrl: "http://127.0.0.1:9",
  chainId: 1,
  hubAddress: account("e1"),
  oracleAddress: account("e2"),
  oracleMultisigAddress: undefined,
  allocatorAddress: account("e4"),
  domain: { name: "Oracle", version: "1" },
  settlementKey: "payment",
  fillLeadSeconds: 60,
  finality: { kind: "tag" },
};

interface TestNode {
  readonly height: bigint;
  /** The branch that the block of this height is on. */
  readonly forkAt: (number: bigint) => bigint;
  readonly answers: Readonly<Record<string, Hex>>;
}

/** Blocks two seconds apart, with the third from the end tagged final. */
function answerOf(node: TestNode, { method, params: [first, second] }: RpcRequest): unknown {
  if (method === "eth_getBlockByNumber") {
    const tags: Readonly<Record<string, bigint>> = { latest: node.height, finalized: node.height - 3n };
    const number = tags[String(first)] ?? BigInt(String(first));
    if (number > node.height) return null;
    return {
      number: `0x${number.toString(16)}`,
      hash: hashOf(number, node.forkAt(number)),
      parentHash: hashOf(number - 1n, node.forkAt(number - 1n)),
      timestamp: `0x${(number * 2n).toString(16)}`,
    };
  }
  const { blockHash, requireCanonical } = second as { blockHash: Hex; requireCanonical: boolean };
  const number = BigInt(blockHash) / 1_000n;
  const isCanonical = hashOf(number, node.forkAt(number)) === blockHash;
  if (requireCanonical && !isCanonical)
    throw new RpcFault({ kind: "refused", method, reason: "the block is not canonical" });
  return node.answers[(first as { to: string }).to] ?? word(0n);
}

/** A node with ten blocks, the seventh tagged final, that answers calls by contract. */
function createNode(answers: Readonly<Record<string, Hex>>) {
  const calls: { readonly to: unknown; readonly at: unknown; readonly requireCanonical: unknown }[] = [];
  const state = { fork: 0n, onCall: () => {} };
  const answer = (call: RpcRequest): unknown => {
    const response = answerOf({ height: 10n, forkAt: () => state.fork, answers }, call);
    if (call.method === "eth_call") {
      const [{ to }, { blockHash: at, requireCanonical }] = call.params as [
        { to: unknown },
        { blockHash: unknown; requireCanonical: unknown },
      ];
      calls.push({ to, at, requireCanonical });
      state.onCall();
    }
    return response;
  };
  const transport: RpcTransport = {
    request: async (method, params) => answer({ method, params }),
    requestBatch: async (calls) => calls.map(answer),
    close: async () => undefined,
  };
  return { transport, calls, state };
}

const ledger: Readonly<Record<string, Hex>> = {
  [account("e1")]: word(50n),
  [account("e2")]: word(BigInt(account("e1"))),
  [account("e4")]: word(7n),
};

test("reads at the final block whether the multisig accepts an account, and its threshold", async () => {
  const multisig = account("e3");
  const [isSigner, threshold] = [toFunctionSelector("isSigner(address)"), toFunctionSelector("threshold()")];
  const node = createNode(ledger);
  const calls: Hex[] = [];
  const transport: RpcTransport = {
    ...node.transport,
    request: async (method, params) => {
      const { to, data } = params[0] as { to: Hex; data: Hex };
      if (method !== "eth_call" || to !== multisig) return await node.transport.request(method, params);
      calls.push(data);
      if (data.startsWith(threshold)) return word(3n);
      return word(data.startsWith(isSigner) && data.endsWith("a1".repeat(20)) ? 1n : 0n);
    },
  };
  const reader = createHubReader({ ...hub, oracleMultisigAddress: multisig }, transport);
  expect(await reader.multisig(account("a1"))).toEqual({ isSigner: true, threshold: 3 });
  expect(await reader.multisig(account("a2"))).toEqual({ isSigner: false, threshold: 3 });
  expect(calls).toHaveLength(4);
  expect(await reader.newestFinal()).toEqual({ height: 7n, timestamp: 14n });
});

test("reads balances and records at the final block, by its hash", async () => {
  const node = createNode(ledger);
  const reader = createHubReader(hub, node.transport);
  expect(await reader.balanceOf(account("a1"), 5n)).toBe(50n);
  expect(await reader.recordedWithdrawal(account("a1"))).toBe(word(7n));
  expect(node.calls.map(({ to }) => to)).toEqual([account("e2"), account("e1"), account("e4")]);
  expect(new Set(node.calls.map(({ at }) => at))).toEqual(new Set([hashOf(7n)]));
  expect(node.calls.every(({ requireCanonical }) => requireCanonical === true)).toBe(true);
});

test("returns no record for a withdrawal without one", async () => {
  const reader = createHubReader(hub, createNode({ ...ledger, [account("e4")]: word(0n) }).transport);
  expect(await reader.recordedWithdrawal(account("a1"))).toBeUndefined();
});

test.each([
  [0n, 0n, 10n],
  [3n, 0n, 7n],
  [0n, 2n, 9n],
  [2n, 8n, 5n],
])(
  "reads a final block at least %d blocks deep and %d seconds old at height 10",
  async (blocks, seconds, highest) => {
    const node = createNode(ledger);
    const reader = createHubReader({ ...hub, finality: { kind: "depth", blocks, seconds } }, node.transport);
    await reader.balanceOf(account("a1"), 5n);
    const height = BigInt(String(node.calls[0]?.at)) / 1_000n;
    expect(height).toBeLessThanOrEqual(highest);
    expect(10n - height).toBeGreaterThanOrEqual(blocks);
    expect((10n - height) * 2n).toBeGreaterThanOrEqual(seconds);
  },
);

test("reports a node error if the hub has too few blocks for its finality policy", async () => {
  const finality = { kind: "depth", blocks: 11n, seconds: 0n } as const;
  const reader = createHubReader({ ...hub, finality }, createNode(ledger).transport);
  await expect(reader.balanceOf(account("a1"), 5n)).rejects.toThrow(RpcFault);
});

test("refuses a read whose block is replaced during the read", async () => {
  const node = createNode(ledger);
  node.state.onCall = () => {
    node.state.fork += 1n;
  };
  await expect(createHubReader(hub, node.transport).recordedWithdrawal(account("a1"))).rejects.toThrow(
    RpcFault,
  );
});

test("never returns state that exists only on the orphaned branch of one of two nodes behind a URL", async () => {
  const accounts = { balance: account("e1"), oracle: account("e2"), registry: account("e4") };
  const answers = { [accounts.oracle]: word(BigInt(accounts.balance)) };
  const good: TestNode = { height: 100n, forkAt: () => 0n, answers };
  // Only its orphaned blocks have the balance, and its head is too low for them to count as final.
  const lagging: TestNode = { height: 92n, forkAt: (number) => (number >= 85n ? 1n : 0n), answers };
  const finalities = [
    { kind: "depth", blocks: 10n, seconds: 0n },
    { kind: "depth", blocks: 0n, seconds: 20n },
  ] as const;
  const isOrphaned = (params: readonly unknown[]): boolean => {
    const number = BigInt((params[1] as { blockHash: Hex }).blockHash) / 1_000n;
    return hashOf(number, 1n) === (params[1] as { blockHash: Hex }).blockHash;
  };
  let answered = 0;
  for (const finality of finalities)
    for (let routing = 0; routing < 1 << 9; routing++) {
      let callIndex = 0;
      const nextNode = (): TestNode => ((routing >> callIndex++) & 1 ? lagging : good);
      const answer = (node: TestNode, call: RpcRequest): unknown => {
        const { to } = call.params[0] as { to?: string };
        // A node that still answers for the orphaned block.
        if (call.method === "eth_call" && isOrphaned(call.params) && to !== accounts.oracle)
          return word(500n);
        return answerOf(node, call);
      };
      const transport: RpcTransport = {
        request: async (method, params) => answer(nextNode(), { method, params }),
        requestBatch: async (calls) => {
          const node = nextNode();
          return calls.map((call) => answer(node, call));
        },
        close: async () => undefined,
      };
      const reader = createHubReader({ ...hub, finality }, transport);
      const response = await Promise.all([
        reader.balanceOf(account("a1"), 5n).catch((error: unknown) => error),
        reader.recordedWithdrawal(account("a1")).catch((error: unknown) => error),
      ]);
      expect([0n, expect.any(RpcFault)]).toContainEqual(response[0]);
      expect([undefined, expect.any(RpcFault)]).toContainEqual(response[1]);
      if (response[0] === 0n) answered++;
    }
  expect(answered).toBeGreaterThan(0);
});

test("refuses a hub whose oracle contract writes to another ledger", async () => {
  const node = createNode({ ...ledger, [account("e2")]: word(BigInt(account("e9"))) });
  const reader = createHubReader(hub, node.transport);
  await expect(reader.verify()).rejects.toThrow(WrongHub);
  await expect(reader.balanceOf(account("a1"), 5n)).rejects.toThrow(WrongHub);
});

test.each(["0x", "0x01", null, 5, `0x${"00".repeat(33)}`])(
  "refuses the malformed answer %j of a contract",
  async (answer) => {
    const node = createNode({ ...ledger, [account("e4")]: answer as Hex });
    const transport: RpcTransport = {
      ...node.transport,
      request: async (method, params) =>
        method === "eth_call" ? answer : await node.transport.request(method, params),
    };
    await expect(createHubReader(hub, transport).recordedWithdrawal(account("a1"))).rejects.toThrow(RpcFault);
  },
);
