import { expect, test } from "vitest";
import { readReceipt } from "../../evm/answers.ts";
import { RpcFault } from "../../rpc-fault.ts";
import { solidTransaction, type Reported } from "./agreement.ts";
import { readBlock, readContent, readInfo } from "../answers.ts";
import recorded from "../fixtures/token-deposit.json" with { type: "json" };

const id = `0x${recorded.info.id}` as const;

function reported(): Reported {
  const info = readInfo(recorded.info, id);
  const content = readContent(recorded.transaction, id);
  const receipt = readReceipt(recorded.receipt, id);
  const block = readBlock(recorded.block, "getblock");
  if (info === undefined || content === undefined || receipt === undefined || block === undefined)
    throw new Error("the recording is incomplete");
  return { info, content, receipt, block };
}

test("merges views that agree into one transaction, with the block time that contracts see", () => {
  expect(solidTransaction(id, reported())).toMatchObject({
    block: {
      number: BigInt(recorded.info.blockNumber),
      timestamp: BigInt(recorded.info.blockTimeStamp / 1_000),
    },
    failure: undefined,
    transaction: { hash: id, from: recorded.user, to: recorded.depository, value: 0n },
    memo: "0x",
  });
});

test("returns a failure that all views report, with its reason", () => {
  const { info, content, receipt, block } = reported();
  const failed: Reported = {
    info: { ...info, failure: "REVERT", logs: [] },
    content: { ...content, failure: "OUT_OF_ENERGY" },
    receipt: { ...receipt, status: "reverted", logs: [] },
    block,
  };
  expect(solidTransaction(id, failed).failure).toBe("OUT_OF_ENERGY");
});

test("refuses views that contradict each other in anything", () => {
  const { info, content, receipt, block } = reported();
  const [first, second] = receipt.logs;
  if (first === undefined || second === undefined) throw new Error("two logs are recorded");
  const contradictions: Record<string, Partial<Reported>> = {
    "another height": { receipt: { ...receipt, blockNumber: receipt.blockNumber - 1n } },
    "another block": { block: { ...block, id: id } },
    "another time": { block: { ...block, timestampMs: block.timestampMs + 1n } },
    "failed, by its info": { info: { ...info, failure: "REVERT" } },
    "failed, by its contract result": { content: { ...content, failure: "REVERT" } },
    "failed, by its receipt": { receipt: { ...receipt, status: "reverted" } },
    "a log less": { receipt: { ...receipt, logs: [first] } },
    "a log more": { info: { ...info, logs: info.logs.slice(0, 1) } },
    "other data": { receipt: { ...receipt, logs: [{ ...first, data: `0x${"00".repeat(32)}` }, second] } },
    "other topics": { receipt: { ...receipt, logs: [{ ...first, topics: [] }, second] } },
    "another contract": { receipt: { ...receipt, logs: [{ ...first, address: second.address }, second] } },
    "logs in a different order": { receipt: { ...receipt, logs: [second, first] } },
    "two logs with the same index": {
      receipt: { ...receipt, logs: [first, { ...second, logIndex: first.logIndex }] },
    },
    "a log of another block": { receipt: { ...receipt, logs: [{ ...first, blockNumber: 1n }, second] } },
  };
  for (const [label, change] of Object.entries(contradictions))
    expect(() => solidTransaction(id, { info, content, receipt, block, ...change }), label).toThrow(RpcFault);
});
