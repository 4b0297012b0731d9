import type { Hex } from "@causeway/domain";
import { expect, test } from "vitest";
import type { TransactionFact } from "../family.ts";
import { NodeRefusal, RpcFault } from "../nodes/rpc-fault.ts";
import { isAttestable } from "./attestable.ts";
import { addressTopic, TRANSFER_TOPIC } from "./deposits.ts";

const hash: Hex = `0x${"11".repeat(32)}`;
const blockHash: Hex = `0x${"22".repeat(32)}`;
const depository = `0x${"33".repeat(20)}` as const;
const transaction: TransactionFact = {
  hash,
  from: depository,
  to: depository,
  value: 0n,
  input: "0x",
  nonce: 0,
  gasLimit: 16_700_000n,
};

/** Whether a transaction is attestable in one execution at a node that answers log queries so. */
async function attestable(answer: (filter: { address?: unknown }) => unknown): Promise<boolean> {
  const transport = {
    request: async (method: string, params: readonly unknown[]) => {
      if (method !== "eth_getLogs") throw new Error(`${method} is not asked for`);
      return answer(params[0] as { address?: unknown });
    },
  };
  return await isAttestable(transport, { depository, attestation: {} }, transaction, blockHash);
}

const transfer = (logIndex: number, txHash = hash) => ({
  address: `0x${"44".repeat(20)}`,
  topics: [TRANSFER_TOPIC, addressTopic(`0x${"55".repeat(20)}`), addressTopic(depository)],
  data: `0x${"1".padStart(64, "0")}`,
  logIndex: `0x${logIndex.toString(16)}`,
  blockNumber: "0x1",
  blockHash,
  transactionHash: txHash,
});
const transfers = (count: number, txHash = hash) =>
  Array.from({ length: count }, (_, at) => transfer(at, txHash));

test("counts the deposits of one transaction, of tokens that nobody listed too", async () => {
  const answered = (logs: readonly unknown[]) =>
    attestable(({ address }) => (address === undefined ? logs : []));
  expect(await answered(transfers(256))).toBe(true);
  expect(await answered(transfers(257))).toBe(false);
  expect(await answered(transfers(257, `0x${"66".repeat(32)}`)), "those of another transaction").toBe(true);
});

test("takes deposits for too many when the answer is too large, and judges by no other fault", async () => {
  const method = "eth_getLogs";
  const failing = (error: Error) =>
    attestable(() => {
      throw error;
    });
  expect(
    await failing(new RpcFault({ kind: "tooLarge", method, reason: "the answer exceeds its bound" })),
  ).toBe(false);
  const nodeText = "query returned more than 10000 results";
  expect(await failing(new NodeRefusal({ method, nodeCode: -32005, nodeText, nodeData: undefined }))).toBe(
    false,
  );
  await expect(
    failing(new RpcFault({ kind: "deadline", method, reason: "no answer" })),
  ).rejects.toMatchObject({
    kind: "deadline",
  });
});
