import { RpcFault } from "@causeway/chains";
import type { RpcTransport } from "@causeway/chains";
import type { AttestationHub, Hex } from "@causeway/domain";
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
  finality: { kind: "tag" },
};

/** A chain of blocks two seconds apart, ten of them, the seventh tagged final. Answers of calls come by contract. */
function aNode(answers: Readonly<Record<string, Hex>>) {
  const asked: { readonly to: unknown; readonly at: unknown }[] = [];
  const state = { fork: 0n, onCall: () => {} };
  const block = (number: bigint) => ({
    number: `0x${number.toString(16)}`,
    hash: hashOf(number, state.fork),
    timestamp: `0x${(number * 2n).toString(16)}`,
  });
  const transport: RpcTransport = {
    async request(method, params) {
      const [first, second] = params as [unknown, unknown];
      if (method === "eth_getBlockByNumber")
        return first === "latest"
          ? block(10n)
          : first === "finalized"
            ? block(7n)
            : block(BigInt(String(first)));
      const { to } = first as { to: string };
      asked.push({ to, at: (second as { blockHash: unknown }).blockHash });
      state.onCall();
      return answers[to] ?? word(0n);
    },
    close: async () => undefined,
  };
  return { transport, asked, state };
}

const ledger: Readonly<Record<string, Hex>> = {
  [account("e1")]: word(50n),
  [account("e2")]: word(BigInt(account("e1"))),
  [account("e4")]: word(7n),
};

test("balances and records are read at the final block, by its hash", async () => {
  const node = aNode(ledger);
  const reader = createHubReader(hub, node.transport);
  expect(await reader.balanceOf(account("a1"), 5n)).toBe(50n);
  expect(await reader.recordedWithdrawal(account("a1"))).toBe(word(7n));
  expect(node.asked.map(({ to }) => to)).toEqual([account("e2"), account("e1"), account("e4")]);
  expect(new Set(node.asked.map(({ at }) => at))).toEqual(new Set([hashOf(7n)]));
});

test("a withdrawal without a record has none", async () => {
  const reader = createHubReader(hub, aNode({ ...ledger, [account("e4")]: word(0n) }).transport);
  expect(await reader.recordedWithdrawal(account("a1"))).toBeUndefined();
});

test.each([
  [0n, 0n, 10n],
  [3n, 0n, 7n],
  [0n, 2n, 9n],
  [2n, 8n, 5n],
])(
  "by a depth of %d blocks and %d seconds the final block of height 10 is deep and old enough",
  async (blocks, seconds, highest) => {
    const node = aNode(ledger);
    const reader = createHubReader({ ...hub, finality: { kind: "depth", blocks, seconds } }, node.transport);
    await reader.balanceOf(account("a1"), 5n);
    const at = BigInt(String(node.asked[0]?.at)) / 1_000n;
    expect(at).toBeLessThanOrEqual(highest);
    expect(10n - at).toBeGreaterThanOrEqual(blocks);
    expect((10n - at) * 2n).toBeGreaterThanOrEqual(seconds);
  },
);

test("a hub that is too young for its policy has no final block: the node's fault", async () => {
  const finality = { kind: "depth", blocks: 11n, seconds: 0n } as const;
  const reader = createHubReader({ ...hub, finality }, aNode(ledger).transport);
  await expect(reader.balanceOf(account("a1"), 5n)).rejects.toThrow(RpcFault);
});

test("a block that is replaced while it is read proves nothing", async () => {
  const node = aNode(ledger);
  node.state.onCall = () => {
    node.state.fork += 1n;
  };
  await expect(createHubReader(hub, node.transport).recordedWithdrawal(account("a1"))).rejects.toThrow(
    RpcFault,
  );
});

test("only the ledger that the oracle contract writes to is read", async () => {
  const node = aNode({ ...ledger, [account("e2")]: word(BigInt(account("e9"))) });
  const reader = createHubReader(hub, node.transport);
  await expect(reader.verify()).rejects.toThrow(WrongHub);
  await expect(reader.balanceOf(account("a1"), 5n)).rejects.toThrow(WrongHub);
});

test.each(["0x", "0x01", null, 5, `0x${"00".repeat(33)}`])(
  "the answer %j of a contract is none",
  async (answer) => {
    const node = aNode({ ...ledger, [account("e4")]: answer as Hex });
    const transport: RpcTransport = {
      ...node.transport,
      request: async (method, params) =>
        method === "eth_call" ? answer : await node.transport.request(method, params),
    };
    await expect(createHubReader(hub, transport).recordedWithdrawal(account("a1"))).rejects.toThrow(RpcFault);
  },
);
