import { encodeFunctionResult, decodeFunctionData, multicall3Abi, type Hex } from "viem";
import { expect, test } from "vitest";
import type { Address } from "@causeway/domain";
import { createAccountReader, type AccountReaderOptions } from "./account-reader.ts";
import { NodeRefusal, RpcFault } from "@causeway/families";
import type { RpcTransport } from "../nodes/transport.ts";

const multicall3: Address = `0x${"3c".repeat(20)}`;
const token: Address = `0x${"c1".repeat(20)}`;
const spender: Address = `0x${"5e".repeat(20)}`;
const account = (index: number): Address => `0x${index.toString(16).padStart(40, "0")}`;

interface RecordedCall {
  readonly calls: number;
  readonly block: unknown;
}

/**
 * A node that returns `node.value` for every number, or fails with `node.fault` (only at block
 * `node.faultAt`, if set).
 */
function createSetup(options: Partial<AccountReaderOptions> = {}) {
  const requests: RecordedCall[] = [];
  const node = { value: 5n, fault: undefined as Error | undefined, faultAt: undefined as string | undefined };
  const heads = { known: { number: 10n, hash: "0xa" } as { number: bigint; hash: string } | undefined };
  const transport: RpcTransport = {
    request: async (_method, params) => {
      const [call, block] = params as [{ data: Hex }, unknown];
      const decoded = decodeFunctionData({ abi: multicall3Abi, data: call.data });
      const list: unknown = decoded.args?.[0];
      const count = Array.isArray(list) ? list.length : 0;
      requests.push({ calls: count, block });
      if (node.fault !== undefined && (node.faultAt === undefined || node.faultAt === block))
        throw node.fault;
      const returnData: Hex = `0x${node.value.toString(16).padStart(64, "0")}`;
      const result = Array.from({ length: count }, () => ({ success: true, returnData }));
      return await Promise.resolve(
        encodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", result }),
      );
    },
    requestBatch: async () => await Promise.reject(new Error("unexpected batch request")),
    close: async () => await Promise.resolve(),
  };
  const knowledge = {
    knownHead: () => heads.known,
    freshHead: async () => await Promise.resolve({ number: 9n, hash: "0xf" }),
  };
  return {
    requests,
    node,
    heads,
    reader: createAccountReader(transport, knowledge, { multicall3, ...options }),
  };
}

test("combines all questions of a tick into one multicall at the known head", async () => {
  const { reader, requests } = createSetup();
  const states = await Promise.all([1, 2, 3].map((index) => reader.state(account(index), token, spender)));
  expect(states).toEqual(Array.from({ length: 3 }, () => ({ blockNumber: 10n, balance: 5n, allowance: 5n })));
  expect(requests).toEqual([{ calls: 6, block: "0xa" }]);
});

test("does not repeat a pending or answered question before the next head", async () => {
  const { reader, requests, node, heads } = createSetup();
  const readBalance = async (): Promise<bigint> => (await reader.state(account(1), token, spender)).balance;
  await Promise.all([readBalance(), readBalance()]);
  node.value = 6n;
  expect(await readBalance()).toBe(5n);
  expect(requests).toHaveLength(1);
  heads.known = { number: 10n, hash: "0xb" };
  expect(await readBalance()).toBe(6n);
});

test("does not cache a fault", async () => {
  const { reader, node } = createSetup();
  node.fault = new RpcFault({ kind: "network", method: "eth_call", reason: "gone" });
  await expect(reader.state(account(1), token, spender)).rejects.toBe(node.fault);
  node.fault = undefined;
  expect(await reader.state(account(1), token, spender)).toMatchObject({ balance: 5n });
});

test("limits the number of cached answers", async () => {
  const { reader, requests } = createSetup({ maxCached: 2 });
  for (const index of [1, 2, 3]) await reader.state(account(index), token, spender);
  await reader.state(account(3), token, spender);
  expect(requests).toHaveLength(3);
  await reader.state(account(1), token, spender);
  expect(requests).toHaveLength(4);
});

test("splits many questions over several multicalls", async () => {
  const { reader, requests } = createSetup({ maxPerCall: 2 });
  await Promise.all([1, 2, 3].map((index) => reader.state(account(index), token, spender)));
  expect(requests.map(({ calls }) => calls)).toEqual([4, 2]);
});

test("asks a node that does not have the known head yet at its own head", async () => {
  const { reader, requests, node } = createSetup();
  node.fault = new NodeRefusal({
    method: "eth_call",
    nodeCode: -32_000,
    nodeText: "header not found",
    nodeData: undefined,
  });
  node.faultAt = "0xa";
  expect(await reader.state(account(1), token, spender)).toMatchObject({ blockNumber: 9n });
  expect(requests.map(({ block }) => block)).toEqual(["0xa", "0x9"]);
});

test("caches nothing without a known head", async () => {
  const { reader, requests, heads } = createSetup();
  heads.known = undefined;
  await reader.state(account(1), token, spender);
  await reader.state(account(1), token, spender);
  expect(requests.map(({ block }) => block)).toEqual(["0x9", "0x9"]);
});
