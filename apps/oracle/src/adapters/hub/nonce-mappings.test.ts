import { nonceMappingSlot } from "@causeway/attest";
import { RpcFault } from "@causeway/chains";
import type { RpcRequest, RpcTransport } from "@causeway/chains";
import { genericMappingAbi } from "@causeway/contracts";
import type { Hex } from "@causeway/domain";
import { decodeFunctionData, encodeAbiParameters } from "viem";
import { expect, test } from "vitest";
import { createNonceMappings } from "./nonce-mappings.ts";

const account = (byte: string): Hex => `0x${byte.repeat(20)}`;
const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, "0")}`;
const hashOf = (number: bigint, fork: bigint): Hex => word(number * 1_000n + fork);
const CONTRACT = account("e5");
const id = `0x${"0d".repeat(32)}` as const;

const answerOf = (data: Hex, setAt: bigint): Hex =>
  encodeAbiParameters([{ type: "bytes" }, { type: "uint256" }], [data, setAt]);
const NONE = answerOf("0x", 0n);

/** A node with ten blocks two seconds apart, the seventh tagged final. */
function createNode(entry: unknown) {
  const state = { fork: 0n, onCall: () => {} };
  const calls: { readonly to: Hex; readonly data: Hex; readonly at: unknown }[] = [];
  const answer = ({ method, params: [first, second] }: RpcRequest): unknown => {
    if (method === "eth_getBlockByNumber") {
      const tags: Readonly<Record<string, bigint>> = { latest: 10n, finalized: 7n };
      const number = tags[String(first)] ?? BigInt(String(first));
      return {
        number: `0x${number.toString(16)}`,
        hash: hashOf(number, state.fork),
        parentHash: hashOf(number - 1n, state.fork),
        timestamp: `0x${(number * 2n).toString(16)}`,
      };
    }
    const { to, data } = first as { to: Hex; data: Hex };
    calls.push({ to, data, at: second });
    state.onCall();
    return entry;
  };
  const transport: RpcTransport = {
    request: async (method, params) => answer({ method, params }),
    requestBatch: async (calls) => calls.map(answer),
    close: async () => undefined,
  };
  return { mappings: createNonceMappings({ finality: { kind: "tag" } }, CONTRACT, transport), calls, state };
}

test("reads the entry of the wallet's account and nonce at the final block, by its hash", async () => {
  const node = createNode(answerOf(`${id}${"bb".repeat(20)}`, 9n));
  expect(await node.mappings.of("hyper", account("a1"), 77n)).toEqual({
    entry: { id, depositor: account("bb"), setAt: 9n },
    asOf: 14n,
  });
  expect(node.calls).toHaveLength(1);
  const [{ to, data, at }] = node.calls as [{ to: Hex; data: Hex; at: unknown }];
  expect([to, at]).toEqual([CONTRACT, { blockHash: hashOf(7n, 0n), requireCanonical: true }]);
  const slot = nonceMappingSlot("hyper", account("a1"), 77n);
  const { functionName, args } = decodeFunctionData({ abi: genericMappingAbi, data });
  expect([functionName, args.map((arg) => String(arg).toLowerCase())]).toEqual([
    "getEntry",
    [slot.user, slot.id],
  ]);
});

test("returns no depositor for an entry with only an id", async () => {
  const { entry } = await createNode(answerOf(id, 9n)).mappings.of("hyper", account("a1"), 77n);
  expect(entry).toEqual({ id, depositor: undefined, setAt: 9n });
});

test.each<[string, Hex]>([
  ["an entry that was never set", NONE],
  ["data that is not an id", answerOf("0x01", 9n)],
])("treats %s as no entry at the block that was read", async (_what, answer) => {
  expect(await createNode(answer).mappings.of("hyper", account("a1"), 77n)).toEqual({
    entry: undefined,
    asOf: 14n,
  });
});

test.each<[string, unknown]>([
  ["nothing, as an account without code does", "0x"],
  ["null", null],
  ["a word", word(1n)],
  ["a length that is not a multiple of 32 bytes", `${NONE}00`],
  ["an entry cut short", answerOf(id, 9n).slice(0, -64)],
  ["an entry that was set after the block", answerOf(id, 15n)],
  ["an entry without a time", answerOf(id, 0n)],
  ["a time without an entry", answerOf("0x", 9n)],
  ["an offset to nowhere", `${word(2n ** 200n)}${answerOf(id, 9n).slice(66)}`],
  ["more bytes than an entry has", answerOf(`0x${"00".repeat(600)}`, 9n)],
])("rejects %s from a node", async (_what, answer) => {
  await expect(createNode(answer).mappings.of("hyper", account("a1"), 77n)).rejects.toThrow(RpcFault);
});

test("refuses a read whose block is replaced during the read", async () => {
  const node = createNode(answerOf(id, 9n));
  node.state.onCall = () => {
    node.state.fork += 1n;
  };
  await expect(node.mappings.of("hyper", account("a1"), 77n)).rejects.toThrow(RpcFault);
});
