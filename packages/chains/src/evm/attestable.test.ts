import type { Hex } from "@causeway/domain";
import { expect, test } from "vitest";
import type { TransactionFact } from "../family.ts";
import { NodeRefusal, RpcFault } from "../nodes/rpc-fault.ts";
import { blockLogsAbout, isAttestable } from "./attestable.ts";
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

/** Whether a transaction is attestable in one execution at a node that answers log queries and the question for its receipt so. */
async function attestable(
  logs: (filter: { address?: unknown }) => unknown,
  receipt: () => unknown = () => null,
  gasLimit = transaction.gasLimit,
): Promise<boolean> {
  const transport = {
    request: async (method: string, params: readonly unknown[]) =>
      method === "eth_getLogs" ? logs(params[0] as { address?: unknown }) : receipt(),
  };
  const asked = { ...transaction, ...(gasLimit !== undefined && { gasLimit }) };
  return await isAttestable(transport, { depository, attestation: {} }, asked, blockHash);
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

const method = "eth_getLogs";
const failing = (error: Error) => (): never => {
  throw error;
};
const tooLarge = failing(new RpcFault({ kind: "tooLarge", method, reason: "the answer exceeds its bound" }));

test("reads the transaction's receipt when its block has too many logs about the depository", async () => {
  const receipt = (logs: readonly unknown[]) => () => ({
    transactionHash: hash,
    blockHash,
    blockNumber: "0x1",
    status: "0x1",
    gasUsed: "0x1",
    effectiveGasPrice: "0x1",
    logs,
  });
  const nodeText = "query returned more than 10000 results";
  const refused = failing(new NodeRefusal({ method, nodeCode: -32005, nodeText, nodeData: undefined }));
  expect(await attestable(refused, receipt(transfers(256)))).toBe(true);
  expect(await attestable(tooLarge, receipt(transfers(257)))).toBe(false);
  expect(await attestable(tooLarge, tooLarge)).toBe(false);
});

test("reads the receipt too when the block's logs do not come within the deadline, and judges by no other fault", async () => {
  const late = failing(new RpcFault({ kind: "deadline", method, reason: "no whole answer" }));
  expect(await attestable(late, late)).toBe(false);
  const away = failing(new RpcFault({ kind: "network", method, reason: "no answer" }));
  await expect(attestable(away)).rejects.toMatchObject({ kind: "network" });
  await expect(attestable(late, away)).rejects.toMatchObject({ kind: "network" });
  await expect(attestable(late, late, 200_000n), "an ordinary transaction").rejects.toMatchObject({
    kind: "deadline",
  });
});

test("asks for the logs of a block once, however many of its transactions are judged", async () => {
  let asked = 0;
  const transport = {
    request: async () => {
      asked++;
      return [];
    },
  };
  const logs = blockLogsAbout(transport, depository);
  for (let at = 0; at < 3; at++)
    expect(await isAttestable(transport, { depository, attestation: {} }, transaction, blockHash, logs)).toBe(
      true,
    );
  expect(asked).toBe(2);
});
